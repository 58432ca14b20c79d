package freespace

import "net/netip"

// choose returns the first free block in w's order, and the part of the block to grant. w must be satisfiable. ReadsFor's lemma depends on these
// orders, so change them only together.
func (s *FreeSet) choose(w BlockRequest) (free, target netip.Prefix, ok bool) {
	if w.Exact.IsValid() {
		free, ok = s.covering(w.Exact)
		return free, w.Exact, ok
	}
	switch w.Strategy {
	case FirstFit:
		free, ok = s.lowest(w.Bits, uint128{})
	case BestFit:
		free, ok = s.tightest(w.Bits, numberOf(w.start(s.container)))
	case Sparse:
		free, ok = s.largest(w.Bits)
	case Random:
		place := w.place(s.container)
		if free, ok = s.covering(place); ok {
			return free, place, true
		}
		if free, ok = s.lowest(w.Bits, numberOf(w.start(s.container))); !ok {
			free, ok = s.lowest(w.Bits, uint128{})
		}
		if ok {
			return free, w.placeIn(free), true
		}
	}
	if !ok {
		return netip.Prefix{}, netip.Prefix{}, false
	}
	return free, netip.PrefixFrom(free.Addr(), w.Bits), true
}

// covering returns the free block that contains p.
func (s *FreeSet) covering(p netip.Prefix) (netip.Prefix, bool) {
	base := numberOf(p.Addr())
	for bits := s.container.Bits(); bits <= p.Bits(); bits++ {
		if at := base.andNot(lowOnes(s.width - bits)); s.lengths[bits].has(at) {
			return block(at, bits, s.width), true
		}
	}
	return netip.Prefix{}, false
}

// lowest returns the free block that is large enough for length bits and has the lowest base at or after from.
func (s *FreeSet) lowest(bits int, start uint128) (found netip.Prefix, ok bool) {
	var base uint128
	for length := s.container.Bits(); length <= bits; length++ {
		l := s.lengths[length]
		if i := l.indexFrom(start); i < len(l) && (!ok || l[i].base.less(base)) {
			base, ok = l[i].base, true
			found = block(base, length, s.width)
		}
	}
	return found, ok
}

// tightest returns the smallest free block that is large enough for length bits. Among equal blocks, it returns the first one at or after start, or
// else the lowest one.
func (s *FreeSet) tightest(bits int, start uint128) (netip.Prefix, bool) {
	for length := bits; length >= s.container.Bits(); length-- {
		l := s.lengths[length]
		if len(l) == 0 {
			continue
		}
		i := l.indexFrom(start)
		if i == len(l) {
			i = 0
		}
		return block(l[i].base, length, s.width), true
	}
	return netip.Prefix{}, false
}

// largest returns the lowest block among the largest free blocks, if these are large enough for length bits.
func (s *FreeSet) largest(bits int) (netip.Prefix, bool) {
	for length := s.container.Bits(); length <= bits; length++ {
		if l := s.lengths[length]; len(l) > 0 {
			return block(l[0].base, length, s.width), true
		}
	}
	return netip.Prefix{}, false
}
