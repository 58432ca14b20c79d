package ipam_test

import (
	"maps"
	"math"
	"math/big"
	"net/netip"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func block(s string) netip.Prefix { return netip.MustParsePrefix(s) }

func TestStockIsExact(t *testing.T) {
	t.Parallel()
	all6 := new(big.Int).Lsh(big.NewInt(1), 128)
	for _, c := range []struct {
		name      string
		free      map[int]int64
		width     int
		available string
		largest   int
	}{
		{"Nothing", nil, 32, "0", -1},
		{"NothingOfALength", map[int]int64{24: 0}, 32, "0", -1},
		{"Mixed", map[int]int64{24: 2, 32: 3, 16: 0}, 32, "515", 24},
		{"AllOfIPv4", map[int]int64{0: 1}, 32, "4294967296", 0},
		{"AllOfIPv6", map[int]int64{0: 1}, 128, all6.String(), 0},
		{"ManyOfIPv6", map[int]int64{64: math.MaxInt64, 128: 1}, 128, "170141183460469231713240559642174554113", 64},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := ipam.Stock{Free: c.free}
			require.Equal(t, c.available, s.Available(c.width).String())
			largest, ok := s.LargestFree()
			require.Equal(t, c.largest >= 0, ok)
			p := ipam.Pool{Stock: s}
			if ok {
				require.Equal(t, c.largest, largest)
				require.Equal(t, "Ready", p.Phase())
			} else {
				require.Equal(t, "Exhausted", p.Phase())
			}
		})
	}
}

func TestPoolFamilyReferenceAndRoot(t *testing.T) {
	t.Parallel()
	p := ipam.Pool{Metadata: ipam.Metadata{Name: "net", Project: "acme"}, Block: block("2001:db8::/32")}
	require.Equal(t, ipam.IPv6, p.Family())
	require.Equal(t, "acme/net", p.Ref().String())
	require.True(t, p.Root())
	p.Spec.Parent = ipam.Ref{Project: "acme", Name: "parent"}
	require.False(t, p.Root())
}

func valid(change func(*ipam.PoolSpec)) ipam.PoolSpec {
	s := ipam.PoolSpec{CIDR: block("10.0.0.0/8"), Visibility: ipam.VisibilityConsumer}
	change(&s)
	return s
}

func TestPoolSpecCheck(t *testing.T) {
	t.Parallel()
	n := func(i int) *int { return &i }
	parent := ipam.Ref{Project: "acme", Name: "net"}
	for _, c := range []struct {
		name   string
		change func(*ipam.PoolSpec)
		want   string // the refused field; "": none
	}{
		{"Root", func(*ipam.PoolSpec) {}, ""},
		{"RootInASpace", func(s *ipam.PoolSpec) { s.Space = parent }, ""},
		{"RootWithoutBlock", func(s *ipam.PoolSpec) { s.CIDR = netip.Prefix{} }, "/spec"},
		{"RootWithLength", func(s *ipam.PoolSpec) { s.PrefixLength = n(9) }, "/spec/prefixLength"},
		{"ChildByBlock", func(s *ipam.PoolSpec) { s.Parent = parent }, ""},
		{"ChildByLength", func(s *ipam.PoolSpec) { s.Parent, s.CIDR, s.PrefixLength = parent, netip.Prefix{}, n(0) }, ""},
		{"ChildByBoth", func(s *ipam.PoolSpec) { s.Parent, s.PrefixLength = parent, n(9) }, "/spec"},
		{"ChildByNeither", func(s *ipam.PoolSpec) { s.Parent, s.CIDR = parent, netip.Prefix{} }, "/spec"},
		{"ChildInASpace", func(s *ipam.PoolSpec) { s.Parent, s.Space = parent, parent }, "/spec/spaceRef"},
		{"NegativeLength", func(s *ipam.PoolSpec) { s.Parent, s.CIDR, s.PrefixLength = parent, netip.Prefix{}, n(-1) }, "/spec/prefixLength"},
		{"LengthOfNothing", func(s *ipam.PoolSpec) { s.Parent, s.CIDR, s.PrefixLength = parent, netip.Prefix{}, n(129) }, "/spec/prefixLength"},
		{"NoVisibility", func(s *ipam.PoolSpec) { s.Visibility = "" }, "/spec/visibility"},
		{"LongDescription", func(s *ipam.PoolSpec) { s.Description = strings.Repeat("x", ipam.MaxDescription+1) }, "/spec/description"},
		{"MostReservations", func(s *ipam.PoolSpec) { s.Reservations = make([]ipam.Reservation, ipam.MaxReservations) }, ""},
		{"ClassNames", func(s *ipam.PoolSpec) { s.ClassNames = []string{"std", "big"} }, ""},
		{"MostClassNames", func(s *ipam.PoolSpec) { s.ClassNames = slices.Collect(maps.Keys(numbered(32))) }, ""},
		{"TooManyClassNames", func(s *ipam.PoolSpec) { s.ClassNames = slices.Collect(maps.Keys(numbered(33))) }, "/spec/classNames"},
		{"ClassNameTwice", func(s *ipam.PoolSpec) { s.ClassNames = []string{"std", "big", "std"} }, "/spec/classNames/2"},
		{"OddClassName", func(s *ipam.PoolSpec) { s.ClassNames = []string{"std", "platform/big"} }, "/spec/classNames/1"},
		{"NoClassName", func(s *ipam.PoolSpec) { s.ClassNames = []string{""} }, "/spec/classNames/0"},
		{"ReuseAfter", func(s *ipam.PoolSpec) { s.ReuseAfter = new(72 * time.Hour) }, ""},
		{"ReuseAtOnce", func(s *ipam.PoolSpec) { s.ReuseAfter = new(time.Duration(0)) }, ""},
		{"ReuseAfterMoreThanAYear", func(s *ipam.PoolSpec) { s.ReuseAfter = new(8761 * time.Hour) }, "/spec/reuseAfter"},
		{"ReuseBefore", func(s *ipam.PoolSpec) { s.ReuseAfter = new(-time.Second) }, "/spec/reuseAfter"},
		{"TooManyReservations", func(s *ipam.PoolSpec) { s.Reservations = make([]ipam.Reservation, ipam.MaxReservations+1) }, "/spec/reservations"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			err := valid(c.change).Check()
			if c.want == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, c.want, pointer(t, err, ipam.CodeInvalidArgument))
		})
	}
}

func policy(lo, hi, standard int) ipam.Allocating {
	n := func(i int) *int {
		if i < 0 {
			return nil
		}
		return &i
	}
	return ipam.Allocating{Strategy: ipam.BestFit, MinPrefixLength: n(lo), MaxPrefixLength: n(hi), DefaultPrefixLength: n(standard)}
}

func TestAllocationPolicyIsCheckedAgainstTheBlock(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		block            string
		lo, hi, standard int
		min, max         int // the expected bounds
		want             string
	}{
		{"10.0.0.0/8", -1, -1, -1, 8, 32, ""},
		{"10.0.0.0/8", 8, 32, 8, 8, 32, ""},
		{"10.0.0.0/8", 16, 24, 20, 16, 24, ""},
		{"10.0.0.0/8", 24, 24, 24, 24, 24, ""},
		{"2001:db8::/32", -1, 64, 56, 32, 64, ""},
		{"10.0.0.1/32", -1, -1, 32, 32, 32, ""},
		{"10.0.0.0/8", 7, -1, -1, 8, 32, "/spec/allocation/minPrefixLength"},
		{"10.0.0.0/8", -1, 33, -1, 8, 32, "/spec/allocation/maxPrefixLength"},
		{"10.0.0.0/8", -1, -1, 64, 8, 32, "/spec/allocation/defaultPrefixLength"},
		{"10.0.0.0/8", 25, 24, -1, 25, 24, "/spec/allocation/minPrefixLength"},
		{"10.0.0.0/8", 16, 24, 15, 16, 24, "/spec/allocation/defaultPrefixLength"},
		{"10.0.0.0/8", 16, 24, 25, 16, 24, "/spec/allocation/defaultPrefixLength"},
	} {
		a := policy(c.lo, c.hi, c.standard)
		lo, hi := a.Bounds(block(c.block))
		require.Equal(t, [2]int{c.min, c.max}, [2]int{lo, hi}, "%+v", c)
		err := a.CheckFor(block(c.block))
		if c.want == "" {
			require.NoError(t, err, "%+v", c)
			continue
		}
		require.Equal(t, c.want, pointer(t, err, ipam.CodeInvalidArgument), "%+v", c)
	}
	a := policy(-1, -1, -1)
	a.Strategy = "Worst"
	require.Equal(t, "/spec/allocation/strategy", pointer(t, a.CheckFor(block("10.0.0.0/8")), ipam.CodeInvalidArgument))
}

func TestPoliciesAreComparedByValue(t *testing.T) {
	t.Parallel()
	require.True(t, policy(8, 24, 16).Equal(policy(8, 24, 16)))
	require.True(t, policy(-1, -1, -1).Equal(policy(-1, -1, -1)))
	for _, other := range []ipam.Allocating{policy(9, 24, 16), policy(8, 25, 16), policy(8, 24, 17), policy(-1, 24, 16), policy(8, -1, 16), policy(8, 24, -1)} {
		require.False(t, policy(8, 24, 16).Equal(other))
		require.False(t, other.Equal(policy(8, 24, 16)))
	}
	a := policy(8, 24, 16)
	a.Strategy = ipam.Sparse
	require.False(t, a.Equal(policy(8, 24, 16)))
}

func TestPoolAdmitsOnlyAllowedLengths(t *testing.T) {
	t.Parallel()
	p := ipam.Pool{Metadata: ipam.Metadata{Name: "net", Project: "acme"}, Block: block("10.0.0.0/20"), Spec: ipam.PoolSpec{Allocation: policy(22, 30, -1)}}
	for bits, code := range map[int]ipam.Code{
		22: "", 26: "", 30: "", 20: ipam.CodePrefixLengthRejected, 21: ipam.CodePrefixLengthRejected, 31: ipam.CodePrefixLengthRejected, 32: ipam.CodePrefixLengthRejected,
		19: ipam.CodeNeverSatisfiable, 0: ipam.CodeNeverSatisfiable, -1: ipam.CodeNeverSatisfiable, 33: ipam.CodeNeverSatisfiable, 128: ipam.CodeNeverSatisfiable,
	} {
		err := p.Admit("/x", bits)
		if code == "" {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, "/x", pointer(t, err, code), bits)
		var e *ipam.Error
		require.ErrorAs(t, err, &e)
		require.Equal(t, []int{bits, 22, 30}, []int{*e.Figures.WantedPrefixLength, *e.Figures.AllowedMin, *e.Figures.AllowedMax})
	}
	for s, code := range map[string]ipam.Code{
		"10.0.4.0/24": "", "10.0.15.252/30": "", "10.0.0.0/20": ipam.CodePrefixLengthRejected, "10.0.0.1/32": ipam.CodePrefixLengthRejected,
		"10.0.16.0/24": ipam.CodeNeverSatisfiable, "9.255.255.0/24": ipam.CodeNeverSatisfiable, "10.0.0.0/8": ipam.CodeNeverSatisfiable,
		"2001:db8::/64": ipam.CodeFamilyMismatch, "::/0": ipam.CodeFamilyMismatch,
	} {
		err := p.AdmitExact("/x", block(s))
		if code == "" {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, "/x", pointer(t, err, code), s)
	}
}
