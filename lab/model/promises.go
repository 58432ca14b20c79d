package model

// Promise is one of docs/evidence.md.
type Promise string

// The promises, in the order in which they are checked.
const (
	Fenced        Promise = "Fenced"        // nothing is served of a region whose epochs differ
	OneEffect     Promise = "OneEffect"     // a request took effect once, however often it was repeated
	ExhaustedTrue Promise = "ExhaustedTrue" // no region had room when exhausted was said
	RefusedLeft   Promise = "RefusedLeft"   // a refusal left nothing
	Acknowledged  Promise = "Acknowledged"  // a claim that was acknowledged exists until it is released
	TwoHolders    Promise = "TwoHolders"    // no address was given to two holders
	Tiling        Promise = "Tiling"        // every address is covered by exactly one leaf over all regions
	RegionTiles   Promise = "RegionTiles"   // the rows of a region tile what it was lent, those at home the rest
	Maximal       Promise = "Maximal"       // no two free blocks of a region are buddies
	UsableAgain   Promise = "UsableAgain"   // once all is released the pool is one free block at home
)

// or is the first promise that is broken.
func (p Promise) or(q Promise) Promise {
	if p != "" {
		return p
	}
	return q
}

// broken is the first promise that does not hold in a state; "" if all do. Those about a step are checked with the step.
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

// twoHolders speaks of what clients were told, whatever the rows say, and of the rows of the regions that are served.
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

// leaves adds the leaves of a region to a set of addresses, and says whether none was there before.
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

// tiling takes a region that is fenced for one leaf: all that the record says is its.
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
