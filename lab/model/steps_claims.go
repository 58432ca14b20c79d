package model

// claimSteps makes the steps of a client that requests or has a claim.
func (m *machine) claimSteps(s *state, i int) {
	c, r := &s.client[i], m.Asks[i]
	switch c.phase { //nolint:exhaustive // the others are those of releases and of late answers
	case idle, refused:
		if int(c.ask) < m.MaxAsks {
			for _, size := range m.Wishes {
				n := *s
				n.client[i].ask++
				n.client[i].phase, n.client[i].size = look, uint8(size) //nolint:gosec // G115: at most 16
				m.next("Ask", i, r, n.client[i].size, &n)
			}
		}
	case look:
		if m.served(s, r) {
			n := *s
			if !m.replay(&n, i) {
				n.client[i].phase = carve
			}
			m.nextBroken("Look", i, -1, 0, 0, &n, m.fence(s, r))
		}
		m.lose(s, i)
	case carve:
		m.carveSteps(s, i)
		m.fencedSteps(s, i)
		m.lose(s, i)
	case borrow:
		m.lookSteps(s, i)
		m.lose(s, i)
	case doubt:
		if m.served(s, r) {
			n := *s
			broken := m.fence(s, r)
			if m.twin == NoSecondLook || !m.replay(&n, i) {
				broken = broken.or(m.refuse(&n, i))
			}
			m.nextBroken("Doubt", i, -1, 0, 0, &n, broken)
		}
		m.lose(s, i)
	case unsure:
		n := *s
		n.client[i].phase = look
		m.next("Repeat", i, -1, 0, &n)
		if c.row.ask == c.ask && m.served(s, r) { // or the client searches for the claim by its name
			n := *s
			n.client[i] = n.client[i].holding(c.row.at)
			m.nextBroken("LookUp", i, -1, 0, 0, &n, m.fence(s, r))
		}
		if m.twin == UnknownIsFailure {
			n := *s
			n.client[i].phase = carve
			m.next("RunAgainAsAnother", i, -1, 0, &n)
		}
	}
}

// answered returns a client that has received its response.
func (c client) answered(p phase) client {
	c.phase, c.size, c.what, c.told, c.sought, c.full = p, 0, 0, 0, 0, false
	return c
}

// holding returns a client that has received the block of its claim.
func (c client) holding(at node) client {
	c = c.answered(held)
	c.told = at
	return c
}

// replay returns the stored response to a request whose key is known. In the model, the stored response is the row that was written with the key.
func (m *machine) replay(s *state, i int) bool {
	c := &s.client[i]
	if c.keys&(1<<c.ask) == 0 {
		return false
	}
	if c.row.ask != c.ask {
		panic("model: a stored answer of a claim that waits has no row")
	}
	*c = c.holding(c.row.at)
	return true
}

// carveSteps runs the transaction that binds a claim. It makes one step for each block that the transaction may choose.
func (m *machine) carveSteps(s *state, i int) {
	c, r := &s.client[i], m.Asks[i]
	if !m.served(s, r) {
		return
	}
	fence := m.fence(s, r)
	plans := m.sum.take(s.free[r], int(c.size))
	if len(plans) == 0 {
		n := *s
		n.client[i].phase, n.client[i].sought = borrow, 0
		m.nextBroken("Carve", i, r, 0, c.size, &n, fence)
		return
	}
	if m.mayWrite(c, c.ask) {
		for _, p := range plans {
			n := *s
			broken := m.bind(&n, i, c.ask, p)
			n.client[i] = n.client[i].holding(p.block)
			m.remember(&n, i)
			m.nextBroken("Carve", i, r, p.block, 0, &n, fence.or(broken))
		}
		return
	}
	n := *s // the insert violates a unique key: another claim has the name, or the request's key is already stored
	if c.keys&(1<<c.ask) != 0 {
		n.client[i].phase = look
	} else {
		fence = fence.or(m.refuse(&n, i))
	}
	m.nextBroken("Carve", i, r, 0, 0, &n, fence)
}

// refuse returns a refusal to a client.
func (m *machine) refuse(s *state, i int) (broken Promise) {
	c := &s.client[i]
	if c.row.ask == c.ask || c.keys&(1<<c.ask) != 0 {
		broken = RefusedLeft
	}
	*c = c.answered(refused)
	return broken
}

// mayWrite reports whether both the key and the name are unused.
func (m *machine) mayWrite(c *client, ask uint8) bool {
	return m.twin == NoUniqueKey || m.twin == UnknownIsFailure || c.keys&(1<<ask) == 0 && c.row.ask == 0
}

// bind writes a claim with its key.
func (m *machine) bind(s *state, i int, ask uint8, p plan) (broken Promise) {
	c := &s.client[i]
	if c.done&(1<<ask) != 0 {
		broken = OneEffect
	}
	s.free[m.Asks[i]] = p.free
	m.moveMark(s, m.Asks[i])
	c.row, c.keys, c.done = row{ask, p.block}, c.keys|1<<ask, c.done|1<<ask
	return broken
}

// lose ends a request without a response. There are three cases: the server crashed and did nothing, it may still do the work later, or it has just
// done it.
func (m *machine) lose(s *state, i int) {
	if int(s.lost) == m.MaxLost {
		return
	}
	n := *s
	n.lost++
	n.client[i].phase, n.client[i].sought = unsure, 0
	m.next("Crash", i, -1, 0, &n)
	if s.client[i].late.ask == 0 {
		n.client[i].late = late{ask: s.client[i].ask, size: s.client[i].size}
		m.next("Lose", i, -1, 0, &n)
	}
}
