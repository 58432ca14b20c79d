package freespace_test

import (
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

func TestCapacityOfEmptyAndFullContainers(t *testing.T) {
	t.Parallel()
	whole := freespace.Histogram{0: 1}
	require.Equal(t, "4294967296", whole.Blocks(32).String())
	require.Equal(t, "340282366920938463463374607431768211456", whole.Blocks(128).String())
	require.Equal(t, "18446744073709551616", whole.Blocks(64).String())
	require.Equal(t, "1", whole.Blocks(0).String())

	full := freespace.Histogram{24: 0}
	require.Equal(t, "0", full.Blocks(32).String())
}

func TestBlocksAreCountedOnlyWhereTheyFit(t *testing.T) {
	t.Parallel()
	h := freespace.Histogram{24: 3, 26: 2, 32: 5}
	for bits, want := range map[int]string{23: "0", 24: "3", 25: "6", 26: "14", 27: "28", 31: "448", 32: "901"} {
		require.Equal(t, want, h.Blocks(bits).String(), "/%d", bits)
	}
}

func TestCapacityStaysExactWithHugeCounts(t *testing.T) {
	t.Parallel()
	h := freespace.Histogram{64: 1 << 62, 128: 1}
	require.Equal(t, "85070591730234615865843651857942052865", h.Blocks(128).String()) // 2^126 + 1
}

func TestTotalSumsBlockSizes(t *testing.T) {
	t.Parallel()
	require.Equal(t, "0", freespace.Total().String())
	require.Equal(t, "256", freespace.Total(pfx("10.0.0.0/24")).String())
	require.Equal(t, "340282366920938463463374607431768211456", freespace.Total(parse(t, "::/1 8000::/1")...).String())
}

// capacityMatchesCells counts the free positions of each length one by one, and compares the counts with Histogram.Blocks. The free list is maximal,
// so it misses no position.
func capacityMatchesCells(t *rapid.T, u *universe) {
	c := drawCells(t)
	free := u.prefixes(u.freeList(c))
	h := freespace.HistogramOf(free)
	for count := 256; count >= 1; count /= 2 {
		places := int64(0)
		for start := 0; start < 256; start += count {
			if c.all(span{start, count}, true) {
				places++
			}
		}
		require.Equal(t, places, h.Blocks(u.bits(count)).Int64())
	}
	require.Equal(t, freespace.Total(free...), h.Blocks(freespace.Width(u.container)))
}

func TestCapacityMatchesCells(t *testing.T) {
	t.Parallel()
	inEachUniverse(t, capacityMatchesCells)
}
