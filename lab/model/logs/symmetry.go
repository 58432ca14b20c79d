package logs

// order replaces a state by one that differs only by swapped clients, addresses, pages or servers. No step and no promise depends on their
// numbers. Equal ranks may leave two such states apart, which costs time but hides nothing.
func (m *machine) order(s *state) {
	if m.alike() && s.clients[1].rank() < s.clients[0].rank() {
		s.swapClients()
	}
	for c := range m.Logs {
		m.orderAddresses(s, c)
	}
	if s.servers[1].less(&s.servers[0]) {
		s.swapServers()
	}
}

// anySwap calls a function with each state that differs from the given one by swaps, until the function returns true.
func (m *machine) anySwap(s state, is func(*state) bool) bool {
	var swaps []func(*state)
	if !m.Plain {
		swaps = append(swaps, (*state).swapServers)
	}
	if !m.Plain && m.alike() {
		swaps = append(swaps, (*state).swapClients)
	}
	for c := 0; c < m.Logs && !m.Plain; c++ {
		switch m.Size {
		case 2:
			swaps = append(swaps, func(s *state) { s.swapAddresses(c, 0, 1); s.swapPages(c) })
		case 4:
			swaps = append(swaps,
				func(s *state) { s.swapAddresses(c, 0, 1) },
				func(s *state) { s.swapAddresses(c, 2, 3) },
				func(s *state) { s.swapAddresses(c, 0, 2); s.swapAddresses(c, 1, 3); s.swapPages(c) })
		}
	}
	for chosen := range 1 << len(swaps) {
		n := s
		for i, swap := range swaps {
			if chosen&(1<<i) != 0 {
				swap(&n)
			}
		}
		if is(&n) {
			return true
		}
	}
	return false
}

// alike reports whether the two clients send the same requests.
func (m *machine) alike() bool {
	return len(m.Wants) == 2 && m.Wants[0] == m.Wants[1] && m.Names[0] == m.Names[1]
}

func (c *client) rank() uint64 {
	r := uint64(c.phase)<<8 | uint64(c.ask)
	if c.unsure {
		r |= 1 << 7
	}
	for _, h := range c.holds {
		r = r<<8 | uint64(h.life)
	}
	return r
}

func (s *state) swapClients() {
	s.clients[0], s.clients[1] = s.clients[1], s.clients[0]
	for sv := range s.servers {
		items := &s.servers[sv].items
		items[0], items[1] = items[1], items[0]
		for i := range items {
			swapReference(&items[i].replaces)
		}
	}
	for f := range s.flights {
		ops := &s.flights[f].ops
		ops[0], ops[1] = ops[1], ops[0]
		for i := range ops {
			swapReference(&ops[i].replaces)
		}
	}
}

// swapReference makes a reference name the hold of the other client.
func swapReference(r *uint8) {
	switch {
	case *r == 0:
	case *r > maxAsks:
		*r -= maxAsks
	default:
		*r += maxAsks
	}
}

func (s *state) swapServers() {
	s.servers[0], s.servers[1] = s.servers[1], s.servers[0]
	other := [...]uint8{0, 2, 1}
	for i := range s.clients {
		s.clients[i].at = other[s.clients[i].at]
	}
	for f := range s.flights {
		s.flights[f].server = other[s.flights[f].server]
	}
}

// orderAddresses swaps the addresses of a page, and the pages.
func (m *machine) orderAddresses(s *state, c int) {
	half := uint8(m.Size / maxPages) //nolint:gosec // G115: a few addresses
	var ranks [2 * maxPages]uint64
	for a := range uint8(m.Size) { //nolint:gosec // G115: a few addresses
		ranks[a] = s.addressRank(c, a, int(a/max(half, 1)))
	}
	if m.Size == 4 {
		if ranks[1] < ranks[0] {
			ranks[0], ranks[1] = ranks[1], ranks[0]
			s.swapAddresses(c, 0, 1)
		}
		if ranks[3] < ranks[2] {
			ranks[2], ranks[3] = ranks[3], ranks[2]
			s.swapAddresses(c, 2, 3)
		}
		if ranks[2] < ranks[0] || ranks[2] == ranks[0] && ranks[3] < ranks[1] {
			s.swapAddresses(c, 0, 2)
			s.swapAddresses(c, 1, 3)
			s.swapPages(c)
		}
	}
	if m.Size == 2 && ranks[1] < ranks[0] {
		s.swapAddresses(c, 0, 1)
		s.swapPages(c)
	}
}

// addressRank returns the history of an address, its state in the caches, and its holds.
func (s *state) addressRank(c int, a uint8, page int) uint64 {
	l := &s.logs[c]
	r := uint64(0)
	for _, fold := range l.fold[:l.head+1] {
		r = r<<1 | uint64(fold>>a&1)
	}
	for sv := range s.servers {
		k := &s.servers[sv].caches[c]
		r = r<<4 | uint64(k.known>>a&1)<<3 | uint64(k.held>>a&1)<<2
		if k.warm {
			r |= uint64(k.pages[page])
		}
	}
	for i := range s.clients {
		for _, h := range s.clients[i].holds {
			r <<= 1
			if h.life != never && int(h.log) == c && h.addr == a {
				r |= 1
			}
		}
	}
	return r
}

func (s *state) swapAddresses(c int, a, b uint8) {
	l := &s.logs[c]
	for i := range l.fold {
		l.fold[i].swap(a, b)
	}
	for sv := range s.servers {
		k := &s.servers[sv].caches[c]
		k.known.swap(a, b)
		k.held.swap(a, b)
	}
	move := func(log uint8, addr *uint8) {
		switch {
		case int(log) != c:
		case *addr == a:
			*addr = b
		case *addr == b:
			*addr = a
		}
	}
	for i := range s.clients {
		for n := range s.clients[i].holds {
			if h := &s.clients[i].holds[n]; h.life != never {
				move(h.log, &h.addr)
			}
		}
		for f := range s.flights {
			if o := &s.flights[f].ops[i]; o.kind != none {
				move(o.log, &o.addr)
			}
		}
	}
}

func (s *state) swapPages(c int) {
	for sv := range s.servers {
		k := &s.servers[sv].caches[c]
		k.pages[0], k.pages[1] = k.pages[1], k.pages[0]
	}
}

// swap exchanges two addresses of a set.
func (a *mask) swap(x, y uint8) {
	if different := (*a>>x ^ *a>>y) & 1; different != 0 {
		*a ^= 1<<x | 1<<y
	}
}

// less orders servers.
func (sv *server) less(other *server) bool {
	for c := range sv.caches {
		if x, y := sv.caches[c].rank(), other.caches[c].rank(); x != y {
			return x < y
		}
	}
	for i := range sv.items {
		if x, y := sv.items[i].rank(), other.items[i].rank(); x != y {
			return x < y
		}
	}
	return false
}

func (k *cache) rank() uint64 {
	if !k.warm {
		return 0
	}
	r := uint64(1)
	for _, v := range [...]uint8{k.seq, uint8(k.known), uint8(k.held), k.root, uint8(k.pages[0]), uint8(k.pages[1])} {
		r = r<<8 | uint64(v)
	}
	return r
}

func (it *item) rank() uint64 {
	r := uint64(0)
	for _, v := range [...]uint8{uint8(it.kind), uint8(it.stage), it.ask, it.replaces, uint8(it.seen)} {
		r = r<<8 | uint64(v)
	}
	return r
}
