package ipam_test

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestQuotaScopeCoversNamedPoolsAndClasses(t *testing.T) {
	t.Parallel()
	net, same, none := ipam.Ref{Project: "acme", Name: "net"}, ipam.Ref{Project: "other", Name: "net"}, ipam.Ref{}
	std, own := ipam.Ref{Project: "platform", Name: "std"}, ipam.Ref{Project: "acme", Name: "std"}
	at := func(pool, class ipam.Ref, f ipam.Family) ipam.QuotaSubject {
		return ipam.QuotaSubject{Pool: pool, Class: class, Family: f}
	}
	for name, c := range map[string]struct {
		scope ipam.QuotaScope
		at    ipam.QuotaSubject
		want  bool
	}{
		"Everything":               {ipam.QuotaScope{}, at(net, none, ipam.IPv4), true},
		"EverythingOfASpace":       {ipam.QuotaScope{}, at(none, none, ipam.IPv6), true},
		"EverythingByAClass":       {ipam.QuotaScope{}, at(net, std, ipam.IPv6), true},
		"ThePool":                  {ipam.QuotaScope{Pool: net}, at(net, none, ipam.IPv6), true},
		"ThePoolByAClass":          {ipam.QuotaScope{Pool: net}, at(net, std, ipam.IPv6), true},
		"AnotherProjectsPool":      {ipam.QuotaScope{Pool: net}, at(same, none, ipam.IPv4), false},
		"ASpaceIsNoPool":           {ipam.QuotaScope{Pool: net}, at(none, none, ipam.IPv4), false},
		"TheFamily":                {ipam.QuotaScope{Family: ipam.IPv4}, at(net, none, ipam.IPv4), true},
		"TheOtherFamily":           {ipam.QuotaScope{Family: ipam.IPv4}, at(net, none, ipam.IPv6), false},
		"Both":                     {ipam.QuotaScope{Pool: net, Family: ipam.IPv4}, at(net, none, ipam.IPv4), true},
		"ThePoolAlone":             {ipam.QuotaScope{Pool: net, Family: ipam.IPv4}, at(net, none, ipam.IPv6), false},
		"TheFamilyAlone":           {ipam.QuotaScope{Pool: net, Family: ipam.IPv4}, at(same, none, ipam.IPv4), false},
		"TheFamilyOfASpaceToo":     {ipam.QuotaScope{Family: ipam.IPv6}, at(none, none, ipam.IPv6), true},
		"TheFamilyInAnyProject":    {ipam.QuotaScope{Family: ipam.IPv6}, at(same, none, ipam.IPv6), true},
		"TheClass":                 {ipam.QuotaScope{Class: std}, at(net, std, ipam.IPv4), true},
		"TheClassInAnyPool":        {ipam.QuotaScope{Class: std}, at(same, std, ipam.IPv6), true},
		"AnotherClassOfTheName":    {ipam.QuotaScope{Class: std}, at(net, own, ipam.IPv4), false},
		"NoClass":                  {ipam.QuotaScope{Class: std}, at(net, none, ipam.IPv4), false},
		"TheClassInThePool":        {ipam.QuotaScope{Pool: net, Class: std}, at(net, std, ipam.IPv4), true},
		"TheClassInAnotherPool":    {ipam.QuotaScope{Pool: net, Class: std}, at(same, std, ipam.IPv4), false},
		"ThePoolByNoClass":         {ipam.QuotaScope{Pool: net, Class: std}, at(net, none, ipam.IPv4), false},
		"TheClassInTheOtherFamily": {ipam.QuotaScope{Class: std, Family: ipam.IPv4}, at(net, std, ipam.IPv6), false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, c.scope.Covers(c.at))
		})
	}
}

func anyUsage(t *rapid.T, name string) ipam.Usage {
	u := ipam.Usage{
		Claims: rapid.Int64Range(-1e12, 1e12).Draw(t, name+" claims"),
		Pools:  rapid.Int64Range(-1e12, 1e12).Draw(t, name+" pools"),
	}
	if rapid.Bool().Draw(t, name+" has addresses") {
		u.Addresses = new(big.Int).Lsh(big.NewInt(rapid.Int64().Draw(t, name+" addresses")), 66)
	}
	return u
}

func addresses(u ipam.Usage) string {
	if u.Addresses == nil {
		return "0"
	}
	return u.Addresses.String()
}

func TestUsageAdditionIsExact(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		a, b := anyUsage(t, "a"), anyUsage(t, "b")
		wasA, wasB := addresses(a), addresses(b)
		sum, mirror := a.Add(b), b.Add(a)
		require.Equal(t, sum.Addresses.String(), mirror.Addresses.String())
		require.Equal(t, []int64{a.Claims + b.Claims, a.Pools + b.Pools}, []int64{sum.Claims, sum.Pools})
		back := sum.Add(b.Negative())
		require.Equal(t, []any{wasA, a.Claims, a.Pools}, []any{addresses(back), back.Claims, back.Pools})
		require.True(t, a.Add(a.Negative()).IsZero())
		require.Equal(t, wasA == "0" && a.Claims == 0 && a.Pools == 0, a.IsZero())
		sum.Addresses.SetInt64(7)
		require.Equal(t, []string{wasA, wasB}, []string{addresses(a), addresses(b)}, "the sum is a value of its own")
	})
}
