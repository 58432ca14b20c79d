package logs

// Promise is a promise of the protocol.
type Promise string

// The promises.
const (
	OneHold      Promise = "OneHold"      // a request gets one hold at most, however often the client repeats it
	RefusedLeft  Promise = "RefusedLeft"  // a refused request has no hold, and gets none later unless the client repeats it
	FullTrue     Promise = "FullTrue"     // if a claim is refused as "full", its containers were full at some moment of the request
	Acknowledged Promise = "Acknowledged" // an acknowledged claim is held until the client releases it
	Released     Promise = "Released"     // a hold whose release is acknowledged is not live
	TwoHolders   Promise = "TwoHolders"   // no address belongs to two live holds
	Tiling       Promise = "Tiling"       // the live holds of a container are exactly the addresses that the fold of its history holds
	UniqueNames  Promise = "UniqueNames"  // no two live holds of the project have one name
	FoldTrue     Promise = "FoldTrue"     // a cached fold at a number is the fold of the history at this number
	SnapshotTrue Promise = "SnapshotTrue" // the newest snapshot is the fold of the history at its number
	Loadable     Promise = "Loadable"     // the pages of the newest snapshot, its row and all later rows exist, so a cold server can load and append
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
	var held [maxLogs]mask
	var names uint32
	for i := range m.Wants {
		c := &s.clients[i]
		if c.ask > 0 {
			h := s.holdOf(i, c.ask)
			switch {
			case c.phase == holding && h.life != live:
				return Acknowledged
			case c.phase == idle && h.life == live:
				return Released
			}
		}
		for _, h := range c.holds {
			if h.life != live {
				continue
			}
			if held[h.log].has(h.addr) {
				return TwoHolders
			}
			held[h.log] = held[h.log].with(h.addr)
			if name := uint32(1) << m.Names[i]; m.Names[i] > 0 {
				if names&name != 0 {
					return UniqueNames
				}
				names |= name
			}
		}
	}
	for c := range m.Logs {
		l := &s.logs[c]
		if held[c] != l.fold[l.head] { //nolint:gosec // G602: at most maxLogs containers
			return Tiling
		}
		if m.Snapshots && !l.visible(l.root) {
			return Loadable
		}
		for sv := range s.servers {
			if k := &s.servers[sv].caches[c]; k.warm && k.held&k.known != l.fold[k.seq]&k.known {
				return FoldTrue
			}
		}
	}
	return ""
}

func (a mask) has(addr uint8) bool { return a&(1<<addr) != 0 }

func (a mask) with(addr uint8) mask { return a | 1<<addr }

func (a mask) without(addr uint8) mask { return a &^ (1 << addr) }
