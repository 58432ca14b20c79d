package logs

// flightSteps makes the steps of commits without an answer.
func (m *machine) flightSteps(s *state) {
	for at := range s.flights {
		f := &s.flights[at]
		if !f.used {
			continue
		}
		if f.airborne {
			n := *s
			n.flights[at].airborne = false
			m.nextGroup("Vanish", -1, -1, -1, f, &n, "")
			m.late(s, at)
		}
		if f.server > 0 {
			for c := range m.Logs {
				if f.rows[c] > 0 {
					m.resolve(s, at, c)
				}
			}
		}
	}
}

// late lets a commit take effect after its answer was lost.
func (m *machine) late(s *state, at int) {
	n := *s
	f := &n.flights[at]
	if m.twin == FencesHalf {
		var part where
		for c := range m.Logs {
			if f.rows[c] > 0 && m.fits(s, c, f.rows[c]) {
				part |= 1 << c
			}
		}
		for i := range f.ops {
			if f.ops[i].kind != none && part.has(int(f.ops[i].log)) && m.meets(s, f, i) {
				return
			}
		}
		if part != 0 {
			broken := m.apply(&n, f, part)
			m.nextGroup("LandLate", -1, -1, -1, &s.flights[at], &n, broken)
		}
		return
	}
	if landed, _, broken := m.land(&n, f); landed {
		m.nextGroup("LandLate", -1, -1, -1, &s.flights[at], &n, broken)
	}
}

// resolve finds the outcome of a commit by the log row of one container. One container is enough for a group of two, because all rows of the
// group are one transaction. If the row is absent, the server inserts a row without changes there, or the whole group again. Either excludes
// the lost commit.
func (m *machine) resolve(s *state, at, c int) {
	f, l := &s.flights[at], &s.logs[c]
	sv, row := int(f.server)-1, f.rows[c]
	n := *s
	switch {
	case l.visible(row) && f.landed.has(c):
		m.settle(&n, at, true)
		m.next("FindOwnRow", sv, -1, c, &n, "")
	case l.visible(row):
		m.settle(&n, at, false)
		m.next("FindOtherRow", sv, -1, c, &n, "")
	case row <= l.gone: // the commit took effect before the collection, or never: the requests look for their own rows
		m.settle(&n, at, false)
		m.next("FindNoLog", sv, -1, c, &n, "")
	case m.twin == BelievesAbsent:
		m.settle(&n, at, false)
		m.next("BelieveAbsent", sv, -1, c, &n, "")
	default:
		m.exclude(s, at, c)
	}
}

// exclude inserts a row without changes at the number of a lost commit, or the same group again. The answer of this second commit may be lost
// too; then the server reads the row again.
func (m *machine) exclude(s *state, at, c int) {
	f, sv := &s.flights[at], int(s.flights[at].server)-1
	fenced := *s
	fenced.logs[c].append(s.logs[c].fold[s.logs[c].head])
	again := *s
	landed, _, broken := m.land(&again, &again.flights[at])
	again.flights[at].airborne = f.airborne
	if int(s.lost) < m.MaxLost {
		n := fenced
		n.lost++
		m.next("LoseFence", sv, -1, c, &n, "")
		if landed {
			n = again
			n.lost++
			m.nextGroup("LoseSecondAnswer", sv, -1, c, f, &n, broken)
		}
	}
	m.settle(&fenced, at, false)
	m.next("Fence", sv, -1, c, &fenced, "")
	if landed {
		m.settle(&again, at, true)
		m.nextGroup("SendAgain", sv, -1, c, f, &again, broken)
	}
}

// settle ends the server's doubt about a commit. If the commit took effect, its requests are answered. Otherwise they begin again.
func (m *machine) settle(s *state, at int, done bool) {
	f := &s.flights[at]
	sv := int(f.server) - 1
	for i := range f.ops {
		it := &s.servers[sv].items[i]
		switch {
		case f.ops[i].kind == none:
		case done:
			m.finish(s, sv, i)
		case it.kind == release:
			it.stage = read
		default:
			it.stage, it.replaces = check, 0
		}
	}
	f.server = 0
}
