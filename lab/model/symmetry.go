package model

// canonical swaps the halves of blocks until each lower half has the smaller contents. So states that differ only by such swaps become equal.
func (m *machine) canonical(s *state) {
	if m.Plain {
		return
	}
	var label [maxNodes]uint64 // each block's contents
	bit := uint64(1)
	mark := func(blocks mask) {
		for n := range blocks.each {
			label[n] |= bit
		}
		bit <<= 1
	}
	place := func(n node) {
		label[n] |= bit // block 0 means no block, and is never compared
		bit <<= 1
	}
	for r := range m.Regions {
		mark(s.free[r])
		mark(s.loans[r])
	}
	mark(s.backup.free)
	if m.Remembers {
		for i := range m.Asks {
			mark(s.memory[i].free)
		}
	}
	for i := range m.Asks {
		place(s.client[i].told)
		place(s.client[i].row.at)
		place(s.backup.rows[i].at)
	}

	var from [maxNodes]node // the block that moves to each position
	nodes := m.sum.all[len(m.sum.all)-1] + 1
	for n := range nodes {
		from[n] = n //nolint:gosec // G602: there are at most maxNodes
	}
	moved := false
	for n := nodes/2 - 1; n > 0; n-- {
		if greater(&label, 2*n, nodes) {
			swap(&label, &from, 2*n, nodes)
			moved = true
		}
	}
	if !moved {
		return
	}
	var to [maxNodes]node
	for n := range nodes {
		to[from[n]] = n //nolint:gosec // G602: likewise
	}
	s.rename(&to)
}

// greater reports whether block n, with its parts, has larger contents than its buddy.
func greater(label *[maxNodes]uint64, n, nodes node) bool {
	for width := node(1); n < nodes; n, width = 2*n, 2*width {
		for i := range width {
			if a, b := label[n+i], label[n+width+i]; a != b {
				return a > b
			}
		}
	}
	return false
}

func swap(label *[maxNodes]uint64, from *[maxNodes]node, n, nodes node) {
	for width := node(1); n < nodes; n, width = 2*n, 2*width {
		for i := n; i < n+width; i++ {
			label[i], label[i+width] = label[i+width], label[i]
			from[i], from[i+width] = from[i+width], from[i]
		}
	}
}

// rename moves each block to another position.
func (s *state) rename(to *[maxNodes]node) {
	all := func(blocks mask) (out mask) {
		for n := range blocks.each {
			out = out.with(to[n])
		}
		return out
	}
	for r := range s.free {
		s.free[r], s.loans[r] = all(s.free[r]), all(s.loans[r])
	}
	s.backup.free = all(s.backup.free)
	for i := range s.client {
		c := &s.client[i]
		s.memory[i].free = all(s.memory[i].free)
		c.told, c.row.at, s.backup.rows[i].at = to[c.told], to[c.row.at], to[s.backup.rows[i].at]
	}
}
