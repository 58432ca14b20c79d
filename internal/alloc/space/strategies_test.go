package space_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/space"
)

// Free: .16/28, .32/27, .64/26, .160/27, .192/26 of 10.0.0.0/24. Held: .0/28 and .128/27.
const someFree = "10.0.0.16/28 10.0.0.32/27 10.0.0.64/26 10.0.0.160/27 10.0.0.192/26"

func TestStrategiesChooseTheirBlocks(t *testing.T) {
	t.Parallel()
	drawing := func(lastByte byte) (random [16]byte) {
		random[3], random[11] = lastByte, 0xff
		return random
	}
	for _, c := range []struct {
		name string
		wish space.Wish
		want string // "" for none
	}{
		{"BestFitPrefersTheTightest", space.Wish{Bits: 32}, "10.0.0.16/32"},
		{"BestFitPrefersAnExactFit", space.Wish{Bits: 26}, "10.0.0.64/26"},
		{"BestFitBreaksTiesByAddress", space.Wish{Bits: 27}, "10.0.0.32/27"},
		{"BestFitStartsAtTheGivenAddress", space.Wish{Bits: 27, Start: ip("10.0.0.33")}, "10.0.0.160/27"},
		{"BestFitStartsAtABlockItself", space.Wish{Bits: 27, Start: ip("10.0.0.160")}, "10.0.0.160/27"},
		{"BestFitWrapsAround", space.Wish{Bits: 27, Start: ip("10.0.0.161")}, "10.0.0.32/27"},
		{"BestFitStaysTightForAnyStart", space.Wish{Bits: 28, Start: ip("10.0.0.250")}, "10.0.0.16/28"},
		{"BestFitIgnoresAStartElsewhere", space.Wish{Bits: 27, Start: ip("10.0.1.0")}, "10.0.0.32/27"},
		{"BestFitIgnoresAStartOfTheOtherFamily", space.Wish{Bits: 27, Start: ip("::ffff:10.0.0.160")}, "10.0.0.32/27"},
		{"FirstFitIsStrictlyLowest", space.Wish{Bits: 32, Strategy: space.FirstFit}, "10.0.0.16/32"},
		{"FirstFitPassesTooSmallBlocks", space.Wish{Bits: 27, Strategy: space.FirstFit}, "10.0.0.32/27"},
		{"FirstFitKnowsNoStart", space.Wish{Bits: 32, Strategy: space.FirstFit, Start: ip("10.0.0.100")}, "10.0.0.16/32"},
		{"SparsePrefersTheLargest", space.Wish{Bits: 32, Strategy: space.Sparse}, "10.0.0.64/32"},
		{"RandomTakesThePlaceDrawn", space.Wish{Bits: 32, Strategy: space.Random, Rand: drawing(77)}, "10.0.0.77/32"},
		{"RandomGoesOnFromThePlaceDrawn", space.Wish{Bits: 32, Strategy: space.Random, Rand: drawing(130)}, "10.0.0.191/32"},
		{"RandomPassesTooSmallBlocks", space.Wish{Bits: 26, Strategy: space.Random, Rand: drawing(130)}, "10.0.0.192/26"},
		{"RandomWrapsAround", space.Wish{Bits: 26, Strategy: space.Random, Rand: drawing(130), Start: ip("10.0.0.193")}, "10.0.0.64/26"},
		{"RandomGoesOnFromTheStart", space.Wish{Bits: 32, Strategy: space.Random, Rand: drawing(130), Start: ip("10.0.0.0")}, "10.0.0.31/32"},
		{"RandomDrawsAlignedPlaces", space.Wish{Bits: 30, Strategy: space.Random, Rand: drawing(79)}, "10.0.0.76/30"},
		{"ExactInsideAFreeBlock", space.Wish{Exact: pfx("10.0.0.96/28")}, "10.0.0.96/28"},
		{"ExactIsAWholeFreeBlock", space.Wish{Exact: pfx("10.0.0.192/26")}, "10.0.0.192/26"},
		{"ExactHeld", space.Wish{Exact: pfx("10.0.0.1/32")}, ""},
		{"ExactPartlyHeld", space.Wish{Exact: pfx("10.0.0.128/26")}, ""},
		{"ExactOverrulesTheRest", space.Wish{Exact: pfx("10.0.0.96/28"), Bits: 99, Strategy: 99}, "10.0.0.96/28"},
		{"ExactOutside", space.Wish{Exact: pfx("10.0.1.0/28")}, ""},
		{"ExactLargerThanTheContainer", space.Wish{Exact: pfx("10.0.0.0/23")}, ""},
		{"ExactWithHostBits", space.Wish{Exact: pfx("10.0.0.97/28")}, ""},
		{"ExactInvalid", space.Wish{Exact: netip.PrefixFrom(ip("10.0.0.64"), -1), Bits: 32}, ""},
		{"NothingThatLarge", space.Wish{Bits: 25}, ""},
		{"LargerThanTheContainer", space.Wish{Bits: 23}, ""},
		{"NegativeLength", space.Wish{Bits: -1}, ""},
		{"LongerThanTheFamily", space.Wish{Bits: 33, Strategy: space.Random}, ""},
		{"UnknownStrategy", space.Wish{Bits: 32, Strategy: 4}, ""},
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
		want, _ := space.NthBlock(pfx("2001:db8::/61"), 64, n)
		require.Equal(t, want.String(), takeString(t, set, space.Wish{Bits: 64, Strategy: space.Sparse}))
	}
}

func TestBestFitKeepsLargeBlocksWhole(t *testing.T) {
	t.Parallel()
	set := newSet(t, "10.0.0.0/16", "10.0.0.0/16")
	for range 128 {
		takeString(t, set, space.Wish{Bits: 24})
	}
	require.Equal(t, "10.0.128.0/17", takeString(t, set, space.Wish{Bits: 17}))
}

func TestStrategiesHaveNames(t *testing.T) {
	t.Parallel()
	for strategy, name := range map[space.Strategy]string{
		space.BestFit: "BestFit", space.FirstFit: "FirstFit", space.Random: "Random", space.Sparse: "Sparse", 4: "unknown",
	} {
		require.Equal(t, name, strategy.String())
	}
	for order, name := range map[space.Order]string{
		space.LowestFirst: "LowestFirst", space.TightestFirst: "TightestFirst", space.LargestFirst: "LargestFirst", 3: "unknown",
	} {
		require.Equal(t, name, order.String())
	}
}
