package ipam_test

import (
	"net/netip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestClaimSpecCheck(t *testing.T) {
	t.Parallel()
	n := func(i int) *int { return &i }
	pool := ipam.Ref{Project: "acme", Name: "net"}
	for _, c := range []struct {
		name   string
		change func(*ipam.ClaimSpec)
		code   ipam.Code
		want   string // the refused field; "": none
	}{
		{"ByPool", func(*ipam.ClaimSpec) {}, "", ""},
		{"BySelector", func(s *ipam.ClaimSpec) { s.PoolRef, s.PoolSelector = ipam.Ref{}, &ipam.Selector{} }, "", ""},
		{"ByAllocation", func(s *ipam.ClaimSpec) { s.PoolRef, s.AllocationRef = ipam.Ref{}, "x" }, "", ""},
		{"ByClass", func(s *ipam.ClaimSpec) { s.PoolRef, s.ClassName = ipam.Ref{}, "std" }, "", ""},
		{"ByTheDefaultClass", func(s *ipam.ClaimSpec) { s.PoolRef = ipam.Ref{} }, "", ""},
		{"ByClassAndPool", func(s *ipam.ClaimSpec) { s.ClassName = "std" }, ipam.CodeInvalidArgument, "/spec"},
		{"ByClassAndSelector", func(s *ipam.ClaimSpec) {
			s.PoolRef, s.ClassName, s.PoolSelector = ipam.Ref{}, "std", &ipam.Selector{}
		}, ipam.CodeInvalidArgument, "/spec"},
		{"ByClassAndAllocation", func(s *ipam.ClaimSpec) {
			s.PoolRef, s.ClassName, s.AllocationRef = ipam.Ref{}, "std", "x"
		}, ipam.CodeInvalidArgument, "/spec"},
		{"ByNoClassName", func(s *ipam.ClaimSpec) { s.PoolRef, s.ClassName = ipam.Ref{}, "platform/std" }, ipam.CodeInvalidArgument, "/spec/className"},
		{"Scope", func(s *ipam.ClaimSpec) {
			s.PoolRef, s.ClassName, s.Scope = ipam.Ref{}, "std", map[string]string{"cluster": "a", "Zone_1.x": ""}
		}, "", ""},
		{"MostOfAScope", func(s *ipam.ClaimSpec) { s.Scope = numbered(8) }, "", ""},
		{"TooMuchOfAScope", func(s *ipam.ClaimSpec) { s.Scope = numbered(9) }, ipam.CodeInvalidArgument, "/spec/scope"},
		{"OddRole", func(s *ipam.ClaimSpec) { s.Scope = map[string]string{"example.com/a": "b"} }, ipam.CodeInvalidArgument, "/spec/scope"},
		{"AmbiguousRole", func(s *ipam.ClaimSpec) { s.Scope = map[string]string{"a=b,c": "d"} }, ipam.CodeInvalidArgument, "/spec/scope"},
		{"OddScope", func(s *ipam.ClaimSpec) { s.Scope = map[string]string{"cluster": "a,b=c"} }, ipam.CodeInvalidArgument, "/spec/scope/cluster"},
		{"ByTwo", func(s *ipam.ClaimSpec) { s.PoolSelector = &ipam.Selector{} }, ipam.CodeInvalidArgument, "/spec"},
		{"ByThree", func(s *ipam.ClaimSpec) { s.PoolSelector, s.AllocationRef = &ipam.Selector{}, "x" }, ipam.CodeInvalidArgument, "/spec"},
		{"BadSelector", func(s *ipam.ClaimSpec) {
			s.PoolRef, s.PoolSelector = ipam.Ref{}, &ipam.Selector{MatchExpressions: []ipam.Requirement{{Key: "a", Operator: "x"}}}
		}, ipam.CodeInvalidArgument, "/spec/poolSelector/matchExpressions/0/operator"},
		{"Length", func(s *ipam.ClaimSpec) { s.PrefixLength = n(0) }, "", ""},
		{"LongestLength", func(s *ipam.ClaimSpec) { s.PrefixLength = n(128) }, "", ""},
		{"NegativeLength", func(s *ipam.ClaimSpec) { s.PrefixLength = n(-1) }, ipam.CodeInvalidArgument, "/spec/prefixLength"},
		{"LengthOfNothing", func(s *ipam.ClaimSpec) { s.PrefixLength = n(129) }, ipam.CodeInvalidArgument, "/spec/prefixLength"},
		{"LengthOfTheOtherFamily", func(s *ipam.ClaimSpec) { s.PrefixLength, s.Family = n(33), ipam.IPv4 }, ipam.CodeInvalidArgument, "/spec/prefixLength"},
		{"LengthOfItsFamily", func(s *ipam.ClaimSpec) { s.PrefixLength, s.Family = n(33), ipam.IPv6 }, "", ""},
		{"LengthOfIPv6ByTheDefaultClass", func(s *ipam.ClaimSpec) { s.PoolRef, s.PrefixLength = ipam.Ref{}, n(64) }, ipam.CodeInvalidArgument, "/spec/prefixLength"},
		{"LengthOfIPv6ByItsDefaultClass", func(s *ipam.ClaimSpec) {
			s.PoolRef, s.PrefixLength, s.Family = ipam.Ref{}, n(64), ipam.IPv6
		}, "", ""},
		{"LengthOfABlockByTheDefaultClass", func(s *ipam.ClaimSpec) {
			s.PoolRef, s.PrefixLength, s.CIDR = ipam.Ref{}, n(64), block("2001:db8::/64")
		}, "", ""},
		{"LengthOfIPv6ByANamedClass", func(s *ipam.ClaimSpec) { s.PoolRef, s.ClassName, s.PrefixLength = ipam.Ref{}, "six", n(64) }, "", ""},
		{"NoFamily", func(s *ipam.ClaimSpec) { s.Family = "ipv4" }, ipam.CodeInvalidArgument, "/spec/ipFamily"},
		{"Block", func(s *ipam.ClaimSpec) { s.CIDR = block("10.0.0.0/24") }, "", ""},
		{"BlockWithItsLength", func(s *ipam.ClaimSpec) { s.CIDR, s.PrefixLength = block("10.0.0.0/24"), n(24) }, "", ""},
		{"BlockWithAnotherLength", func(s *ipam.ClaimSpec) { s.CIDR, s.PrefixLength = block("10.0.0.0/24"), n(25) }, ipam.CodeInvalidArgument, "/spec/prefixLength"},
		{"BlockOfItsFamily", func(s *ipam.ClaimSpec) { s.CIDR, s.Family = block("2001:db8::/64"), ipam.IPv6 }, "", ""},
		{"BlockOfTheOtherFamily", func(s *ipam.ClaimSpec) { s.CIDR, s.Family = block("10.0.0.0/24"), ipam.IPv6 }, ipam.CodeFamilyMismatch, "/spec/ipFamily"},
		{"Address", func(s *ipam.ClaimSpec) { s.Address = netip.MustParseAddr("10.0.0.1") }, "", ""},
		{"AddressWithItsLength", func(s *ipam.ClaimSpec) { s.Address, s.PrefixLength = netip.MustParseAddr("10.0.0.1"), n(32) }, "", ""},
		{"AddressWithAnotherLength", func(s *ipam.ClaimSpec) { s.Address, s.PrefixLength = netip.MustParseAddr("::1"), n(32) }, ipam.CodeInvalidArgument, "/spec/prefixLength"},
		{"BlockAndAddress", func(s *ipam.ClaimSpec) {
			s.CIDR, s.Address = block("10.0.0.1/32"), netip.MustParseAddr("10.0.0.1")
		}, ipam.CodeInvalidArgument, "/spec"},
		{"PolicyOfTheClass", func(s *ipam.ClaimSpec) { s.ReclaimPolicy = "" }, "", ""},
		{"AnotherPolicy", func(s *ipam.ClaimSpec) { s.ReclaimPolicy = "Recycle" }, ipam.CodeInvalidArgument, "/spec/reclaimPolicy"},
		{"Retain", func(s *ipam.ClaimSpec) { s.ReclaimPolicy = ipam.ReclaimRetain }, "", ""},
		{"AllocationWithLength", func(s *ipam.ClaimSpec) { s.PoolRef, s.AllocationRef, s.PrefixLength = ipam.Ref{}, "x", n(24) }, ipam.CodeInvalidArgument, "/spec"},
		{"AllocationWithFamily", func(s *ipam.ClaimSpec) { s.PoolRef, s.AllocationRef, s.Family = ipam.Ref{}, "x", ipam.IPv4 }, ipam.CodeInvalidArgument, "/spec"},
		{"AllocationWithBlock", func(s *ipam.ClaimSpec) { s.PoolRef, s.AllocationRef, s.CIDR = ipam.Ref{}, "x", block("10.0.0.0/24") }, ipam.CodeInvalidArgument, "/spec"},
		{"Owner", func(s *ipam.ClaimSpec) { s.OwnerRef = &ipam.OwnerRef{Kind: "VM", Name: "web 1", UID: "ü"} }, "", ""},
		{"OwnerWithLines", func(s *ipam.ClaimSpec) { s.OwnerRef = &ipam.OwnerRef{Name: "a\nb"} }, ipam.CodeInvalidArgument, "/spec/ownerRef/name"},
		{"LongOwner", func(s *ipam.ClaimSpec) { s.OwnerRef = &ipam.OwnerRef{Kind: strings.Repeat("x", 129)} }, ipam.CodeInvalidArgument, "/spec/ownerRef/kind"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := ipam.ClaimSpec{PoolRef: pool, ReclaimPolicy: ipam.ReclaimDelete}
			c.change(&s)
			if err := s.Check(); c.want == "" {
				require.NoError(t, err)
			} else {
				require.Equal(t, c.want, pointer(t, err, c.code))
			}
		})
	}
}

func TestExactCIDROfAClaim(t *testing.T) {
	t.Parallel()
	require.False(t, ipam.ClaimSpec{}.Exact().IsValid())
	require.Equal(t, block("10.0.0.0/24"), ipam.ClaimSpec{CIDR: block("10.0.0.0/24")}.Exact())
	require.Equal(t, block("2001:db8::1/128"), ipam.ClaimSpec{Address: netip.MustParseAddr("2001:db8::1")}.Exact())
	require.Equal(t, "acme/c", ipam.Claim{Metadata: ipam.Metadata{Name: "c", Project: "acme"}}.Ref().String())
}

func TestProjectAndSpaceSpecCheck(t *testing.T) {
	t.Parallel()
	require.NoError(t, ipam.ProjectSpec{DisplayName: "Größe", Description: "two\nlines"}.Check())
	require.Equal(t, "/spec/displayName", pointer(t, ipam.ProjectSpec{DisplayName: "two\nlines"}.Check(), ipam.CodeInvalidArgument))
	require.Equal(t, "/spec/description", pointer(t, ipam.ProjectSpec{Description: "\xff"}.Check(), ipam.CodeInvalidArgument))
	require.NoError(t, ipam.SpaceSpec{Description: "two\nlines"}.Check())
	require.Equal(t, "/spec/description", pointer(t, ipam.SpaceSpec{Description: "\x00"}.Check(), ipam.CodeInvalidArgument))
}

func TestClaimSpecSelectsTheDefaultClassFamily(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		spec    ipam.ClaimSpec
		byClass bool
		family  ipam.Family
	}{
		"Nothing":      {ipam.ClaimSpec{}, true, ipam.IPv4},
		"Family":       {ipam.ClaimSpec{Family: ipam.IPv6}, true, ipam.IPv6},
		"Block":        {ipam.ClaimSpec{CIDR: block("2001:db8::/64")}, true, ipam.IPv6},
		"Address":      {ipam.ClaimSpec{Address: netip.MustParseAddr("2001:db8::1")}, true, ipam.IPv6},
		"BlockOfIPv4":  {ipam.ClaimSpec{CIDR: block("10.0.0.0/24")}, true, ipam.IPv4},
		"ByName":       {ipam.ClaimSpec{ClassName: "std"}, true, ipam.IPv4},
		"ByPool":       {ipam.ClaimSpec{PoolRef: ipam.Ref{Project: "acme", Name: "net"}}, false, ipam.IPv4},
		"BySelector":   {ipam.ClaimSpec{PoolSelector: &ipam.Selector{}}, false, ipam.IPv4},
		"ByAllocation": {ipam.ClaimSpec{AllocationRef: "x"}, false, ipam.IPv4},
	} {
		require.Equal(t, c.byClass, c.spec.ByClass(), name)
		require.Equal(t, c.family, c.spec.WantedFamily(), name)
	}
}
