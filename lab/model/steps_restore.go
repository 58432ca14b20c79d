package model

// restoreSteps backs up one region's rows and restores them later. After the restore, it reconciles the region with its loan records.
func (m *machine) restoreSteps(s *state) {
	switch s.backup.stage {
	case none:
		for _, r := range m.Restored {
			n := *s
			n.backup = backup{stage: taken, region: uint8(r), free: s.free[r]} //nolint:gosec // G115: below 3
			n.backup.marked = m.Remembers
			for i := range m.Asks {
				if m.Asks[i] == r {
					n.memory[i].backedUp = n.memory[i].current
					n.backup.rows[i], n.backup.keys[i] = s.client[i].row, s.client[i].keys
				}
			}
			m.next("Backup", -1, r, 0, &n)
		}
	case taken:
		n := *s
		m.restore(&n)
		m.next("Restore", -1, int(s.backup.region), 0, &n)
	case restored:
	}
	for r := range m.Regions {
		if s.isStale(r) {
			n := *s
			m.reconcile(&n, r)
			m.next("Reconcile", -1, r, 0, &n)
		}
	}
}

// restore replaces the region's rows and epoch with the backup. Claims that were made after the backup are lost, as with any restore. The model
// informs their holders.
func (m *machine) restore(s *state) {
	b := s.backup
	r := int(b.region)
	s.free[r] = b.free
	s.stale &^= 1 << r
	if b.old {
		s.stale |= 1 << r
	}
	for i := range m.Asks {
		if m.Asks[i] != r {
			continue
		}
		c, mem := &s.client[i], &s.memory[i]
		mem.current = mem.backedUp
		c.row, c.keys, c.done = b.rows[i], b.keys[i], b.keys[i]
		if c.phase == held && c.row != (row{c.ask, c.told}) {
			*c = c.answered(idle)
		}
	}
	s.backup = backup{stage: restored}
	for i := range s.memory {
		s.memory[i].backedUp = false // no other backup follows
	}
}

// reconcile makes a region's rows agree with its loan records. Claims inside the region's addresses stay. It deletes the other claims: the region
// returned their blocks after the backup, so these claims had been released before. All other addresses of the region become free.
func (m *machine) reconcile(s *state, r int) {
	truth := m.truth(s, r)
	for i := range m.Asks {
		c := &s.client[i]
		if m.Asks[i] != r || c.row.ask == 0 {
			continue
		}
		if at := m.sum.addrs[c.row.at]; at&^truth != 0 {
			c.row = row{}
		} else {
			truth &^= at
		}
	}
	s.free[r] = 0
	for _, n := range m.sum.hosts {
		if m.sum.addrs[n]&truth != 0 {
			s.free[r] = m.sum.merge(s.free[r], n)
		}
	}
	s.stale &^= 1 << r
	m.moveMark(s, r)
}

// truth returns a region's addresses according to the records. A region has its loans, and the home region has all addresses that are not on loan.
func (m *machine) truth(s *state, r int) uint16 {
	if r > 0 {
		return m.sum.covered(s.loans[r])
	}
	return m.sum.addrs[1] &^ m.sum.covered(s.loans[1]|s.loans[2])
}

// drained reports whether the pool can become one free block in its home region again. It reconciles stale regions, releases all claims and recalls
// all loans. A client can find each claim by its name. It assumes that requests without a response have no further effect.
func (m *machine) drained(s state) bool {
	for r := range m.Regions {
		if s.isStale(r) {
			m.reconcile(&s, r)
		}
	}
	for i := range m.Asks {
		m.unbind(&s, i, s.client[i].row.ask)
	}
	for r := 1; r < m.Regions; r++ {
		for n := range s.free[r].each { // the loop needs the rows from before the first move
			if m.move(&s, n, r, 0) != "" {
				return false
			}
		}
	}
	return s.free == [maxRegions]mask{1 << 1} && s.loans == [maxRegions]mask{}
}
