package freespace

import "net/netip"

// FromRange returns the shortest block list that has exactly the addresses from first to end, both included. The list has at most 2*width-2 blocks,
// in ascending order. FromRange returns nil if the range does not exist:
//   - An address is invalid or has a zone.
//   - The addresses have different families.
//   - to is before from.
func FromRange(first, end netip.Addr) []netip.Prefix {
	width := first.BitLen()
	if !first.IsValid() || width != end.BitLen() || first.Zone() != "" || end.Zone() != "" || end.Less(first) {
		return nil
	}
	var blocks []netip.Prefix
	next, last := numberOf(first), numberOf(end)
	for {
		// This is the largest block that starts at next. Its size is limited by next's alignment and by the range's end.
		host := min(next.trailingZeros(), log2OfSuccessor(last.sub(next)))
		blocks = append(blocks, block(next, width-host, width))
		end := next.or(lowOnes(host))
		if end == last {
			return blocks // checked before the addition of 1, which would overflow at the family's last address
		}
		next = end.add(uint128{lo: 1})
	}
}

// FirstN returns the shortest block list that has exactly container's n lowest addresses. If container has at most n addresses, it returns the whole
// container.
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

// LastN returns the shortest block list that has exactly container's n highest addresses. If container has at most n addresses, it returns the whole
// container.
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
