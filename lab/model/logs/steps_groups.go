package logs

// groupSteps makes each group that a server may send: any of its ready requests, with any choice of free addresses in its cached folds.
func (m *machine) groupSteps(s *state, sv int) {
	var plan [maxLogs]mask
	for c := range m.Logs {
		plan[c] = s.servers[sv].caches[c].held
	}
	m.planReleases(s, sv, 0, flight{used: true, server: uint8(sv) + 1}, plan) //nolint:gosec // G115: a few servers
}

// planReleases adds the releases of clients from i on to a group. Releases come first, so claims of the same group may take their addresses.
func (m *machine) planReleases(s *state, sv, i int, f flight, plan [maxLogs]mask) {
	if i == len(m.Wants) {
		m.planClaims(s, sv, 0, f, plan)
		return
	}
	m.planReleases(s, sv, i+1, f, plan)
	it := &s.servers[sv].items[i]
	if it.kind != release || it.stage != ready {
		return
	}
	h := s.holdOf(i, it.ask)
	k := &s.servers[sv].caches[h.log]
	if !k.warm || !k.known.has(h.addr) || !plan[h.log].has(h.addr) {
		return
	}
	plan[h.log] = plan[h.log].without(h.addr)
	f.ops[i] = op{kind: release, ask: it.ask, log: h.log, addr: h.addr}
	f.rows[h.log] = k.seq + 1
	m.planReleases(s, sv, i+1, f, plan)
}

// planClaims adds the claims of clients from i on to a group, and sends the group.
func (m *machine) planClaims(s *state, sv, i int, f flight, plan [maxLogs]mask) {
	if i == len(m.Wants) {
		if f.rows != [maxLogs]uint8{} {
			m.send(s, sv, f, plan)
		}
		return
	}
	m.planClaims(s, sv, i+1, f, plan)
	it := &s.servers[sv].items[i]
	if it.kind != claim || it.stage != ready {
		return
	}
	for c := range m.Logs {
		k := &s.servers[sv].caches[c]
		if !m.Wants[i].has(c) || !k.warm {
			continue
		}
		for addr := range uint8(m.Size) { //nolint:gosec // G115: a few addresses
			if !k.known.has(addr) || plan[c].has(addr) {
				continue
			}
			with, taken := f, plan
			with.ops[i] = op{kind: claim, ask: it.ask, log: uint8(c), addr: addr, replaces: it.replaces}
			with.rows[c] = k.seq + 1
			taken[c] = taken[c].with(addr) //nolint:gosec // G602: at most maxLogs containers
			m.planClaims(s, sv, i+1, with, taken)
		}
	}
}

// send runs a group's transaction. The server gets its answer, or the answer is lost and the commit takes effect at once, later or never.
func (m *machine) send(s *state, sv int, f flight, plan [maxLogs]mask) {
	n, done := *s, f
	landed, met, broken := m.land(&n, &done)
	if landed {
		for c := range m.Logs {
			if k := &n.servers[sv].caches[c]; f.rows[c] > 0 {
				k.held, k.seq = plan[c], f.rows[c] //nolint:gosec // G602: at most maxLogs containers
			}
		}
		for i := range f.ops {
			if f.ops[i].kind != none {
				m.finish(&n, sv, i)
			}
		}
		m.nextGroup("Commit", sv, -1, -1, &f, &n, broken)
	} else if met != [maxClients]bool{} {
		n := *s
		m.conflict(&n, sv, met)
		m.nextGroup("Conflict", sv, -1, -1, &f, &n, "")
	}
	slot := s.freeFlight()
	if slot < 0 || int(s.lost) == m.MaxLost {
		return
	}
	lost := *s
	lost.lost++
	for i := range f.ops {
		if f.ops[i].kind != none {
			lost.servers[sv].items[i].stage = flying
		}
	}
	late := lost
	late.flights[slot] = f
	late.flights[slot].airborne = true
	m.nextGroup("LoseInFlight", sv, -1, -1, &f, &late, "")
	if landed {
		done = f
		_, _, broken = m.land(&lost, &done)
		lost.flights[slot] = done
		m.nextGroup("LoseAnswer", sv, -1, -1, &f, &lost, broken)
	}
}

func (s *state) freeFlight() int {
	for f := range s.flights {
		if !s.flights[f].used {
			return f
		}
	}
	return -1
}

// conflict makes the server look at the requests whose keys, names or ends exist already.
func (m *machine) conflict(s *state, sv int, met [maxClients]bool) {
	for i := range met {
		if it := &s.servers[sv].items[i]; met[i] {
			it.replaces = 0
			if it.stage = check; it.kind == release {
				it.stage = read
			}
		}
	}
}

// land inserts all rows of a group, or none. met contains the requests whose key, name or end row exists already. A log row whose number is
// taken also prevents the group, and then the server folds the tail.
func (m *machine) land(s *state, f *flight) (landed bool, met [maxClients]bool, broken Promise) {
	landed = true
	for c := range m.Logs {
		landed = landed && (f.rows[c] == 0 || m.fits(s, c, f.rows[c]))
	}
	for i := range f.ops {
		met[i] = m.meets(s, f, i)
		landed = landed && !met[i]
	}
	if !landed {
		return false, met, ""
	}
	return true, met, m.apply(s, f, First|Second)
}

// fits reports whether a log row may be inserted: its key is absent, and the row before it exists.
func (m *machine) fits(s *state, c int, row uint8) bool {
	l := &s.logs[c]
	switch m.twin {
	case NoCompareAndSet:
		return true
	case AbsentKeyOnly:
		return !l.visible(row)
	default:
		return !l.visible(row) && l.visible(row-1)
	}
}

// meets reports whether another row with the key, the name or the end of a request exists already.
func (m *machine) meets(s *state, f *flight, i int) bool {
	o := &f.ops[i]
	switch o.kind {
	case claim:
		if s.holdOf(i, o.ask).life != never && m.twin != NoKeyRow {
			return true
		}
		for j := range f.ops {
			if j != i && f.ops[j].kind == claim && m.Names[i] > 0 && m.Names[i] == m.Names[j] {
				return true
			}
		}
		holder := m.holder(s, i)
		return holder != 0 && holder != o.replaces
	case release:
		return s.holdOf(i, o.ask).life == ended
	default:
		return false
	}
}

// apply inserts the rows of a group in the given containers.
func (m *machine) apply(s *state, f *flight, where where) (broken Promise) {
	for c := range m.Logs {
		l := &s.logs[c]
		if !where.has(c) || f.rows[c] == 0 {
			continue
		}
		fold := l.fold[l.head]
		for i := range f.ops {
			if o := &f.ops[i]; o.kind == release && int(o.log) == c {
				fold = fold.without(o.addr)
				if h := s.holdOf(i, o.ask); h.life == live {
					h.life = ended
				}
			}
		}
		for i := range f.ops {
			if o := &f.ops[i]; o.kind == claim && int(o.log) == c {
				fold = fold.with(o.addr)
				broken = broken.or(m.hold(s, i, o))
			}
		}
		if f.rows[c] > l.gone { // a row with a deleted number exists, but no server reads it
			l.append(fold)
		}
		f.landed |= 1 << c
	}
	f.airborne = false
	return broken
}

// hold inserts the rows of a claim. On the slow path, it first deletes the hold that had the name.
func (m *machine) hold(s *state, i int, o *op) (broken Promise) {
	if o.replaces > 0 {
		s.hold(o.replaces).life = swept
	}
	h := s.holdOf(i, o.ask)
	switch {
	case h.life == live:
		broken = OneHold
	case h.life != never:
		broken = OneHold
	case h.void:
		broken = RefusedLeft
	}
	h.life, h.log, h.addr = live, o.log, o.addr
	return broken
}
