package freespace_test

import (
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// planMatchesCells checks the lemma of ReadsFor. A plan from only the rows of ReadsFor must grant each request the same block as a check of every
// cell. Its changes must turn the free list before the batch into the free list after it.
func planMatchesCells(t *rapid.T, u *universe) {
	c := drawCells(t)
	before := u.prefixes(u.freeList(c))
	wishes := make([]freespace.BlockRequest, rapid.IntRange(0, 12).Draw(t, "wishes"))
	for i := range wishes {
		wishes[i] = u.drawWish(t)
	}
	if rapid.Bool().Draw(t, "share start") {
		freespace.ShareStart(u.container, wishes)
	}

	set, err := freespace.NewFreeSet(u.container, read(before, freespace.ReadsFor(u.container, wishes)))
	require.NoError(t, err)
	// Take only some of the requests, in another order than in the call of ReadsFor.
	order := rapid.Permutation(wishes).Draw(t, "order")
	if len(order) > 0 && rapid.IntRange(0, 3).Draw(t, "give up") == 0 {
		order = order[:rapid.IntRange(0, len(order)).Draw(t, "taken")]
	}
	granted := takeAll(t, u, set, c, order)

	remove, insert := set.Changes()
	after := u.prefixes(u.freeList(c))
	requireSame(t, minus(before, after), remove)
	requireSame(t, minus(after, before), insert)
	requireMaximal(t, after)
	for _, row := range remove {
		var inside []netip.Prefix
		for _, p := range slices.Concat(insert, granted) {
			if freespace.Contains(row, p) {
				inside = append(inside, p)
			}
		}
		require.NoError(t, freespace.Tiles(row, inside))
	}
}

func takeAll(t *rapid.T, u *universe, set *freespace.FreeSet, c *cells, wishes []freespace.BlockRequest) (granted []netip.Prefix) {
	for _, w := range wishes {
		want, wantOK := u.take(c, w)
		got, ok := set.Take(w)
		require.Equal(t, wantOK, ok, "%+v", w)
		require.Equal(t, want, got, "%+v", w)
		if ok {
			granted = append(granted, got)
		}
	}
	return granted
}

func TestPlanMatchesCells(t *testing.T) {
	t.Parallel()
	inEachUniverse(t, planMatchesCells)
}

func FuzzPlan(f *testing.F) { fuzzUniverses(f, planMatchesCells) }

func TestPlanRefusesInconsistentRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, container, free, fault string }{
		{"Overlap", "10.0.0.0/24", "10.0.0.128/26 10.0.0.128/25", "10.0.0.128/25 overlaps 10.0.0.128/26"},
		{"Outside", "10.0.0.0/24", "10.0.1.0/25", "10.0.1.0/25 is not inside 10.0.0.0/24"},
		{"Larger", "10.0.0.0/24", "10.0.0.0/23", "10.0.0.0/23 is not inside 10.0.0.0/24"},
		{"OtherFamily", "::/0", "10.0.0.0/24", "10.0.0.0/24 is not inside ::/0"},
		{"HostBits", "10.0.0.0/24", "10.0.0.1/25", "10.0.0.1/25 is not an aligned block"},
		{"HostBitsInTheContainer", "10.0.0.1/24", "", "10.0.0.1/24 is not an aligned block"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			_, err := freespace.NewFreeSet(pfx(c.container), parse(t, c.free))
			require.EqualError(t, err, c.fault)
		})
	}
}

func TestPlanAcceptsDuplicateRowsFromSeveralReads(t *testing.T) {
	t.Parallel()
	set := newSet(t, "10.0.0.0/24", "10.0.0.0/25 10.0.0.0/25 10.0.0.0/25")
	require.Equal(t, "10.0.0.0/25", takeString(t, set, freespace.BlockRequest{Bits: 25}))
	_, ok := set.Take(freespace.BlockRequest{Bits: 32})
	require.False(t, ok)
}

func TestSlash29HoldsExactlyEightHosts(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		container string
		bits      int
	}{{"10.0.0.0/29", 32}, {"255.255.255.248/29", 32}, {"2001:db8::/125", 128}, {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff8/125", 128}, {"::/0", 3}, {"0.0.0.0/0", 3}} {
		for _, strategy := range []freespace.Strategy{freespace.BestFit, freespace.FirstFit, freespace.Random, freespace.Sparse} {
			set, err := freespace.NewFreeSet(pfx(c.container), []netip.Prefix{pfx(c.container)})
			require.NoError(t, err)
			var granted []netip.Prefix
			for range 8 {
				block, ok := set.Take(freespace.BlockRequest{Bits: c.bits, Strategy: strategy})
				require.True(t, ok)
				granted = append(granted, block)
			}
			_, ok := set.Take(freespace.BlockRequest{Bits: c.bits, Strategy: strategy})
			require.False(t, ok, "the ninth")
			require.NoError(t, freespace.Tiles(pfx(c.container), granted))
			remove, insert := set.Changes()
			requireSame(t, []netip.Prefix{pfx(c.container)}, remove)
			requireSame(t, nil, insert, "every remainder was used up")
		}
	}
}

func newSet(t *testing.T, container, free string) *freespace.FreeSet {
	t.Helper()
	set, err := freespace.NewFreeSet(pfx(container), parse(t, free))
	require.NoError(t, err)
	return set
}

func takeString(t *testing.T, set *freespace.FreeSet, w freespace.BlockRequest) string {
	t.Helper()
	block, ok := set.Take(w)
	require.True(t, ok, "%+v", w)
	return block.String()
}
