package model

// Promise is a promise in docs/evidence.md.
type Promise string

// The promises, in the order of their checks.
const (
	Fenced        Promise = "Fenced"        // a region serves nothing while the epochs in its rows and in its record differ
	OneEffect     Promise = "OneEffect"     // a request takes effect once at most, however often the client repeats it
	ExhaustedTrue Promise = "ExhaustedTrue" // if a claim is refused as exhausted, no region had room at some moment of the request
	RefusedLeft   Promise = "RefusedLeft"   // a refused request changes nothing
	Acknowledged  Promise = "Acknowledged"  // an acknowledged claim exists until it is released
	TwoHolders    Promise = "TwoHolders"    // no address belongs to two claims
	Tiling        Promise = "Tiling"        // exactly one leaf (a free or held block) over all regions covers each address
	RegionTiles   Promise = "RegionTiles"   // the rows of a region cover exactly its loans; the rows of the home region cover exactly the rest
	Maximal       Promise = "Maximal"       // no two free blocks of a region could be merged
	UsableAgain   Promise = "UsableAgain"   // after the release of all claims, the pool can become one free block in its home region
)

// or returns p, or q if p is empty.
func (p Promise) or(q Promise) Promise {
	if p != "" {
		return p
	}
	return q
}

// broken returns the first promise that a state breaks, or "". Promises about a step are checked by that step.
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

// twoHolders checks two sources separately: the responses that clients got, and the rows of the served regions.
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

// leaves adds the addresses of a region's leaves to a set. It returns false if the set already contains one of them.
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

// tiling checks that one leaf covers each address. A stale region counts as one leaf, with all addresses that the record assigns to the region.
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
