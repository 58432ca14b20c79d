package alloc

import "github.com/carve-ipam/carve/internal/alloc/pools"

// BoundSteps limits the number of pools that one step of a Sampler reads.
func BoundSteps(s *pools.Sampler, limit int) { s.SetPageSize(limit) }
