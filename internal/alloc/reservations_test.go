package alloc_test

import (
	"net/netip"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func reserveCIDR(cidr, reason string) ipam.Reservation {
	return ipam.Reservation{CIDR: block(cidr), Reason: reason}
}

func reserveRange(from, to, reason string) ipam.Reservation {
	return ipam.Reservation{From: address(from), To: address(to), Reason: reason}
}

// held returns the blocks of a pool that are held for a purpose, and the reason of each block.
func (b *bundle) held(t testing.TB, pool string, purpose ipam.Purpose) map[string]string {
	t.Helper()
	page, err := b.ListAllocations(b.ctx, project, paging.Filter{Pool: ref(pool), Purpose: purpose}, 500, "", usecase.Reading{})
	require.NoError(t, err)
	require.Empty(t, page.Next)
	out := map[string]string{}
	for _, a := range page.Items {
		require.Equal(t, purpose, a.Purpose)
		out[a.Block.String()] = a.Reason
	}
	return out
}

func TestReservationWithholdsPartOfAPool(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, pool  string
		reservation ipam.Reservation
		blocks      []string
		available   string
	}{
		{"CIDR", "10.0.0.0/24", reserveCIDR("10.0.0.64/26", ""), []string{"10.0.0.64/26"}, "192"},
		{"WholePool", "10.0.0.0/24", reserveCIDR("10.0.0.0/24", ""), []string{"10.0.0.0/24"}, "0"},
		{"OneAddress", "10.0.0.0/24", reserveCIDR("10.0.0.255/32", ""), []string{"10.0.0.255/32"}, "255"},
		{"AlignedRange", "10.0.0.0/24", reserveRange("10.0.0.128", "10.0.0.255", ""), []string{"10.0.0.128/25"}, "128"},
		{
			"RangeThatIsNotAligned", "10.0.0.0/24", reserveRange("10.0.0.1", "10.0.0.6", ""),
			[]string{"10.0.0.1/32", "10.0.0.2/31", "10.0.0.4/31", "10.0.0.6/32"}, "250",
		},
		{"RangeOfOne", "10.0.0.0/24", reserveRange("10.0.0.9", "10.0.0.9", ""), []string{"10.0.0.9/32"}, "255"},
		{"RangeOfEverything", "10.0.0.0/24", reserveRange("10.0.0.0", "10.0.0.255", ""), []string{"10.0.0.0/24"}, "0"},
		{"First", "10.0.0.0/24", ipam.Reservation{First: 5}, []string{"10.0.0.0/30", "10.0.0.4/32"}, "251"},
		{"FirstOne", "10.0.0.0/24", ipam.Reservation{First: 1}, []string{"10.0.0.0/32"}, "255"},
		{"FirstAll", "10.0.0.0/24", ipam.Reservation{First: 256}, []string{"10.0.0.0/24"}, "0"},
		{"Last", "10.0.0.0/24", ipam.Reservation{Last: 5}, []string{"10.0.0.251/32", "10.0.0.252/30"}, "251"},
		{"LastAddressOfTheFamily", "255.255.255.0/24", ipam.Reservation{Last: 1}, []string{"255.255.255.255/32"}, "255"},
		{"FirstAddressOfTheFamily", "0.0.0.0/0", ipam.Reservation{First: 1}, []string{"0.0.0.0/32"}, "4294967295"},
		{
			"FirstOfIPv6", "2001:db8::/32", ipam.Reservation{First: 3}, []string{"2001:db8::/127", "2001:db8::2/128"},
			"79228162514264337593543950333",
		},
		{
			"LastOfIPv6", "2001:db8::/32", ipam.Reservation{Last: 65536}, []string{"2001:db8:ffff:ffff:ffff:ffff:ffff:0/112"},
			"79228162514264337593543884800",
		},
		{
			"RangeOfIPv6", "2001:db8::/64", reserveRange("2001:db8::ffff:ffff:ffff:fffe", "2001:db8::ffff:ffff:ffff:ffff", ""),
			[]string{"2001:db8::ffff:ffff:ffff:fffe/127"}, "18446744073709551614",
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			c.reservation.Reason = "because"
			b.pool(t, root("net", c.pool, reserving(c.reservation)))
			want := map[string]string{}
			for _, s := range c.blocks {
				want[s] = "because"
			}
			require.Equal(t, want, b.held(t, "net", ipam.PurposeReservation))
			require.Equal(t, c.available, b.available(t, "net"))
			for _, s := range c.blocks {
				refusal := b.refuseClaim(t, claimOf("reserved", "net", exactly(s)), ipam.CodeBlockTaken)
				require.NotEmpty(t, refusal.Fields)
			}
		})
	}
}

func TestReservationsOfAChildAffectOnlyTheChild(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.pool(t, child("sub", "net", 28, reserving(ipam.Reservation{First: 1, Reason: "router"}, ipam.Reservation{Last: 1})))
	require.Equal(t, "240", b.available(t, "net"))
	require.Equal(t, "14", b.available(t, "sub"))
	for i := range 14 {
		got := b.claim(t, claim("host"+string(rune('a'+i)), "sub", 32))
		require.NotContains(t, []string{"10.0.0.0/32", "10.0.0.15/32"}, got.Block.String())
	}
	b.refuseClaim(t, claim("more", "sub", 32), ipam.CodePoolExhausted)
}

func TestInvalidReservationIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for _, c := range []struct {
		name         string
		reservations []ipam.Reservation
		pointer      string
	}{
		{"OutsideThePool", []ipam.Reservation{reserveCIDR("10.0.1.0/24", "")}, "/spec/reservations/0/cidr"},
		{"LargerThanThePool", []ipam.Reservation{reserveCIDR("10.0.0.0/23", "")}, "/spec/reservations/0/cidr"},
		{"RangeBeginsOutside", []ipam.Reservation{reserveRange("9.255.255.255", "10.0.0.1", "")}, "/spec/reservations/0/from"},
		{"RangeEndsOutside", []ipam.Reservation{reserveRange("10.0.0.1", "10.0.1.0", "")}, "/spec/reservations/0/to"},
		{"RangeBackwards", []ipam.Reservation{reserveRange("10.0.0.2", "10.0.0.1", "")}, "/spec/reservations/0/to"},
		{"FromAlone", []ipam.Reservation{{From: address("10.0.0.1")}}, "/spec/reservations/0"},
		{"ToAlone", []ipam.Reservation{{To: address("10.0.0.1")}}, "/spec/reservations/0"},
		{"Nothing", []ipam.Reservation{{Reason: "?"}}, "/spec/reservations/0"},
		{"TwoWaysAtOnce", []ipam.Reservation{{First: 1, Last: 1}}, "/spec/reservations/0"},
		{"NegativeFirst", []ipam.Reservation{{First: -1}}, "/spec/reservations/0/first"},
		{"MoreThanThePoolHas", []ipam.Reservation{{Last: 257}}, "/spec/reservations/0/last"},
		{"MoreThanAllowed", []ipam.Reservation{{Last: 65537}}, "/spec/reservations/0/last"},
		{"OverlapWithAnother", []ipam.Reservation{{First: 8}, reserveCIDR("10.0.0.4/30", "")}, "/spec/reservations/1"},
		{"SameTwice", []ipam.Reservation{reserveCIDR("10.0.0.4/30", ""), reserveCIDR("10.0.0.4/30", "")}, "/spec/reservations/1"},
		{"ControlCharacterInReason", []ipam.Reservation{{First: 1, Reason: "a\x00b"}}, "/spec/reservations/0/reason"},
		{"TooMany", make([]ipam.Reservation, ipam.MaxReservations+1), "/spec/reservations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := b.CreatePool(b.ctx, project, root("net", "10.0.0.0/24", reserving(c.reservations...)), usecase.Request{})
			require.Equal(t, c.pointer, refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
		})
	}
}

func TestReservationOfTheOtherFamilyIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for pointer, r := range map[string]ipam.Reservation{
		"/spec/reservations/0/cidr": reserveCIDR("2001:db8::/64", ""),
		"/spec/reservations/0/from": reserveRange("2001:db8::", "2001:db8::1", ""),
		"/spec/reservations/0/to":   reserveRange("10.0.0.2", "2001:db8::", ""),
	} {
		_, err := b.CreatePool(b.ctx, project, root("net", "10.0.0.0/24", reserving(r)), usecase.Request{})
		require.Equal(t, pointer, refused(t, err, ipam.CodeFamilyMismatch).Fields[0].Pointer)
	}
}

func TestReservationsOfTooManyBlocksAreRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	// In an IPv6 /64, the range from the second to the second last address has 126 aligned blocks. No other range has more. The test has 17 such
	// ranges.
	var list []ipam.Reservation
	addr := netip.MustParsePrefix("2001:db8::/48")
	for i := range 17 {
		bytes := addr.Addr().As16()
		bytes[7] = byte(i)
		from := bytes
		from[15] = 1
		to := bytes
		for j := 8; j < 16; j++ {
			to[j] = 0xff
		}
		to[15] = 0xfe
		list = append(list, ipam.Reservation{From: netip.AddrFrom16(from), To: netip.AddrFrom16(to)})
	}
	_, err := b.CreatePool(b.ctx, project, root("net", "2001:db8::/48", reserving(list...)), usecase.Request{})
	require.Equal(t, "/spec/reservations", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
	made := b.pool(t, root("net", "2001:db8::/48", reserving(list[:16]...)))
	require.Len(t, made.Spec.Reservations, 16)
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}), "and they go with their pool")
}
