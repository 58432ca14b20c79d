package logs

// collectSteps deletes log rows and page versions. The row of the newest snapshot stays: the tail of each loader begins with it, and the next
// row of an idle container needs it.
func (m *machine) collectSteps(s *state) {
	for c := range m.Logs {
		if !m.Snapshots {
			return
		}
		l := &s.logs[c]
		gone := l.root - 1
		switch m.twin { //nolint:exhaustive // the others collect as they should
		case CollectsUncovered:
			gone = l.head - 1
		case CollectsLast:
			gone = l.root
		}
		if gone > l.gone && !(m.Grace && s.inUse(c, gone)) {
			n := *s
			n.logs[c].gone = gone
			m.next("CollectRows", -1, -1, c, &n, "")
		}
		for p := range maxPages {
			n, some := *s, false
			for sv := range n.servers {
				if k := &n.servers[sv].caches[c]; k.warm && k.pages[p] == replaced {
					k.pages[p], some = collected, true
				}
			}
			if some {
				m.next("CollectPage", -1, -1, c, &n, "")
			}
		}
	}
}

// inUse reports whether a server's next row, or a commit without an answer, is among the rows up to a number.
func (s *state) inUse(c int, gone uint8) bool {
	for sv := range s.servers {
		if k := &s.servers[sv].caches[c]; k.warm && k.seq < gone {
			return true
		}
	}
	for f := range s.flights {
		if row := s.flights[f].rows[c]; row > 0 && row <= gone {
			return true
		}
	}
	return false
}

// sweepSteps deletes an ended hold with its end row and its name, in one transaction.
func (m *machine) sweepSteps(s *state) {
	if !m.Sweeps {
		return
	}
	for i := range m.Wants {
		for ask := uint8(1); ask <= s.clients[i].ask; ask++ {
			h := s.holdOf(i, ask)
			if m.twin == SweepsByName {
				m.sweepByName(s, i, ask)
				continue
			}
			if h.life != ended {
				continue
			}
			n := *s
			n.holdOf(i, ask).life = swept
			if m.twin == SweepsEndFirst {
				n.holdOf(i, ask).life = live
			}
			m.next("Sweep", -1, i, int(h.log), &n, "")
		}
	}
}

// sweepByName reads that a hold is ended, and later deletes the hold and the row of its name.
func (m *machine) sweepByName(s *state, i int, ask uint8) {
	h := s.holdOf(i, ask)
	n := *s
	at := n.holdOf(i, ask)
	if !h.listed {
		if h.life == ended {
			at.listed = true
			m.next("List", -1, i, int(h.log), &n, "")
		}
		return
	}
	at.listed, at.life = false, swept
	for j, name := range m.Names {
		for a := range n.clients[j].holds {
			if o := &n.clients[j].holds[a]; name == m.Names[i] && o.life == live {
				o.unnamed = true
			}
		}
	}
	m.next("SweepByName", -1, i, int(h.log), &n, "")
}
