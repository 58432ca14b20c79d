package alloc

import "github.com/carve-ipam/carve/internal/alloc/pools"

// BoundSteps sets how many pools one step of a Sampler reads at most.
func BoundSteps(s *pools.Sampler, most int) { s.Bound(most) }
