package freespace_test

import (
	"math/rand/v2"
	"net/netip"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

func TestReadsForSimilarWishesAreMerged(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/24")
	scan := func(order freespace.Order, maxBits int, from string) freespace.Scan {
		return freespace.Scan{Order: order, MinBits: 24, MaxBits: maxBits, From: ip(from), Limit: 9}
	}
	reads := freespace.ReadsFor(container, []freespace.BlockRequest{
		{Bits: 28}, {Bits: 28}, {Bits: 26, Start: ip("10.0.0.128")},
		{Bits: 30, Strategy: freespace.FirstFit, Start: ip("10.0.0.128")},
		{Bits: 25, Strategy: freespace.Sparse}, {Bits: 27, Strategy: freespace.Sparse},
		{Bits: 26, Strategy: freespace.Random, Rand: [16]byte{3: 0xf0}},
		{Exact: pfx("10.0.0.192/27")}, {Exact: pfx("10.0.0.192/25")}, {Exact: pfx("10.0.0.0/25")},
		{Bits: 23}, {Bits: 33}, {Exact: pfx("10.0.1.0/24")},
	})
	require.Equal(t, parse(t, "10.0.0.0/24 10.0.0.0/25 10.0.0.128/25 10.0.0.192/26 10.0.0.192/27"), reads.Keys)
	require.Equal(t, []freespace.Scan{
		scan(freespace.LowestFirst, 26, "10.0.0.0"), scan(freespace.LowestFirst, 26, "10.0.0.192"), scan(freespace.LowestFirst, 30, "10.0.0.0"),
		scan(freespace.TightestFirst, 26, "10.0.0.0"), scan(freespace.TightestFirst, 26, "10.0.0.128"), scan(freespace.TightestFirst, 28, "10.0.0.0"),
		scan(freespace.LargestFirst, 27, "10.0.0.0"),
	}, reads.Scans, "nine wishes count: three cannot be granted by any free list, one has host bits")
}

func TestImpossibleWishesNeedNoReads(t *testing.T) {
	t.Parallel()
	for _, reads := range []freespace.Reads{
		freespace.ReadsFor(pfx("10.0.0.0/24"), nil),
		freespace.ReadsFor(pfx("10.0.0.0/24"), []freespace.BlockRequest{{Bits: 23}, {Bits: 33, Strategy: freespace.Random}, {Bits: 32, Strategy: 77}}),
		freespace.ReadsFor(netip.Prefix{}, []freespace.BlockRequest{{Bits: 24}}),
		freespace.ReadsFor(pfx("10.0.0.1/24"), []freespace.BlockRequest{{Bits: 24}}),
	} {
		require.Empty(t, reads.Keys)
		require.Empty(t, reads.Scans)
	}
}

// One row fewer than ReadsFor requests is too few, because each of the two requests uses up a whole block.
func TestSmallerScanLimitIsTooFewRows(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/24")
	for _, strategy := range []freespace.Strategy{freespace.BestFit, freespace.FirstFit, freespace.Sparse} {
		wishes := []freespace.BlockRequest{{Bits: 26, Strategy: strategy}, {Bits: 26, Strategy: strategy}}
		reads := freespace.ReadsFor(container, wishes)
		require.Len(t, reads.Scans, 1)
		free := parse(t, "10.0.0.0/26 10.0.0.128/26")
		for limit, granted := range []int{0, 1, 2} {
			reads.Scans[0].Limit = limit
			set, err := freespace.NewFreeSet(container, read(free, reads))
			require.NoError(t, err)
			got := 0
			for _, w := range wishes {
				if _, ok := set.Take(w); ok {
					got++
				}
			}
			require.Equal(t, granted, got)
		}
	}
}

func TestReadsOfALargeBatchAreBounded(t *testing.T) {
	t.Parallel()
	container := pfx("2001:db8::/32")
	random := rand.New(rand.NewPCG(1, 2))
	wishes := make([]freespace.BlockRequest, 1000)
	for i := range wishes {
		wishes[i] = freespace.BlockRequest{Bits: 64, Strategy: freespace.Random, Rand: randomBytes(random)}
	}
	drawn := freespace.ReadsFor(container, wishes)
	require.Len(t, drawn.Scans, 1001)
	require.LessOrEqual(t, len(drawn.Keys), 1000*33)

	freespace.ShareStart(container, wishes)
	shared := freespace.ReadsFor(container, wishes)
	require.Len(t, shared.Scans, 2)
	require.Equal(t, drawn.Keys, shared.Keys, "each wish keeps its first draw")

	for i := range wishes { // as after a conflict
		wishes[i] = freespace.BlockRequest{Bits: 64, Strategy: freespace.BestFit, Start: freespace.Sub(container, 64, randomBytes(random)).Addr()}
	}
	require.Len(t, freespace.ReadsFor(container, wishes).Scans, 1001)
	freespace.ShareStart(container, wishes)
	require.Len(t, freespace.ReadsFor(container, wishes).Scans, 2)
}

func TestShareStartAffectsRandomWithoutAndBestFitWithStart(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/24")
	wishes := []freespace.BlockRequest{
		{Bits: 24}, {Bits: 28, Start: ip("10.0.0.48")}, {Bits: 26, Start: ip("10.0.0.128")}, {Bits: 28, Strategy: freespace.FirstFit, Start: ip("10.0.0.48")}, {Bits: 28, Strategy: freespace.Sparse}, {Exact: pfx("10.0.0.0/28"), Strategy: freespace.Random},
		{Bits: 99, Strategy: freespace.Random, Rand: [16]byte{3: 0x10}},
		{Bits: 28, Strategy: freespace.Random, Rand: [16]byte{3: 0x47}},
		{Bits: 28, Strategy: freespace.Random, Rand: [16]byte{3: 0x80}},
		{Bits: 28, Strategy: freespace.Random, Start: ip("10.0.0.200")},
		{Bits: 28, Strategy: freespace.Random, Start: ip("10.0.9.200")},
	}
	want := append([]freespace.BlockRequest{}, wishes...)
	want[2].Start = ip("10.0.0.48")
	for _, i := range []int{7, 8, 10} {
		want[i].Start = ip("10.0.0.64")
	}
	freespace.ShareStart(container, wishes)
	require.Equal(t, want, wishes)
}

func randomBytes(random *rand.Rand) (bytes [16]byte) {
	for i := range bytes {
		bytes[i] = byte(random.Uint32())
	}
	return bytes
}

func TestWholeReadCoversKeysAndOtherWishes(t *testing.T) {
	t.Parallel()
	container := pfx("10.0.0.0/24")
	keys := freespace.Reads{Keys: parse(t, "10.0.0.64/26 10.0.0.128/25")}
	free := parse(t, "10.0.0.0/32 10.0.0.64/27 10.0.0.128/25")
	whole := keys.WithWholeList(container, len(free)+1)
	require.Equal(t, []freespace.Scan{{Order: freespace.LowestFirst, MinBits: 24, MaxBits: 32, From: ip("10.0.0.0"), Limit: 4}}, whole.Scans)
	known := freespace.NewFreeListCache(container)
	known.Fill(whole, read(free, whole))
	rows, ok := known.Read(freespace.ReadsFor(container, []freespace.BlockRequest{{Bits: 28, Strategy: freespace.Random, Rand: [16]byte{3: 0xf0}}}))
	require.True(t, ok)
	require.Subset(t, free, rows)

	require.Equal(t, parse(t, "10.0.0.128/25"), keys.Requested(slices.Clone(free)))
	require.Equal(t, free, whole.Requested(free))
}
