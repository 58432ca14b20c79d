package freespace_test

import (
	"math/big"
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
)

var (
	pfx = netip.MustParsePrefix
	ip  = netip.MustParseAddr
)

const (
	lastIPv6       = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:ffff"
	lastButOneIPv6 = "ffff:ffff:ffff:ffff:ffff:ffff:ffff:fffe"
)

func TestCanonicalAcceptsOnlyAlignedBlocks(t *testing.T) {
	t.Parallel()
	for _, text := range []string{
		"0.0.0.0/0", "10.0.0.0/8", "255.255.255.255/32", "::/0", "2001:db8::/32", "::/128", lastIPv6 + "/128", "::ffff:0.0.0.0/96",
	} {
		require.True(t, freespace.Canonical(pfx(text)), text)
	}
	for _, bad := range []netip.Prefix{
		{}, pfx("10.0.0.1/8"), pfx("255.255.255.255/31"), pfx("2001:db8::1/32"), netip.PrefixFrom(ip("10.0.0.0"), 33), netip.PrefixFrom(ip("::"), -1),
	} {
		require.False(t, freespace.Canonical(bad), bad.String())
	}
}

func TestBuddyParentAndHalvesOfABlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ block, buddy, parent string }{
		{"0.0.0.0/1", "128.0.0.0/1", "0.0.0.0/0"},
		{"128.0.0.0/1", "0.0.0.0/1", "0.0.0.0/0"},
		{"10.0.0.128/25", "10.0.0.0/25", "10.0.0.0/24"},
		{"255.255.255.255/32", "255.255.255.254/32", "255.255.255.254/31"},
		{"::/1", "8000::/1", "::/0"},
		{"2001:db8::/64", "2001:db8:0:1::/64", "2001:db8::/63"},
		{"2001:db8:0:0:8000::/65", "2001:db8::/65", "2001:db8::/64"},
		{lastIPv6 + "/128", lastButOneIPv6 + "/128", lastButOneIPv6 + "/127"},
		{"::fffe:0:0/96", "::ffff:0:0/96", "::fffe:0:0/95"},
	} {
		block, buddy, parent := pfx(c.block), pfx(c.buddy), pfx(c.parent)
		require.Equal(t, buddy, freespace.Buddy(block))
		require.Equal(t, block, freespace.Buddy(buddy))
		require.Equal(t, parent, freespace.Parent(block))
		low, high := freespace.Halves(parent)
		require.ElementsMatch(t, []netip.Prefix{block, buddy}, []netip.Prefix{low, high})
		require.Negative(t, freespace.Compare(low, high))
	}
}

func TestMissingBuddyParentOrHalvesPanic(t *testing.T) {
	t.Parallel()
	for _, family := range []string{"0.0.0.0/0", "::/0"} {
		require.Panics(t, func() { freespace.Buddy(pfx(family)) })
		require.Panics(t, func() { freespace.Parent(pfx(family)) })
	}
	for _, host := range []netip.Prefix{pfx("10.0.0.0/32"), pfx("::/128"), {}} {
		require.Panics(t, func() { freespace.Halves(host) })
	}
	require.Panics(t, func() { freespace.Ancestor(pfx("10.0.0.0/8"), 9) })
	require.Panics(t, func() { freespace.Ancestor(pfx("10.0.0.0/8"), -1) })
	require.Panics(t, func() { freespace.Sub(pfx("10.0.0.0/8"), 7, [16]byte{}) })
	require.Panics(t, func() { freespace.Sub(pfx("10.0.0.0/8"), 33, [16]byte{}) })
	require.Panics(t, func() { freespace.Sub(netip.Prefix{}, 0, [16]byte{}) })
}

func TestContainsIsFalseAcrossFamilies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		outer, inner netip.Prefix
		contains     bool
	}{
		{pfx("0.0.0.0/0"), pfx("0.0.0.0/0"), true},
		{pfx("0.0.0.0/0"), pfx("255.255.255.255/32"), true},
		{pfx("10.0.0.0/8"), pfx("10.255.0.0/16"), true},
		{pfx("10.0.0.0/8"), pfx("11.0.0.0/16"), false},
		{pfx("10.0.0.0/16"), pfx("10.0.0.0/8"), false},
		{pfx("::/0"), pfx("10.0.0.0/8"), false},
		{pfx("::/0"), pfx("::ffff:10.0.0.0/104"), true},
		{pfx("10.0.0.0/8"), pfx("::ffff:10.0.0.0/104"), false},
		{pfx("::/0"), pfx(lastIPv6 + "/128"), true},
		{pfx("::/0"), netip.Prefix{}, false},
		{netip.Prefix{}, pfx("::/0"), false},
		{netip.Prefix{}, netip.Prefix{}, false},
	} {
		require.Equal(t, c.contains, freespace.Contains(c.outer, c.inner), "%v in %v", c.inner, c.outer)
		require.Equal(t, c.contains || freespace.Contains(c.inner, c.outer), freespace.Overlaps(c.outer, c.inner))
	}
}

func TestFirstLastAndSizeOfABlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ block, first, last, size string }{
		{"0.0.0.0/0", "0.0.0.0", "255.255.255.255", "4294967296"},
		{"10.1.0.0/16", "10.1.0.0", "10.1.255.255", "65536"},
		{"255.255.255.255/32", "255.255.255.255", "255.255.255.255", "1"},
		{"::/0", "::", lastIPv6, "340282366920938463463374607431768211456"},
		{"2001:db8::/32", "2001:db8::", "2001:db8:ffff:ffff:ffff:ffff:ffff:ffff", "79228162514264337593543950336"},
		{"8000::/1", "8000::", lastIPv6, "170141183460469231731687303715884105728"},
		{"2001:db8::/64", "2001:db8::", "2001:db8::ffff:ffff:ffff:ffff", "18446744073709551616"},
		{lastIPv6 + "/128", lastIPv6, lastIPv6, "1"},
	} {
		require.Equal(t, ip(c.first), freespace.First(pfx(c.block)))
		require.Equal(t, ip(c.last), freespace.Last(pfx(c.block)))
		require.Equal(t, c.size, freespace.Size(pfx(c.block)).String())
	}
}

func TestCompareOrdersByFamilyAddressAndLength(t *testing.T) {
	t.Parallel()
	order := parse(t, "0.0.0.0/0 0.0.0.0/8 10.0.0.0/8 10.0.0.0/9 10.128.0.0/9 255.255.255.255/32 ::/0 ::/128 ::ffff:10.0.0.0/104 2001:db8::/32 8000::/1")
	for i, low := range order {
		require.Zero(t, freespace.Compare(low, low))
		for _, high := range order[i+1:] {
			require.Negative(t, freespace.Compare(low, high), "%v before %v", low, high)
			require.Positive(t, freespace.Compare(high, low), "%v before %v", low, high)
		}
	}
}

func TestNthStopsAtTheEndOfTheBlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		block string
		bits  int
		n     uint64
		want  string // "" for none
	}{
		{"0.0.0.0/0", 32, 1<<32 - 1, "255.255.255.255/32"},
		{"0.0.0.0/0", 32, 1 << 32, ""},
		{"0.0.0.0/0", 0, 0, "0.0.0.0/0"},
		{"0.0.0.0/0", 0, 1, ""},
		{"10.0.0.0/29", 32, 7, "10.0.0.7/32"},
		{"10.0.0.0/29", 32, 8, ""},
		{"10.0.0.0/8", 16, 255, "10.255.0.0/16"},
		{"10.0.0.0/8", 7, 0, ""},
		{"10.0.0.0/8", 33, 0, ""},
		{"::/0", 64, ^uint64(0), "ffff:ffff:ffff:ffff::/64"},
		{"::/0", 63, ^uint64(0), ""},
		{"::/0", 128, ^uint64(0), "::ffff:ffff:ffff:ffff/128"},
		{lastIPv6 + "/128", 128, 0, lastIPv6 + "/128"},
		{lastIPv6 + "/128", 128, 1, ""},
	} {
		got, ok := freespace.NthBlock(pfx(c.block), c.bits, c.n)
		require.Equal(t, c.want != "", ok, "%+v", c)
		if ok {
			require.Equal(t, pfx(c.want), got)
		}
	}
	last, ok := freespace.NthAddress(pfx("255.255.255.0/24"), 255)
	require.True(t, ok)
	require.Equal(t, ip("255.255.255.255"), last)
	_, ok = freespace.NthAddress(pfx("255.255.255.0/24"), 256)
	require.False(t, ok)
	_, ok = freespace.NthAddress(netip.Prefix{}, 0)
	require.False(t, ok)
}

func TestSubTakesTheBitsAtItsPosition(t *testing.T) {
	t.Parallel()
	random := [16]byte{0x11, 0x22, 0x33, 0x44, 0x55, 0x66, 0x77, 0x88, 0x99, 0xaa, 0xbb, 0xcc, 0xdd, 0xee, 0xff, 0x01}
	for _, c := range []struct {
		block string
		bits  int
		want  string
	}{
		{"0.0.0.0/0", 32, "17.34.51.68/32"},
		{"0.0.0.0/0", 0, "0.0.0.0/0"},
		{"10.0.0.0/8", 24, "10.34.51.0/24"},
		{"10.0.0.0/8", 28, "10.34.51.64/28"},
		{"10.0.0.0/8", 8, "10.0.0.0/8"},
		{"::/0", 128, "1122:3344:5566:7788:99aa:bbcc:ddee:ff01/128"},
		{"2001:db8::/32", 64, "2001:db8:5566:7788::/64"},
		{"2001:db8::/60", 68, "2001:db8:0:8:9000::/68"},
		{lastIPv6 + "/128", 128, lastIPv6 + "/128"},
	} {
		require.Equal(t, pfx(c.want), freespace.Sub(pfx(c.block), c.bits, random))
	}
}

func TestBlocksMatchCells(t *testing.T) {
	t.Parallel()
	inEachUniverse(t, func(t *rapid.T, u *universe) {
		one, two := drawSpan(t, "one"), drawSpan(t, "two")
		x, y := u.block(one), u.block(two)
		require.True(t, freespace.Canonical(x))
		inside := one.start <= two.start && two.start+two.count <= one.start+one.count
		require.Equal(t, inside, freespace.Contains(x, y))
		var c cells
		c.set(one, true)
		require.Equal(t, !c.all(two, false), freespace.Overlaps(x, y))
		require.Equal(t, big.NewInt(int64(one.count)), new(big.Int).Div(freespace.Size(x), freespace.Size(u.block(span{0, 1}))))
		if one.count < 256 {
			require.Equal(t, u.block(span{one.start &^ one.count, 2 * one.count}), freespace.Parent(x))
			require.Equal(t, u.block(span{one.start ^ one.count, one.count}), freespace.Buddy(x))
		}
		nth, ok := freespace.NthBlock(u.container, x.Bits(), uint64(one.start/one.count))
		require.True(t, ok)
		require.Equal(t, x, nth)
	})
}
