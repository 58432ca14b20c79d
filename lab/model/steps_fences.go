package model

// moveMark gives a region a new version. Each transaction that changes a region's rows does this.
func (m *machine) moveMark(s *state, r int) {
	for i := range m.Asks {
		if m.Asks[i] == r {
			s.memory[i].current = false
		}
	}
	if int(s.backup.region) == r {
		s.backup.marked = false
	}
}

// remember fills a server's cache after its transaction, with the free rows and their version.
func (m *machine) remember(s *state, i int) {
	if r := m.Asks[i]; m.Remembers {
		s.memory[i] = memory{known: true, current: true, backedUp: s.backup.marked && int(s.backup.region) == r, free: s.free[r]}
	}
}

// fencedSteps runs the transaction that binds a claim on cached rows. The transaction compares the epochs, and replaces the version only if it equals
// the cached one. If either comparison fails, nothing changes, and the server continues with carveSteps. One transaction may contain two claims in
// two regions. These stand for two pools.
func (m *machine) fencedSteps(s *state, i int) {
	mem, size := &s.memory[i], s.client[i].size
	if !mem.known {
		return
	}
	plans := m.sum.take(mem.free, int(size))
	if len(plans) == 0 && m.twin == RefusedByMemory {
		n, broken := *s, Promise("")
		if m.anyRoom(s, int(size)) {
			broken = ExhaustedTrue
		}
		n.client[i].phase = doubt
		m.nextBroken("RefuseRemembered", i, -1, 0, size, &n, broken)
	}
	if !m.hits(s, i) {
		n := *s
		n.memory[i] = memory{}
		m.next("Miss", i, m.Asks[i], 0, &n)
		return
	}
	for _, p := range plans {
		n := *s
		broken, ok := m.bindRemembered(&n, i, p)
		if !ok {
			continue
		}
		m.nextBroken("CarveRemembered", i, m.Asks[i], p.block, 0, &n, broken)
		for j := i + 1; j < len(m.Asks); j++ {
			m.together(&n, i, j, broken)
		}
	}
}

// hits reports whether a transaction on cached rows can commit. It compares versions and epochs.
func (m *machine) hits(s *state, i int) bool {
	return (s.memory[i].current || m.twin == NoFence) && (m.twin == FenceWithoutEpoch || m.served(s, m.Asks[i]))
}

// bindRemembered binds a claim by a plan from cached rows. The free rows that the plan removes must exist.
func (m *machine) bindRemembered(s *state, i int, p plan) (broken Promise, ok bool) {
	r, was := m.Asks[i], s.memory[i].free
	remove, insert := was&^p.free, p.free&^was
	if remove&^s.free[r] != 0 || !m.mayWrite(&s.client[i], s.client[i].ask) {
		return "", false
	}
	broken = m.fence(s, r).or(m.bind(s, i, s.client[i].ask, plan{p.block, s.free[r]&^remove | insert}))
	s.client[i] = s.client[i].holding(p.block)
	m.remember(s, i)
	return broken, true
}

// together adds a second claim, in another region, to a transaction on cached rows.
func (m *machine) together(s *state, i, j int, broken Promise) {
	if m.Asks[i] == m.Asks[j] || s.client[j].phase != carve || !s.memory[j].known {
		return
	}
	for _, p := range m.sum.take(s.memory[j].free, int(s.client[j].size)) {
		n := *s
		if !m.hits(s, j) {
			if m.twin != TogetherByHalves {
				return
			}
			n.client[j] = n.client[j].holding(p.block)
			m.nextBroken("CarveTogether", j, m.Asks[j], p.block, 0, &n, broken)
			continue
		}
		if also, ok := m.bindRemembered(&n, j, p); ok {
			m.nextBroken("CarveTogether", j, m.Asks[j], p.block, 0, &n, broken.or(also))
		}
	}
}

// fencedRelease runs the transaction that deletes a claim on cached rows.
func (m *machine) fencedRelease(s *state, i int) {
	c, mem, r := &s.client[i], &s.memory[i], m.Asks[i]
	if !mem.known || c.row.ask != c.what || !m.hits(s, i) {
		return
	}
	if m.sum.covered(mem.free)&m.sum.addrs[c.row.at] != 0 {
		return // the arithmetic refuses to release a free block
	}
	merged := m.sum.merge(mem.free, c.row.at)
	remove, insert := mem.free&^merged, merged&^mem.free
	if remove&^s.free[r] != 0 {
		return
	}
	n := *s
	m.unbind(&n, i, c.what)
	n.free[r] = s.free[r]&^remove | insert
	n.client[i] = n.client[i].answered(idle)
	m.remember(&n, i)
	m.nextBroken("ReleaseRemembered", i, -1, 0, 0, &n, m.fence(s, r))
}
