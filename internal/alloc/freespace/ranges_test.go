package freespace_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

func TestFromRangeIsExactAtTheEdges(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ from, to, want string }{
		{"0.0.0.0", "255.255.255.255", "0.0.0.0/0"},
		{"0.0.0.0", "0.0.0.0", "0.0.0.0/32"},
		{"255.255.255.255", "255.255.255.255", "255.255.255.255/32"},
		{"10.0.0.0", "10.0.0.255", "10.0.0.0/24"},
		{"10.0.0.1", "10.0.0.6", "10.0.0.1/32 10.0.0.2/31 10.0.0.4/31 10.0.0.6/32"},
		{"10.0.0.255", "10.0.1.0", "10.0.0.255/32 10.0.1.0/32"},
		{"192.0.0.0", "255.255.255.255", "192.0.0.0/2"},
		{"::", lastIPv6, "::/0"},
		{"::", "::", "::/128"},
		{lastIPv6, lastIPv6, lastIPv6 + "/128"},
		{"2001:db8::", "2001:db8::ffff:ffff:ffff:ffff", "2001:db8::/64"},
		{"::ffff:ffff:ffff:ffff", "0:0:0:1::", "::ffff:ffff:ffff:ffff/128 0:0:0:1::/128"},
		{"8000::", lastIPv6, "8000::/1"},
		{"::ffff:10.0.0.0", "::ffff:10.0.0.1", "::ffff:10.0.0.0/127"},
	} {
		requireSame(t, parse(t, c.want), freespace.FromRange(ip(c.from), ip(c.to)))
	}
}

func TestFromRangeUsesAtMostTwoBlocksOfALength(t *testing.T) {
	t.Parallel()
	require.Len(t, freespace.FromRange(ip("0.0.0.1"), ip("255.255.255.254")), 62)
	require.Len(t, freespace.FromRange(ip("::1"), ip(lastButOneIPv6)), 254)
	require.Len(t, freespace.FromRange(ip("::"), ip(lastButOneIPv6)), 128)
	require.Len(t, freespace.FromRange(ip("::1"), ip(lastIPv6)), 128)
}

func TestFromRangeOfAnInvalidRangeIsNil(t *testing.T) {
	t.Parallel()
	for _, c := range [][2]netip.Addr{
		{}, {ip("10.0.0.0"), {}}, {{}, ip("10.0.0.0")}, {ip("10.0.0.1"), ip("10.0.0.0")}, {ip("10.0.0.0"), ip("::")}, {ip("::"), ip("10.0.0.0")},
		{ip("10.0.0.0"), ip("::ffff:10.0.0.1")}, {ip("fe80::1%eth0"), ip("fe80::2%eth0")}, {ip("fe80::1"), ip("fe80::2%eth0")},
	} {
		require.Nil(t, freespace.FromRange(c[0], c[1]), "%v-%v", c[0], c[1])
	}
}

func TestFirstNAndLastNOfABlock(t *testing.T) {
	t.Parallel()
	const all = ^uint64(0)
	for _, c := range []struct {
		container   string
		n           uint64
		first, last string
	}{
		{"10.0.0.0/24", 0, "", ""},
		{"10.0.0.0/24", 1, "10.0.0.0/32", "10.0.0.255/32"},
		{"10.0.0.0/24", 3, "10.0.0.0/31 10.0.0.2/32", "10.0.0.253/32 10.0.0.254/31"},
		{"10.0.0.0/24", 128, "10.0.0.0/25", "10.0.0.128/25"},
		{"10.0.0.0/24", 256, "10.0.0.0/24", "10.0.0.0/24"},
		{"10.0.0.0/24", 257, "10.0.0.0/24", "10.0.0.0/24"},
		{"0.0.0.0/0", all, "0.0.0.0/0", "0.0.0.0/0"},
		{"0.0.0.0/0", 1 << 31, "0.0.0.0/1", "128.0.0.0/1"},
		{"255.255.255.255/32", 1, "255.255.255.255/32", "255.255.255.255/32"},
		{"255.255.255.255/32", 2, "255.255.255.255/32", "255.255.255.255/32"},
		{"::/0", 1 << 63, "::/65", "ffff:ffff:ffff:ffff:8000::/65"},
		{"::/0", 2, "::/127", lastButOneIPv6 + "/127"},
		{"::/64", all, "", ""}, // checked below
		{lastIPv6 + "/128", all, lastIPv6 + "/128", lastIPv6 + "/128"},
	} {
		if c.n == all && c.container == "::/64" {
			require.Len(t, freespace.FirstN(pfx(c.container), c.n), 64)
			require.Len(t, freespace.LastN(pfx(c.container), c.n), 64)
			continue
		}
		requireSame(t, parse(t, c.first), freespace.FirstN(pfx(c.container), c.n))
		requireSame(t, parse(t, c.last), freespace.LastN(pfx(c.container), c.n))
	}
	require.Nil(t, freespace.FirstN(netip.Prefix{}, 1))
	require.Nil(t, freespace.LastN(netip.Prefix{}, 1))
}

// rangesMatchCells checks that the result of FromRange is the maximal free list of a container in which only the range is free.
func rangesMatchCells(t *rapid.T, u *universe) {
	from := rapid.IntRange(0, 255).Draw(t, "from")
	to := rapid.IntRange(from, 255).Draw(t, "to")
	var c cells
	c.set(span{from, to - from + 1}, true)
	want := u.prefixes(u.freeList(&c))
	first, last := u.block(span{from, 1}), u.block(span{to, 1})
	requireSame(t, want, freespace.FromRange(first.Addr(), freespace.Last(last)))
	if perCell := freespace.Size(first); perCell.IsUint64() && perCell.Uint64() <= 1<<55 {
		n := uint64(to-from+1) * perCell.Uint64()
		if from == 0 {
			requireSame(t, want, freespace.FirstN(u.container, n))
		}
		if to == 255 {
			requireSame(t, want, freespace.LastN(u.container, n))
		}
	}
}

func TestRangesMatchCells(t *testing.T) {
	t.Parallel()
	inEachUniverse(t, rangesMatchCells)
}

func FuzzRanges(f *testing.F) { fuzzUniverses(f, rangesMatchCells) }
