package freespace

import "net/netip"

// FromRange returns the fewest blocks that together are exactly the addresses from..to, both included, in ascending order: at most 2*width-2 blocks.
// It returns nil if no such range exists: different families, to before from, a zone, an invalid address.
func FromRange(from, to netip.Addr) []netip.Prefix {
	width := from.BitLen()
	if !from.IsValid() || width != to.BitLen() || from.Zone() != "" || to.Zone() != "" || to.Less(from) {
		return nil
	}
	var blocks []netip.Prefix
	next, last := numberOf(from), numberOf(to)
	for {
		// The largest block that starts at next: its alignment and the range's end limit it.
		host := min(next.trailingZeros(), log2OfSuccessor(last.sub(next)))
		blocks = append(blocks, block(next, width-host, width))
		end := next.or(lowOnes(host))
		if end == last {
			return blocks // checked before adding 1, which would overflow at the last address
		}
		next = end.add(uint128{lo: 1})
	}
}

// FirstN returns the fewest blocks that are exactly container's n lowest addresses, or the whole container if it has no more than n.
func FirstN(container netip.Prefix, n uint64) []netip.Prefix {
	if !container.IsValid() || n == 0 {
		return nil
	}
	last, ok := NthAddress(container, n-1)
	if !ok {
		last = Last(container)
	}
	return FromRange(First(container), last)
}

// LastN returns the fewest blocks that are exactly container's n highest addresses, or the whole container if it has no more than n.
func LastN(container netip.Prefix, n uint64) []netip.Prefix {
	if !container.IsValid() || n == 0 {
		return nil
	}
	first := First(container)
	if _, ok := NthAddress(container, n-1); ok {
		first = lastOf(container).sub(uint128{lo: n - 1}).addr(Width(container))
	}
	return FromRange(first, Last(container))
}

// log2OfSuccessor returns the largest k with 2^k <= n+1, even if n+1 overflows.
func log2OfSuccessor(n uint128) int {
	if n == lowOnes(128) {
		return 128
	}
	return n.add(uint128{lo: 1}).bitLen() - 1
}
