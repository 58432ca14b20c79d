package freespace_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

func TestTilesReportsTheFirstFault(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, container, blocks, fault string }{
		{"ItselfAlone", "10.0.0.0/24", "10.0.0.0/24", ""},
		{"AnyOrder", "10.0.0.0/24", "10.0.0.128/25 10.0.0.0/26 10.0.0.64/26", ""},
		{"WholeIPv4", "0.0.0.0/0", "0.0.0.0/1 128.0.0.0/1", ""},
		{"WholeIPv6", "::/0", "8000::/1 ::/1", ""},
		{"LastHost", lastIPv6 + "/128", lastIPv6 + "/128", ""},
		{"Nothing", "10.0.0.0/24", "", "nothing covers 10.0.0.0-10.0.0.255"},
		{"NothingOfIPv6", "::/0", "", "nothing covers ::-" + lastIPv6},
		{"GapAtTheStart", "10.0.0.0/24", "10.0.0.128/25", "nothing covers 10.0.0.0-10.0.0.127"},
		{"GapInside", "10.0.0.0/24", "10.0.0.0/26 10.0.0.128/25", "nothing covers 10.0.0.64-10.0.0.127"},
		{"GapAtTheEnd", "::/0", "::/1 8000::/2", "nothing covers c000::-" + lastIPv6},
		{"GapOfOneAddress", "255.255.255.254/31", "255.255.255.254/32", "nothing covers 255.255.255.255-255.255.255.255"},
		{"Nested", "10.0.0.0/24", "10.0.0.0/25 10.0.0.64/26 10.0.0.128/25", "10.0.0.0/25 overlaps 10.0.0.64/26"},
		{"Twice", "10.0.0.0/24", "10.0.0.0/25 10.0.0.128/25 10.0.0.128/25", "10.0.0.128/25 overlaps 10.0.0.128/25"},
		{"TwiceTheFamily", "::/0", "::/0 ::/0", "::/0 overlaps ::/0"},
		{"GapBeforeOverlap", "10.0.0.0/24", "10.0.0.128/25 10.0.0.128/26", "nothing covers 10.0.0.0-10.0.0.127"},
		{"OverlapBeforeGap", "10.0.0.0/24", "10.0.0.0/26 10.0.0.0/27 10.0.0.192/26", "10.0.0.0/26 overlaps 10.0.0.0/27"},
		{"Outside", "10.0.0.0/24", "10.0.0.0/24 10.0.1.0/24", "10.0.1.0/24 is not inside 10.0.0.0/24"},
		{"LargerThanTheContainer", "10.0.0.0/24", "10.0.0.0/23", "10.0.0.0/23 is not inside 10.0.0.0/24"},
		{"OtherFamily", "::/0", "0.0.0.0/0", "0.0.0.0/0 is not inside ::/0"},
		{"HostBits", "10.0.0.0/24", "10.0.0.1/24", "10.0.0.1/24 is not an aligned block"},
		{"HostBitsInTheContainer", "10.0.0.1/24", "10.0.0.0/24", "10.0.0.1/24 is not an aligned block"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := freespace.Tiles(pfx(c.container), parse(t, c.blocks))
			if c.fault == "" {
				require.NoError(t, err)
			} else {
				require.EqualError(t, err, c.fault)
			}
		})
	}
	require.Error(t, freespace.Tiles(netip.Prefix{}, nil))
	require.Error(t, freespace.Tiles(pfx("::/0"), []netip.Prefix{{}}))
}

// tilesMatchesCells counts how often each cell is covered.
func tilesMatchesCells(t *rapid.T, u *universe) {
	c := drawCells(t)
	spans := u.freeList(c)
	held := *c
	for i := range held {
		held[i] = !held[i]
	}
	spans = append(spans, u.freeList(&held)...)
	if len(spans) > 0 && rapid.Bool().Draw(t, "remove") {
		at := rapid.IntRange(0, len(spans)-1).Draw(t, "which")
		spans = append(spans[:at:at], spans[at+1:]...)
	}
	if rapid.Bool().Draw(t, "add") {
		spans = append(spans, drawSpan(t, "added"))
	}
	var covered [256]int
	for _, s := range spans {
		for i := s.start; i < s.start+s.count; i++ {
			covered[i]++
		}
	}
	first := 0
	for first < 256 && covered[first] == 1 {
		first++
	}

	err := freespace.Tiles(u.container, u.prefixes(spans))
	switch {
	case first == 256:
		require.NoError(t, err)
	case covered[first] == 0:
		end := first
		for end < 255 && covered[end+1] == 0 {
			end++
		}
		var gap *freespace.GapError
		require.ErrorAs(t, err, &gap)
		require.Equal(t, u.block(span{first, 1}).Addr(), gap.First)
		require.Equal(t, freespace.Last(u.block(span{end, 1})), gap.Last)
	default:
		var overlap *freespace.OverlapError
		require.ErrorAs(t, err, &overlap)
		require.Contains(t, u.prefixes(spans), overlap.First)
		require.Equal(t, u.block(span{first, 1}).Addr(), overlap.Second.Addr(), "the first address covered twice")
		require.True(t, freespace.Overlaps(overlap.First, overlap.Second))
	}

	requireMaximal(t, u.prefixes(u.freeList(c)))
}

func TestTilesMatchesCells(t *testing.T) {
	t.Parallel()
	inEachUniverse(t, tilesMatchesCells)
}

func FuzzTiles(f *testing.F) { fuzzUniverses(f, tilesMatchesCells) }
