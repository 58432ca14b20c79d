package freespace_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

// In 10.0.0.0/24, the blocks .16/28, .32/27, .64/26, .160/27 and .192/26 are free. The blocks .0/28 and .128/27 are held.
const someFree = "10.0.0.16/28 10.0.0.32/27 10.0.0.64/26 10.0.0.160/27 10.0.0.192/26"

func TestStrategiesChooseTheirBlocks(t *testing.T) {
	t.Parallel()
	drawing := func(lastByte byte) (random [16]byte) {
		random[3], random[11] = lastByte, 0xff
		return random
	}
	for _, c := range []struct {
		name string
		wish freespace.BlockRequest
		want string // "" for none
	}{
		{"BestFitPrefersTheTightest", freespace.BlockRequest{Bits: 32}, "10.0.0.16/32"},
		{"BestFitPrefersAnExactFit", freespace.BlockRequest{Bits: 26}, "10.0.0.64/26"},
		{"BestFitBreaksTiesByAddress", freespace.BlockRequest{Bits: 27}, "10.0.0.32/27"},
		{"BestFitStartsAtTheGivenAddress", freespace.BlockRequest{Bits: 27, Start: ip("10.0.0.33")}, "10.0.0.160/27"},
		{"BestFitStartsAtABlockItself", freespace.BlockRequest{Bits: 27, Start: ip("10.0.0.160")}, "10.0.0.160/27"},
		{"BestFitWrapsAround", freespace.BlockRequest{Bits: 27, Start: ip("10.0.0.161")}, "10.0.0.32/27"},
		{"BestFitStaysTightForAnyStart", freespace.BlockRequest{Bits: 28, Start: ip("10.0.0.250")}, "10.0.0.16/28"},
		{"BestFitIgnoresAStartElsewhere", freespace.BlockRequest{Bits: 27, Start: ip("10.0.1.0")}, "10.0.0.32/27"},
		{"BestFitIgnoresAStartOfTheOtherFamily", freespace.BlockRequest{Bits: 27, Start: ip("::ffff:10.0.0.160")}, "10.0.0.32/27"},
		{"FirstFitIsStrictlyLowest", freespace.BlockRequest{Bits: 32, Strategy: freespace.FirstFit}, "10.0.0.16/32"},
		{"FirstFitPassesTooSmallBlocks", freespace.BlockRequest{Bits: 27, Strategy: freespace.FirstFit}, "10.0.0.32/27"},
		{"FirstFitKnowsNoStart", freespace.BlockRequest{Bits: 32, Strategy: freespace.FirstFit, Start: ip("10.0.0.100")}, "10.0.0.16/32"},
		{"SparsePrefersTheLargest", freespace.BlockRequest{Bits: 32, Strategy: freespace.Sparse}, "10.0.0.64/32"},
		{"RandomTakesThePlaceDrawn", freespace.BlockRequest{Bits: 32, Strategy: freespace.Random, Rand: drawing(77)}, "10.0.0.77/32"},
		{"RandomGoesOnFromThePlaceDrawn", freespace.BlockRequest{Bits: 32, Strategy: freespace.Random, Rand: drawing(130)}, "10.0.0.191/32"},
		{"RandomPassesTooSmallBlocks", freespace.BlockRequest{Bits: 26, Strategy: freespace.Random, Rand: drawing(130)}, "10.0.0.192/26"},
		{"RandomWrapsAround", freespace.BlockRequest{Bits: 26, Strategy: freespace.Random, Rand: drawing(130), Start: ip("10.0.0.193")}, "10.0.0.64/26"},
		{"RandomGoesOnFromTheStart", freespace.BlockRequest{Bits: 32, Strategy: freespace.Random, Rand: drawing(130), Start: ip("10.0.0.0")}, "10.0.0.31/32"},
		{"RandomDrawsAlignedPlaces", freespace.BlockRequest{Bits: 30, Strategy: freespace.Random, Rand: drawing(79)}, "10.0.0.76/30"},
		{"ExactInsideAFreeBlock", freespace.BlockRequest{Exact: pfx("10.0.0.96/28")}, "10.0.0.96/28"},
		{"ExactIsAWholeFreeBlock", freespace.BlockRequest{Exact: pfx("10.0.0.192/26")}, "10.0.0.192/26"},
		{"ExactHeld", freespace.BlockRequest{Exact: pfx("10.0.0.1/32")}, ""},
		{"ExactPartlyHeld", freespace.BlockRequest{Exact: pfx("10.0.0.128/26")}, ""},
		{"ExactOverrulesTheRest", freespace.BlockRequest{Exact: pfx("10.0.0.96/28"), Bits: 99, Strategy: 99}, "10.0.0.96/28"},
		{"ExactOutside", freespace.BlockRequest{Exact: pfx("10.0.1.0/28")}, ""},
		{"ExactLargerThanTheContainer", freespace.BlockRequest{Exact: pfx("10.0.0.0/23")}, ""},
		{"ExactWithHostBits", freespace.BlockRequest{Exact: pfx("10.0.0.97/28")}, ""},
		{"ExactInvalid", freespace.BlockRequest{Exact: netip.PrefixFrom(ip("10.0.0.64"), -1), Bits: 32}, ""},
		{"NothingThatLarge", freespace.BlockRequest{Bits: 25}, ""},
		{"LargerThanTheContainer", freespace.BlockRequest{Bits: 23}, ""},
		{"NegativeLength", freespace.BlockRequest{Bits: -1}, ""},
		{"LongerThanTheFamily", freespace.BlockRequest{Bits: 33, Strategy: freespace.Random}, ""},
		{"UnknownStrategy", freespace.BlockRequest{Bits: 32, Strategy: 4}, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			set := newSet(t, "10.0.0.0/24", someFree)
			got, ok := set.Take(c.wish)
			require.Equal(t, c.want != "", ok)
			if ok {
				require.Equal(t, c.want, got.String())
				return
			}
			remove, insert := set.Changes()
			requireSame(t, nil, remove, "a refusal changes nothing")
			requireSame(t, nil, insert, "a refusal changes nothing")
		})
	}
}

func TestSparseLeavesRoomToGrow(t *testing.T) {
	t.Parallel()
	set := newSet(t, "2001:db8::/61", "2001:db8::/61")
	for _, n := range []uint64{0, 4, 2, 6, 1, 3, 5, 7} {
		want, _ := freespace.NthBlock(pfx("2001:db8::/61"), 64, n)
		require.Equal(t, want.String(), takeString(t, set, freespace.BlockRequest{Bits: 64, Strategy: freespace.Sparse}))
	}
}

func TestBestFitKeepsLargeBlocksWhole(t *testing.T) {
	t.Parallel()
	set := newSet(t, "10.0.0.0/16", "10.0.0.0/16")
	for range 128 {
		takeString(t, set, freespace.BlockRequest{Bits: 24})
	}
	require.Equal(t, "10.0.128.0/17", takeString(t, set, freespace.BlockRequest{Bits: 17}))
}

func TestStrategiesHaveNames(t *testing.T) {
	t.Parallel()
	for strategy, name := range map[freespace.Strategy]string{
		freespace.BestFit: "BestFit", freespace.FirstFit: "FirstFit", freespace.Random: "Random", freespace.Sparse: "Sparse", 4: "unknown",
	} {
		require.Equal(t, name, strategy.String())
	}
	for order, name := range map[freespace.Order]string{
		freespace.LowestFirst: "LowestFirst", freespace.TightestFirst: "TightestFirst", freespace.LargestFirst: "LargestFirst", 3: "unknown",
	} {
		require.Equal(t, name, order.String())
	}
}
