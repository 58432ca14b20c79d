package storetest

import (
	"cmp"
	"math/rand/v2"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// nth returns the n-th block of a length in a container.
func nth(container string, bits int, n uint64) string {
	b, ok := freespace.NthBlock(cidr(container), bits, n)
	if !ok {
		panic("the container has no such block")
	}
	return b.String()
}

// someFree returns a random free list of a container: disjoint blocks of many lengths, unsorted.
func someFree(r *rand.Rand, container netip.Prefix, splits int) []netip.Prefix {
	list := []netip.Prefix{container}
	for range splits {
		i := r.IntN(len(list))
		if list[i].IsSingleIP() {
			continue
		}
		low, high := freespace.Halves(list[i])
		list[i] = low
		list = append(list, high)
	}
	return slices.DeleteFunc(list, func(netip.Prefix) bool { return r.IntN(3) == 0 }) // the deleted third counts as held
}

// firstOf returns the blocks that a scan must return: its first Limit matching blocks, in its order.
func firstOf(free []netip.Prefix, q freespace.Scan) []netip.Prefix {
	var fit []netip.Prefix
	for _, p := range free {
		if q.MinBits <= p.Bits() && p.Bits() <= q.MaxBits && q.From.Compare(p.Addr()) <= 0 {
			fit = append(fit, p)
		}
	}
	slices.SortFunc(fit, func(a, b netip.Prefix) int {
		byAddress := a.Addr().Compare(b.Addr())
		switch q.Order {
		case freespace.TightestFirst:
			return cmp.Or(cmp.Compare(b.Bits(), a.Bits()), byAddress)
		case freespace.LargestFirst:
			return cmp.Or(cmp.Compare(a.Bits(), b.Bits()), byAddress)
		default:
			return byAddress
		}
	})
	return fit[:min(q.Limit, len(fit))]
}
