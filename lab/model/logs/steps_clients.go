package logs

// clientSteps makes the steps of a client. It claims, repeats, releases, and may stop to wait for an answer while the server still works.
func (m *machine) clientSteps(s *state, i int) {
	c := &s.clients[i]
	for sv := range s.servers {
		if s.servers[sv].items[i].kind != none {
			continue
		}
		switch {
		case c.phase == holding:
			m.request(s, sv, i, "Return", releasing)
		case c.at == 0 && c.phase == releasing:
			m.request(s, sv, i, "RepeatReturn", releasing)
		case c.at == 0 && c.phase == claiming, c.phase == refused:
			m.request(s, sv, i, "Repeat", claiming)
		}
		if (c.phase == idle || c.phase == refused) && int(c.ask) < m.MaxAsks {
			n := *s
			n.clients[i].ask++
			n.clients[i].unsure = false
			m.request(&n, sv, i, "Ask", claiming)
		}
	}
	if c.at > 0 && int(s.lost) < m.MaxLost {
		n := *s
		n.lost++
		n.clients[i].at, n.clients[i].unsure = 0, true
		m.next("StopWaiting", -1, i, -1, &n, "")
	}
}

// request sends the client's request to a server.
func (m *machine) request(s *state, sv, i int, name string, p phase) {
	n := *s
	c := &n.clients[i]
	c.phase, c.at = p, uint8(sv)+1 //nolint:gosec // G115: a few servers
	it := item{kind: claim, ask: c.ask}
	if p == releasing {
		it.kind, it.stage = release, read
	} else {
		n.holdOf(i, c.ask).void = false
	}
	n.servers[sv].items[i] = it
	m.next(name, sv, i, -1, &n, "")
}

// finish answers a request that took effect. It does not reach a client that no longer waits.
func (m *machine) finish(s *state, sv, i int) {
	it := s.servers[sv].items[i]
	s.servers[sv].items[i] = item{}
	c := &s.clients[i]
	if !m.waits(s, sv, i, it) {
		return
	}
	c.at, c.unsure = 0, false
	if it.kind == claim {
		c.phase = holding
	} else {
		c.phase = idle
	}
}

// refuse answers a claim with a refusal. The answer is definite if no earlier attempt was without an answer.
func (m *machine) refuse(s *state, sv, i int) {
	it := s.servers[sv].items[i]
	s.servers[sv].items[i] = item{}
	if c := &s.clients[i]; m.waits(s, sv, i, it) {
		c.at, c.phase = 0, refused
		s.holdOf(i, c.ask).void = !c.unsure
	}
}

// waits reports whether a client waits for the answer to a request in a server.
func (m *machine) waits(s *state, sv, i int, it item) bool {
	c := &s.clients[i]
	return int(c.at) == sv+1 && c.ask == it.ask && (c.phase == claiming) == (it.kind == claim)
}

// crash ends a server. Its caches and requests vanish. Its commits without an answer may still take effect.
func (m *machine) crash(s *state, sv int) {
	if int(s.lost) == m.MaxLost || s.servers[sv] == (server{}) {
		return
	}
	n := *s
	n.lost++
	n.servers[sv] = server{}
	for i := range m.Wants {
		if c := &n.clients[i]; int(c.at) == sv+1 {
			c.at, c.unsure = 0, true
		}
	}
	for f := range n.flights {
		if int(n.flights[f].server) == sv+1 {
			n.flights[f].server = 0
		}
	}
	m.next("Crash", sv, -1, -1, &n, "")
}
