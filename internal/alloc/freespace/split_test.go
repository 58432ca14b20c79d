package freespace_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

func TestCarveLeavesTheBuddiesOfEachLength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ free, target, rest string }{
		{"10.0.0.0/24", "10.0.0.0/24", ""},
		{"10.0.0.0/24", "10.0.0.64/27", "10.0.0.96/27 10.0.0.0/26 10.0.0.128/25"},
		{"0.0.0.0/0", "0.0.0.0/1", "128.0.0.0/1"},
		{"0.0.0.0/0", "255.0.0.0/8", "254.0.0.0/8 252.0.0.0/7 248.0.0.0/6 240.0.0.0/5 224.0.0.0/4 192.0.0.0/3 128.0.0.0/2 0.0.0.0/1"},
		{"255.255.255.254/31", "255.255.255.255/32", "255.255.255.254/32"},
		{"::/0", "8000::/1", "::/1"},
		{"::fffe:0:0/95", "::fffe:0:0/96", "::ffff:0:0/96"},
		{lastIPv6 + "/128", lastIPv6 + "/128", ""},
	} {
		requireSame(t, parse(t, c.rest), freespace.Carve(pfx(c.free), pfx(c.target)))
	}
}

func TestCarvingAHostFromAFamilyLeavesOneBlockOfEachLength(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ family, host string }{
		{"0.0.0.0/0", "0.0.0.0/32"}, {"0.0.0.0/0", "255.255.255.255/32"}, {"0.0.0.0/0", "10.20.30.40/32"},
		{"::/0", "::/128"}, {"::/0", lastIPv6 + "/128"}, {"::/0", "2001:db8::17/128"},
	} {
		rest := freespace.Carve(pfx(c.family), pfx(c.host))
		require.Len(t, rest, pfx(c.host).Bits())
		for i, block := range rest {
			require.Equal(t, pfx(c.host).Bits()-i, block.Bits())
		}
		require.NoError(t, freespace.Tiles(pfx(c.family), append(rest, pfx(c.host))))
		requireMaximal(t, rest)
	}
}

func TestCarveRefusesABlockOutsideTheFreeOne(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]netip.Prefix{
		{pfx("10.0.0.0/24"), pfx("10.0.0.0/23")}, {pfx("10.0.0.0/24"), pfx("10.0.1.0/24")}, {pfx("::/0"), pfx("10.0.0.0/8")},
		{pfx("10.0.0.0/24"), {}}, {{}, pfx("10.0.0.0/24")},
	} {
		require.Panics(t, func() { freespace.Carve(c[0], c[1]) }, "%v from %v", c[1], c[0])
	}
}

// carveMatchesCells checks that the remaining blocks are the maximal free list of the remaining cells.
func carveMatchesCells(t *rapid.T, u *universe) {
	target := drawSpan(t, "target")
	free := target
	for free.count < 256 && rapid.Bool().Draw(t, "larger") {
		free = span{free.start &^ free.count, 2 * free.count}
	}
	var c cells
	c.set(free, true)
	c.set(target, false)
	rest := freespace.Carve(u.block(free), u.block(target))
	requireSame(t, u.prefixes(u.freeList(&c)), sorted(rest))
	require.Len(t, rest, u.block(target).Bits()-u.block(free).Bits())
}

func TestCarveMatchesCells(t *testing.T) {
	t.Parallel()
	inEachUniverse(t, carveMatchesCells)
}

func FuzzCarve(f *testing.F) { fuzzUniverses(f, carveMatchesCells) }
