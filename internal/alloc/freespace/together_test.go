package freespace_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// In any container, a batch of 1,000 Random requests must change few more free rows than a batch that takes the lowest blocks.
func TestLargeRandomBatchChangesFewRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		container string
		bits      int
		keys      int // limit for the look-ups
		rows      int // limit for the changed rows
	}{{"10.0.0.0/8", 32, 3000, 500}, {"2001:db8::/32", 128, 4000, 1700}, {"2001:db8::/32", 64, 3000, 700}, {"10.0.0.0/22", 32, 2048, 200}} {
		t.Run(c.container, func(t *testing.T) {
			t.Parallel()
			container := pfx(c.container)
			wishes := randomWishes(1000, c.bits)
			freespace.DrawTogether(container, wishes)
			freespace.ShareStart(container, wishes)
			reads := freespace.ReadsFor(container, wishes)
			require.LessOrEqual(t, len(reads.Keys), c.keys)
			set, err := freespace.NewFreeSet(container, []netip.Prefix{container})
			require.NoError(t, err)
			for _, w := range wishes {
				_, ok := set.Take(w)
				require.True(t, ok)
			}
			remove, insert := set.Changes()
			require.LessOrEqual(t, len(remove)+len(insert), c.rows)
		})
	}
}

func TestSmallRandomBatchKeepsItsDraws(t *testing.T) {
	t.Parallel()
	wishes := randomWishes(16, 32)
	want := append([]freespace.BlockRequest{}, wishes...)
	freespace.DrawTogether(pfx("10.0.0.0/8"), wishes)
	require.Equal(t, want, wishes)
}

func TestDrawTogetherGivesDistinctBlocks(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/8")
	wishes := append(randomWishes(500, 32), randomWishes(500, 30)...)
	wishes = append(wishes, freespace.BlockRequest{Bits: 24, Strategy: freespace.FirstFit}, freespace.BlockRequest{Exact: pfx("10.1.0.0/16"), Strategy: freespace.Random}, freespace.BlockRequest{Bits: 4, Strategy: freespace.Random})
	others := append([]freespace.BlockRequest{}, wishes[1000:]...)
	freespace.DrawTogether(container, wishes)
	require.Equal(t, others, wishes[1000:], "they draw nothing")
	places := map[netip.Prefix]bool{}
	for _, w := range wishes[:1000] {
		places[freespace.Sub(container, w.Bits, w.Rand)] = true
	}
	require.Len(t, places, 1000, "each has a place of its own")
}

// The number of rows that are read from a fragmented container must not grow with the number of Random requests.
func TestRandomWishesReadFewRows(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/8")
	wishes := randomWishes(1000, 32)
	freespace.DrawTogether(container, wishes)
	freespace.ShareStart(container, wishes)
	few, bounded := freespace.FewFor(container, wishes)
	require.True(t, bounded)
	all := freespace.ReadsFor(container, wishes)
	require.Equal(t, all.Keys, few.Keys)
	require.Len(t, few.Scans, len(all.Scans))
	for _, s := range few.Scans {
		require.Equal(t, freespace.FewRows, s.Limit)
	}

	lowest := append(wishes, freespace.BlockRequest{Bits: 32, Strategy: freespace.FirstFit})
	few, _ = freespace.FewFor(container, lowest)
	limits := map[netip.Addr]int{}
	for _, s := range few.Scans {
		limits[s.From] = s.Limit
	}
	require.Equal(t, 1001, limits[container.Addr()], "what is strictly lowest is decided by as many rows as there are wishes")

	_, bounded = freespace.FewFor(container, []freespace.BlockRequest{{Bits: 32, Strategy: freespace.FirstFit}})
	require.False(t, bounded)
}

func randomWishes(n, bits int) []freespace.BlockRequest {
	random := rand.New(rand.NewPCG(1, uint64(bits)))
	wishes := make([]freespace.BlockRequest, n)
	for i := range wishes {
		wishes[i] = freespace.BlockRequest{Bits: bits, Strategy: freespace.Random, Rand: randomBytes(random)}
	}
	return wishes
}
