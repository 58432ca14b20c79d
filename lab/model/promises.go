package model

// Promise is a promise in docs/evidence.md.
type Promise string

// The promises, in the order of their checks.
const (
	Fenced        Promise = "Fenced"        // a region with different epochs in its rows and its record serves nothing
	OneEffect     Promise = "OneEffect"     // a request takes effect once, however often it is repeated
	ExhaustedTrue Promise = "ExhaustedTrue" // no region had room when a claim was refused as exhausted
	RefusedLeft   Promise = "RefusedLeft"   // a refused request changes nothing
	Acknowledged  Promise = "Acknowledged"  // an acknowledged claim exists until it is released
	TwoHolders    Promise = "TwoHolders"    // no address has two holders
	Tiling        Promise = "Tiling"        // exactly one leaf over all regions covers every address
	RegionTiles   Promise = "RegionTiles"   // the rows of a region tile its loans, and the home's rows the rest
	Maximal       Promise = "Maximal"       // no two free blocks of a region are buddies
	UsableAgain   Promise = "UsableAgain"   // after the release of all claims, the pool is one free block at home
)

// or returns the first broken promise.
func (p Promise) or(q Promise) Promise {
	if p != "" {
		return p
	}
	return q
}

// broken returns the first promise that a state breaks, or "". Promises about a step are checked with the step.
func (m *machine) broken(s *state) Promise {
	switch {
	case !m.acknowledged(s):
		return Acknowledged
	case m.twoHolders(s):
		return TwoHolders
	case !m.tiling(s):
		return Tiling
	case !m.regionTiles(s):
		return RegionTiles
	case !m.maximal(s):
		return Maximal
	default:
		return ""
	}
}

func (m *machine) acknowledged(s *state) bool {
	for i := range m.Asks {
		if c := &s.client[i]; c.phase == held && c.row != (row{c.ask, c.told}) {
			return false
		}
	}
	return true
}

// twoHolders checks the responses that clients got, whatever the rows contain, and the rows of the served regions.
func (m *machine) twoHolders(s *state) bool {
	var told, rows uint16
	for i := range m.Asks {
		c := &s.client[i]
		if at := m.sum.addrs[c.told]; c.phase == held {
			if told&at != 0 {
				return true
			}
			told |= at
		}
		if at := m.sum.addrs[c.row.at]; c.row.ask != 0 && !s.isStale(m.Asks[i]) {
			if rows&at != 0 {
				return true
			}
			rows |= at
		}
	}
	return false
}

// leaves adds a region's leaves to a set of addresses, and reports whether none was in the set before.
func (m *machine) leaves(s *state, r int, to *uint16) bool {
	for n := range s.free[r].each {
		if *to&m.sum.addrs[n] != 0 {
			return false
		}
		*to |= m.sum.addrs[n]
	}
	for i := range m.Asks {
		if m.Asks[i] != r || s.client[i].row.ask == 0 {
			continue
		}
		at := m.sum.addrs[s.client[i].row.at]
		if *to&at != 0 {
			return false
		}
		*to |= at
	}
	return true
}

// tiling counts a fenced region as one leaf, which covers all addresses that the record assigns to it.
func (m *machine) tiling(s *state) bool {
	var covered uint16
	for r := range m.Regions {
		if !s.isStale(r) {
			if !m.leaves(s, r, &covered) {
				return false
			}
			continue
		}
		truth := m.truth(s, r)
		if covered&truth != 0 {
			return false
		}
		covered |= truth
	}
	return covered == m.sum.addrs[1]
}

func (m *machine) regionTiles(s *state) bool {
	var lent uint16
	for r := range m.Regions {
		for n := range s.loans[r].each { // the loans are disjoint
			if lent&m.sum.addrs[n] != 0 {
				return false
			}
			lent |= m.sum.addrs[n]
		}
		var covered uint16
		if !s.isStale(r) && (!m.leaves(s, r, &covered) || covered != m.truth(s, r)) {
			return false
		}
	}
	return true
}

func (m *machine) maximal(s *state) bool {
	for r := range m.Regions {
		for n := range s.free[r].each {
			if n > 1 && s.free[r].has(n^1) {
				return false
			}
		}
	}
	return true
}
