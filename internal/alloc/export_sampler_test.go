package alloc

import "github.com/carve-ipam/carve/internal/alloc/pools"

// BoundSteps sets what one step of a Sampler reads at most.
func BoundSteps(s *pools.Sampler, most, free int) { s.Bound(most, free) }
