package model

import "math/bits"

// keeperSteps lends and recalls blocks of each size, whenever a loan or recall is possible.
func (m *machine) keeperSteps(s *state) {
	if !m.served(s, 0) {
		return
	}
	for r := 1; r < m.Regions; r++ {
		if !m.served(s, r) {
			continue
		}
		for n := range m.parts(s.free[0]) {
			next := *s
			broken := m.move(&next, n, 0, r)
			m.nextBroken("Lend", -1, r, n, 0, &next, m.fence(s, 0, r).or(broken))
		}
		for n := range m.recallable(s, r) {
			next := *s
			broken := m.move(&next, n, r, 0)
			m.nextBroken("Recall", -1, r, n, 0, &next, m.fence(s, 0, r).or(broken))
		}
	}
}

// parts yields each free block: the stored ones and all their parts.
func (m *machine) parts(free mask) func(func(node) bool) {
	return func(yield func(node) bool) {
		for _, n := range m.sum.all {
			if m.within(free, n) && !yield(n) {
				return
			}
		}
	}
}

// within reports whether a block is equal to one of the given blocks or a part of one.
func (m *machine) within(blocks mask, n node) bool {
	for ; n > 0; n /= 2 {
		if blocks.has(n) {
			return true
		}
	}
	return false
}

// recallable yields the blocks that a region can return to the home region.
func (m *machine) recallable(s *state, r int) func(func(node) bool) {
	if m.twin != RecallHeld {
		return m.parts(s.free[r])
	}
	return s.loans[r].each
}

// move moves a free block, with its loan record, between the home region and another region. Both regions get new epochs.
func (m *machine) move(s *state, b node, from, to int) (broken Promise) {
	if m.twin == RecallHeld && !m.within(s.free[from], b) {
		for n := range s.free[from].each { // the twin moves the free parts of the block and forgets the held parts
			if inside(n, b) {
				s.free[from] &^= 1 << n
			}
		}
	} else {
		s.free[from] = m.sum.exact(s.free[from], b)
	}
	if m.sum.covered(s.free[to])&m.sum.addrs[b] != 0 {
		return Tiling // a part of the block is free there already
	}
	s.free[to] = m.sum.merge(s.free[to], b)
	if from != 0 {
		s.loans[from] = m.sum.unlend(s.loans[from], b)
	}
	if to != 0 && m.twin != LendWithoutRecord {
		s.loans[to] = s.loans[to].with(b)
	}
	m.newEpoch(s, from)
	m.newEpoch(s, to)
	m.moveMark(s, from)
	m.moveMark(s, to)
	return ""
}

// newEpoch gives a region's record and rows a new epoch.
func (m *machine) newEpoch(s *state, r int) {
	if m.twin == EpochOfOne && r == 0 {
		return
	}
	s.stale &^= 1 << r
	if s.backup.stage == taken && int(s.backup.region) == r {
		s.backup.old = true
	}
}

// lookSteps searches for room in all regions, in one transaction. It serves a claim that found no room in its own region. There are four results:
//
//   - The claim's own region has room now. The claim runs again.
//   - Other regions have room, in one block or in several parts. Loans and recalls bring it to the claim's region (keeperSteps).
//   - No region has room. The pool is exhausted.
//   - A region is stale and cannot be searched. The result is unknown.
func (m *machine) lookSteps(s *state, i int) {
	c, r := &s.client[i], m.Asks[i]
	if m.twin == ExhaustedPiecemeal {
		m.lookPiecemeal(s, i)
		return
	}
	if !m.served(s, r) {
		return
	}
	if m.sum.room(s.free[r], int(c.size)) {
		next := *s
		next.client[i].phase = carve
		m.nextBroken("Found", i, r, 0, c.size, &next, m.fence(s, r))
		return
	}
	var union uint16
	for region := range m.Regions {
		if !m.served(s, region) && m.twin != LookUnfenced {
			return
		}
		if m.twin == ExhaustedAlone && region != 0 && region != r {
			continue
		}
		if m.sum.room(s.free[region], int(c.size)) {
			return
		}
		union |= m.sum.covered(s.free[region])
	}
	if m.twin != ExhaustedInParts && m.roomIn(union, int(c.size)) {
		return
	}
	broken := Promise("")
	if s.stale != 0 {
		broken = Fenced
	}
	if m.anyRoom(s, int(c.size)) {
		broken = ExhaustedTrue
	}
	next := *s
	next.client[i].phase = doubt
	m.nextBroken("FindNone", i, r, 0, c.size, &next, broken)
}

// anyRoom reports whether a block of the size has only free addresses, possibly in several regions. The rows of a stale region do not count.
func (m *machine) anyRoom(s *state, size int) bool {
	var union uint16
	for r := range m.Regions {
		if !s.isStale(r) {
			union |= m.sum.covered(s.free[r])
		}
	}
	return m.roomIn(union, size)
}

// roomIn reports whether a set of addresses contains an aligned block.
func (m *machine) roomIn(set uint16, size int) bool {
	for first := 0; first < m.Size; first += size {
		if block := uint16(1<<size-1) << first; set&block == block {
			return true
		}
	}
	return false
}

// lookPiecemeal searches one region after another, each in a separate transaction. It begins with the home region.
func (m *machine) lookPiecemeal(s *state, i int) {
	c, r := &s.client[i], m.Asks[i]
	region := bits.TrailingZeros8(^c.sought)
	next := *s
	switch {
	case region == m.Regions:
		broken := Promise("")
		if !c.full {
			broken = ExhaustedTrue
		}
		next.client[i].phase, next.client[i].sought = doubt, 0
		m.nextBroken("FindNone", i, r, 0, c.size, &next, broken)
	case !m.served(s, region):
	case !m.sum.room(s.free[region], int(c.size)):
		next.client[i].sought |= 1 << region
		m.next("AskForRoom", i, region, c.size, &next)
	default: // moves bring blocks here, and then the claim runs again
		next.client[i].phase, next.client[i].sought = carve, 0
		m.next("Found", i, region, c.size, &next)
	}
}
