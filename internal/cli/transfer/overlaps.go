package transfer

import (
	"cmp"
	"math/big"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/cli/rules"
)

// settleRanges applies the policies to duplicate and overlapping ranges. With the policy `narrow`, the smaller range takes its addresses first, and
// the other ranges get the rest from cut.
func (t *tree) settleRanges() {
	byRow := func(a, b *item) int { return cmp.Compare(a.row, b.row) }
	slices.SortStableFunc(t.ranges, byRow)
	first := map[string]*item{}
	for _, r := range t.ranges {
		if other := first[r.where()]; other != nil && r.kind == other.kind {
			t.settle(t.desired.mapping.OnDuplicate, other, r, "the same range as", r)
			continue
		}
		first[r.where()] = r
	}
	switch t.desired.mapping.OnOverlap {
	case rules.First:
		var kept []*item
		for _, r := range t.ranges {
			if r.outcome != "" {
				continue
			}
			if at := slices.IndexFunc(kept, r.overlaps); at >= 0 {
				t.settle(rules.First, kept[at], r, "it overlaps", r)
				continue
			}
			kept = append(kept, r)
		}
	case rules.Narrow:
		slices.SortStableFunc(t.ranges, func(a, b *item) int { return a.size().Cmp(b.size()) })
		return
	default:
		t.endOverlaps()
	}
	byPlace(t.ranges)
}

// endOverlaps applies the policy to all ranges that overlap. The ranges are sorted by their first address. It is therefore enough to compare each
// range with the earlier range that ends last.
func (t *tree) endOverlaps() {
	byPlace(t.ranges)
	var farthest *item
	for _, r := range t.ranges {
		if r.outcome != "" {
			continue
		}
		if farthest != nil && r.overlaps(farthest) {
			t.settle(t.desired.mapping.OnOverlap, farthest, r, "it overlaps", r)
		}
		if farthest == nil || farthest.to().Less(r.to()) {
			farthest = r
		}
	}
}

// overlaps reports whether two items have an address in common.
func (i *item) overlaps(other *item) bool {
	return i.from().Is4() == other.from().Is4() && !i.to().Less(other.from()) && !other.to().Less(i.from())
}

// covers reports whether an item contains all addresses of another item in its routing domain.
func (i *item) covers(other *item) bool {
	return i.domain == other.domain && !other.from().Less(i.from()) && !i.to().Less(other.to())
}

// size returns the number of an item's addresses, less one.
func (i *item) size() *big.Int {
	from, to := new(big.Int).SetBytes(i.from().AsSlice()), new(big.Int).SetBytes(i.to().AsSlice())
	return to.Sub(to, from)
}

// cut returns the parts of a span that no other range has taken.
func (t *tree) cut(s span) []span {
	left := []span{s}
	for _, taken := range t.taken {
		if taken.pool != s.pool {
			continue
		}
		var next []span
		for _, part := range left {
			next = append(next, part.without(taken.first, taken.last)...)
		}
		left = next
	}
	return left
}

// without returns a span without the addresses from first to last.
func (s span) without(first, last netip.Addr) (parts []span) {
	if last.Less(s.first) || s.last.Less(first) {
		return []span{s}
	}
	if s.first.Less(first) {
		parts = append(parts, span{s.pool, s.first, first.Prev()})
	}
	if last.Less(s.last) {
		parts = append(parts, span{s.pool, last.Next(), s.last})
	}
	return parts
}
