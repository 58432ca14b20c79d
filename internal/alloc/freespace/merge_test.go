package freespace_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

func TestMergeCoalescesEagerly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, container, released, candidates, free, remove, insert string }{
		{"NothingFreeNearby", "10.0.0.0/24", "10.0.0.64/27", "10.0.0.0/26 10.0.0.96/27 10.0.0.128/25", "", "", "10.0.0.64/27"},
		{"OneStep", "10.0.0.0/24", "10.0.0.64/27", "10.0.0.0/26 10.0.0.96/27 10.0.0.128/25", "10.0.0.96/27", "10.0.0.96/27", "10.0.0.64/26"},
		{"AllTheWay", "10.0.0.0/24", "10.0.0.64/27", "10.0.0.0/26 10.0.0.96/27 10.0.0.128/25", "10.0.0.0/26 10.0.0.96/27 10.0.0.128/25", "10.0.0.0/26 10.0.0.96/27 10.0.0.128/25", "10.0.0.0/24"},
		{"NotOverAHeldStep", "10.0.0.0/24", "10.0.0.64/27", "10.0.0.0/26 10.0.0.96/27 10.0.0.128/25", "10.0.0.0/26 10.0.0.128/25", "", "10.0.0.64/27"},
		{"WholeContainer", "10.0.0.0/24", "10.0.0.0/24", "", "", "", "10.0.0.0/24"},
		{"NeverBeyondTheContainer", "10.0.0.0/25", "10.0.0.0/26", "10.0.0.64/26", "10.0.0.64/26", "10.0.0.64/26", "10.0.0.0/25"},
		{"BuddiesInOneBatch", "10.0.0.0/24", "10.0.0.0/32 10.0.0.1/32", "10.0.0.2/31 10.0.0.4/30 10.0.0.8/29 10.0.0.16/28 10.0.0.32/27 10.0.0.64/26 10.0.0.128/25", "10.0.0.2/31", "10.0.0.2/31", "10.0.0.0/30"},
		{"CascadesMeet", "10.0.0.0/30", "10.0.0.0/32 10.0.0.3/32", "10.0.0.1/32 10.0.0.2/32", "10.0.0.1/32 10.0.0.2/32", "10.0.0.1/32 10.0.0.2/32", "10.0.0.0/30"},
		{"CascadesMeetAtDifferentHeights", "10.0.0.0/29", "10.0.0.0/30 10.0.0.7/32", "10.0.0.4/31 10.0.0.6/32", "10.0.0.4/31 10.0.0.6/32", "10.0.0.4/31 10.0.0.6/32", "10.0.0.0/29"},
		{"OneCascadeStopsShort", "10.0.0.0/29", "10.0.0.0/30 10.0.0.7/32", "10.0.0.4/31 10.0.0.6/32", "10.0.0.4/31", "", "10.0.0.0/30 10.0.0.7/32"},
		{"WholeIPv4", "0.0.0.0/0", "128.0.0.0/1", "0.0.0.0/1", "0.0.0.0/1", "0.0.0.0/1", "0.0.0.0/0"},
		{"WholeIPv6", "::/0", "::/2 c000::/2", "4000::/2 8000::/2", "4000::/2 8000::/2", "4000::/2 8000::/2", "::/0"},
		{"LastAddresses", lastButOneIPv6 + "/127", lastIPv6 + "/128", lastButOneIPv6 + "/128", lastButOneIPv6 + "/128", lastButOneIPv6 + "/128", lastButOneIPv6 + "/127"},
		{"Nothing", "10.0.0.0/24", "", "", "", "", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			container, released := pfx(c.container), parse(t, c.released)
			requireSame(t, parse(t, c.candidates), freespace.MergeCandidates(released, container))
			remove, insert := freespace.Merge(released, parse(t, c.free), container)
			requireSame(t, parse(t, c.remove), remove)
			requireSame(t, parse(t, c.insert), insert)
		})
	}
}

func TestReleasingAHostReversesItsCarving(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ family, host string }{{"0.0.0.0/0", "10.20.30.40/32"}, {"::/0", "2001:db8::17/128"}} {
		family, released := pfx(c.family), []netip.Prefix{pfx(c.host)}
		rest := sorted(freespace.Carve(family, released[0]))
		requireSame(t, rest, freespace.MergeCandidates(released, family))
		remove, insert := freespace.Merge(released, rest, family)
		requireSame(t, rest, remove)
		requireSame(t, []netip.Prefix{family}, insert)
	}
}

func TestReleasingOutsideTheContainerPanics(t *testing.T) {
	t.Parallel()
	for _, stray := range []netip.Prefix{pfx("10.0.1.0/32"), pfx("10.0.0.0/23"), pfx("::/128"), {}} {
		require.Panics(t, func() { freespace.MergeCandidates([]netip.Prefix{stray}, pfx("10.0.0.0/24")) })
		require.Panics(t, func() { freespace.Merge([]netip.Prefix{stray}, nil, pfx("10.0.0.0/24")) })
	}
}

// mergeMatchesCells checks that the change is exactly the difference between the maximal free lists before and after the release. Merge sees only the
// blocks of MergeCandidates from the free list before.
func mergeMatchesCells(t *rapid.T, u *universe) {
	before := drawCells(t)
	after := *before
	var released []netip.Prefix
	for range rapid.IntRange(0, 30).Draw(t, "releases") {
		if s := drawSpan(t, "release"); after.all(s, false) {
			after.set(s, true)
			released = append(released, u.block(s))
		}
	}
	freeBefore, freeAfter := u.prefixes(u.freeList(before)), u.prefixes(u.freeList(&after))

	candidates := freespace.MergeCandidates(released, u.container)
	for i, candidate := range candidates {
		require.False(t, slices.ContainsFunc(released, func(r netip.Prefix) bool { return freespace.Overlaps(r, candidate) }), "%v holds a released block", candidate)
		require.True(t, i == 0 || freespace.Compare(candidates[i-1], candidate) < 0, "sorted, distinct")
	}
	freeBuddies := slices.DeleteFunc(candidates, func(c netip.Prefix) bool { return !slices.Contains(freeBefore, c) })

	remove, insert := freespace.Merge(released, freeBuddies, u.container)
	requireSame(t, minus(freeBefore, freeAfter), remove)
	requireSame(t, minus(freeAfter, freeBefore), insert)

	remove, insert = freespace.Merge(released, freeBefore, u.container)
	requireSame(t, minus(freeBefore, freeAfter), remove, "the whole list does no harm")
	requireSame(t, minus(freeAfter, freeBefore), insert, "the whole list does no harm")
}

func TestMergeMatchesCells(t *testing.T) {
	t.Parallel()
	inEachUniverse(t, mergeMatchesCells)
}

func FuzzMerge(f *testing.F) { fuzzUniverses(f, mergeMatchesCells) }
