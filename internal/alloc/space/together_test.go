package space_test

import (
	"math/rand/v2"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/space"
)

// In any container, a batch of 1,000 Random wishes must change not many more free rows than a batch that takes the lowest blocks.
func TestLargeRandomBatchChangesFewRows(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		container string
		bits      int
		keys      int // maximum of look-ups
		rows      int // maximum of changed rows
	}{{"10.0.0.0/8", 32, 3000, 500}, {"2001:db8::/32", 128, 4000, 1700}, {"2001:db8::/32", 64, 3000, 700}, {"10.0.0.0/22", 32, 2048, 200}} {
		t.Run(c.container, func(t *testing.T) {
			t.Parallel()
			container := pfx(c.container)
			wishes := randomWishes(1000, c.bits)
			space.DrawTogether(container, wishes)
			space.ShareStart(container, wishes)
			reads := space.ReadsFor(container, wishes)
			require.LessOrEqual(t, len(reads.Keys), c.keys)
			set, err := space.NewFreeSet(container, []netip.Prefix{container})
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
	want := append([]space.Wish{}, wishes...)
	space.DrawTogether(pfx("10.0.0.0/8"), wishes)
	require.Equal(t, want, wishes)
}

func TestDrawTogetherGivesDistinctBlocks(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/8")
	wishes := append(randomWishes(500, 32), randomWishes(500, 30)...)
	wishes = append(wishes, space.Wish{Bits: 24, Strategy: space.FirstFit}, space.Wish{Exact: pfx("10.1.0.0/16"), Strategy: space.Random}, space.Wish{Bits: 4, Strategy: space.Random})
	others := append([]space.Wish{}, wishes[1000:]...)
	space.DrawTogether(container, wishes)
	require.Equal(t, others, wishes[1000:], "they draw nothing")
	places := map[netip.Prefix]bool{}
	for _, w := range wishes[:1000] {
		places[space.Sub(container, w.Bits, w.Rand)] = true
	}
	require.Len(t, places, 1000, "each has a place of its own")
}

// The number of rows read from a fragmented container does not grow with the number of Random wishes.
func TestRandomWishesReadFewRows(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/8")
	wishes := randomWishes(1000, 32)
	space.DrawTogether(container, wishes)
	space.ShareStart(container, wishes)
	few, bounded := space.FewFor(container, wishes)
	require.True(t, bounded)
	all := space.ReadsFor(container, wishes)
	require.Equal(t, all.Keys, few.Keys)
	require.Len(t, few.Scans, len(all.Scans))
	for _, s := range few.Scans {
		require.Equal(t, space.Few, s.Limit)
	}

	lowest := append(wishes, space.Wish{Bits: 32, Strategy: space.FirstFit})
	few, _ = space.FewFor(container, lowest)
	limits := map[netip.Addr]int{}
	for _, s := range few.Scans {
		limits[s.From] = s.Limit
	}
	require.Equal(t, 1001, limits[container.Addr()], "what is strictly lowest is decided by as many rows as there are wishes")

	_, bounded = space.FewFor(container, []space.Wish{{Bits: 32, Strategy: space.FirstFit}})
	require.False(t, bounded)
}

func randomWishes(n, bits int) []space.Wish {
	random := rand.New(rand.NewPCG(1, uint64(bits)))
	wishes := make([]space.Wish, n)
	for i := range wishes {
		wishes[i] = space.Wish{Bits: bits, Strategy: space.Random, Rand: randomBytes(random)}
	}
	return wishes
}
