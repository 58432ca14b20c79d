package model

// releaseSteps makes the steps of a client that releases its claim. It releases the claim that it holds, or a claim that it finds by its name.
func (m *machine) releaseSteps(s *state, i int) {
	c, r := &s.client[i], m.Asks[i]
	switch c.phase { //nolint:exhaustive // the others are those of claims
	case held:
		n := *s
		n.client[i] = n.client[i].answered(release)
		n.client[i].what = c.ask
		m.next("Return", i, -1, 0, &n)
	case idle, refused:
		if c.row.ask != 0 && m.served(s, r) {
			n := *s
			n.client[i] = n.client[i].answered(release)
			n.client[i].what = c.row.ask
			m.nextBroken("Return", i, -1, 0, 0, &n, m.fence(s, r))
		}
	case release:
		if m.served(s, r) {
			n := *s
			m.unbind(&n, i, c.what)
			n.client[i] = n.client[i].answered(idle)
			m.remember(&n, i)
			m.nextBroken("Release", i, -1, 0, 0, &n, m.fence(s, r))
		}
		m.fencedRelease(s, i)
		if int(s.lost) < m.MaxLost {
			n := *s
			n.lost++
			n.client[i].phase = adrift
			m.next("CrashRelease", i, -1, 0, &n)
			if c.late.ask == 0 {
				n.client[i].late = late{release: true, ask: c.what}
				m.next("LoseRelease", i, -1, 0, &n)
			}
		}
	case adrift:
		n := *s
		n.client[i].phase = release
		m.next("RepeatRelease", i, -1, 0, &n)
	}
}

// unbind deletes a claim and merges its block with the free blocks. It does nothing if the row belongs to another claim.
func (m *machine) unbind(s *state, i int, what uint8) {
	c, r := &s.client[i], m.Asks[i]
	if c.row.ask == 0 || c.row.ask != what && m.twin != ReleaseByName {
		return
	}
	if m.twin == MergeForgetsBuddy {
		s.free[r] = s.free[r].with(c.row.at)
	} else {
		s.free[r] = m.sum.merge(s.free[r], c.row.at)
	}
	c.row = row{}
	m.moveMark(s, r)
}

// lateSteps makes the steps of an abandoned request.
func (m *machine) lateSteps(s *state, i int) {
	c, r := &s.client[i], m.Asks[i]
	if c.late.ask == 0 {
		return
	}
	n := *s
	n.client[i].late = late{}
	m.next("Vanish", i, -1, 0, &n)
	if !m.served(s, r) {
		return
	}
	fence := m.fence(s, r)
	if c.late.release {
		m.unbind(&n, i, c.late.ask)
		m.nextBroken("LandRelease", i, -1, 0, 0, &n, fence)
		return
	}
	if !m.mayWrite(c, c.late.ask) {
		return
	}
	for _, p := range m.sum.take(s.free[r], int(c.late.size)) {
		n := *s
		n.client[i].late = late{}
		broken := m.bind(&n, i, c.late.ask, p)
		m.nextBroken("Land", i, r, p.block, 0, &n, fence.or(broken))
	}
}
