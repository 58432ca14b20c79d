package ipam_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestParseBlock(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{
		"10.0.0.0/8": "10.0.0.0/8", "0.0.0.0/0": "0.0.0.0/0", "192.0.2.1/32": "192.0.2.1/32", "::/0": "::/0", "2001:DB8::/32": "2001:db8::/32",
		"2001:db8:0:0:0:0:0:1/128": "2001:db8::1/128", "::1.2.3.4/128": "::102:304/128",
	} {
		got, err := ipam.ParseBlock("/x", s)
		require.NoError(t, err, s)
		require.Equal(t, want, got.String())
	}
	for _, bad := range []string{
		"", "10.0.0.0", "10.0.0.0/", "10.0.0.0/33", "10.0.0.0/-1", "10.0.0.0/08", "10.0.0.0/+8", "10.0.0/8", "10.0.0.00/8", "256.0.0.0/8", "10.0.0.0/8 ",
		" 10.0.0.0/8", "10.0.0.0/8/8", "2001:db8::/129", "2001:db8::1::/64", "fe80::%eth0/64", "::ffff:10.0.0.0/104", "::ffff:0:0/96", "x/8", "/8",
		"10.0.0.1/8", "2001:db8::1/64", "10.0.0.0/8\n", "１０.0.0.0/8",
	} {
		got, err := ipam.ParseBlock("/x", bad)
		require.Equal(t, "/x", pointer(t, err, ipam.CodeInvalidArgument), bad)
		require.False(t, got.IsValid())
	}
	for bad, works := range map[string]string{
		"10.1.2.3/8": "10.0.0.0/8", "::ffff:10.0.0.0/104": "write it as IPv4: 10.0.0.0/8", "::ffff:0:0/96": "write it as IPv4: 0.0.0.0/0",
		"::ffff:10.0.0.1/128": "write it as IPv4: 10.0.0.1/32", "::ffff:10.0.0.1/104": "write it as IPv4: 10.0.0.0/8", "::ffff:0:0/95": "write the IPv4 block, such as 0.0.0.0/8", "::ffff:10.0.0.0/90": "write the IPv4 block, such as 10.0.0.0/8",
		"010.001.002.000/24": "numbers with leading zeros, which some programs read as octal; write 10.1.2.0/24", "10.0.0.0/024": "zeros or signs before it; write 10.0.0.0/24",
		"10.0.0.0/+8": "write 10.0.0.0/8", "10.0.0.0/255.255.255.0": "has a mask instead of a length; write 10.0.0.0/24", "10.0.0.7/255.255.255.0": "write 10.0.0.0/24", "10.0.0.0/255.0.255.0": "a mask that is not a prefix length",
		"fe80::%eth0/64": "has a zone, which names an interface of one machine; write fe80::/64", "10.0.0.0/24 ": "has blanks around it; write 10.0.0.0/24", "10.0.0.0": "write 10.0.0.0/32", "10.0.0.0/33": "write 10.0.0.0/32",
		"10.0.0.0/": "has no length; write 10.0.0.0/32", "2001:db8::/129": "write 2001:db8::/128", "x/8": "is not a CIDR such as 10.0.0.0/8",
	} {
		_, err := ipam.ParseBlock("/x", bad)
		require.ErrorContains(t, err, works, "what would have worked")
	}
}

func TestParseAddress(t *testing.T) {
	t.Parallel()
	for s, want := range map[string]string{"10.0.0.1": "10.0.0.1", "0.0.0.0": "0.0.0.0", "2001:DB8::1": "2001:db8::1", "::": "::"} {
		got, err := ipam.ParseAddress("/x", s)
		require.NoError(t, err, s)
		require.Equal(t, want, got.String())
	}
	for _, bad := range []string{"", "10.0.0", "10.0.0.256", "10.0.0.01", "10.0.0.1/32", "fe80::1%eth0", "::ffff:10.0.0.1", "localhost", "10.0.0.1 "} {
		got, err := ipam.ParseAddress("/x", bad)
		require.Equal(t, "/x", pointer(t, err, ipam.CodeInvalidArgument), bad)
		require.False(t, got.IsValid())
	}
}

func TestRefusedAddressesNameARemedy(t *testing.T) {
	t.Parallel()
	for bad, works := range map[string]string{
		"010.009.003.077": "write 10.9.3.77", "fe80::1%eth0": "has a zone, which names an interface of one machine; write fe80::1", "10.0.0.1/32": "write 10.0.0.1",
		"10.0.0.1 ": "has blanks around it; write 10.0.0.1", "localhost": "is not an IP address such as 10.0.0.1",
	} {
		_, err := ipam.ParseAddress("/x", bad)
		require.ErrorContains(t, err, works)
	}
}

func TestPoolBlocksExcludeIPv4MappedAddresses(t *testing.T) {
	t.Parallel()
	for _, bad := range []string{"::/0", "::/1", "::/80", "::8000:0:0/81", "::fffe:0:0/95", "::ffff:0:0/96", "::ffff:a00:0/104"} {
		err := ipam.CheckPoolBlock("/spec/cidr", netip.MustParsePrefix(bad))
		require.Equal(t, "/spec/cidr", pointer(t, err, ipam.CodeInvalidArgument), bad)
		require.ErrorContains(t, err, "::ffff:0:0/96")
	}
	for _, good := range []string{"0.0.0.0/0", "8000::/1", "2000::/3", "fc00::/7", "::/81", "::fffe:0:0/96", "0:0:0:1::/64", "64:ff9b::/96"} {
		require.NoError(t, ipam.CheckPoolBlock("/spec/cidr", netip.MustParsePrefix(good)), good)
	}
}

func TestParsedBlocksAreCanonical(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		var addr netip.Addr
		if rapid.Bool().Draw(t, "v4") {
			addr = netip.AddrFrom4([4]byte(rapid.SliceOfN(rapid.Byte(), 4, 4).Draw(t, "address")))
		} else {
			addr = netip.AddrFrom16([16]byte(rapid.SliceOfN(rapid.Byte(), 16, 16).Draw(t, "address")))
		}
		p := netip.PrefixFrom(addr, rapid.IntRange(0, addr.BitLen()).Draw(t, "length"))
		got, err := ipam.ParseBlock("/x", p.String())
		if p.Masked() != p || addr.Is4In6() {
			require.Error(t, err)
			return
		}
		require.NoError(t, err)
		require.Equal(t, p, got)
	})
}

func TestFamilies(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		family ipam.Family
		addr   string
		bits   int
		all    string
	}{{ipam.IPv4, "10.0.0.1", 32, "0.0.0.0/0"}, {ipam.IPv6, "2001:db8::1", 128, "::/0"}} {
		a := netip.MustParseAddr(c.addr)
		require.Equal(t, c.family, ipam.FamilyOf(a))
		require.Equal(t, c.bits, c.family.Bits())
		require.Equal(t, c.all, c.family.Everything().String())
		require.Equal(t, netip.PrefixFrom(a, c.bits), ipam.HostBlock(a))
		s := ipam.Space{ContainerV4: ipam.ID{4}, ContainerV6: ipam.ID{6}}
		require.Equal(t, ipam.ID{map[int]byte{32: 4, 128: 6}[c.bits]}, s.Container(c.family))
	}
}
