package alloc

// BoundSteps sets what one step of a Sampler reads at most.
func BoundSteps(s *Sampler, pools, free int) { s.pools, s.free = pools, free }
