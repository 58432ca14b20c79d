package quota

import (
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/ipam"
)

func anyAddresses(t *rapid.T, name string) *big.Int {
	n := new(big.Int).Lsh(big.NewInt(1), uint(rapid.IntRange(0, 128).Draw(t, name+" bits")))
	return n.Add(n, big.NewInt(rapid.Int64Range(-1, 1).Draw(t, name+" off")))
}

func anyLimit(t *rapid.T, name string) *int64 {
	if rapid.Bool().Draw(t, name+" is bounded") {
		n := rapid.Int64Range(0, 1<<53-1).Draw(t, name)
		return &n
	}
	return nil
}

func anyLimits(t *rapid.T) ipam.QuotaLimits {
	l := ipam.QuotaLimits{Claims: anyLimit(t, "claims"), Pools: anyLimit(t, "pools")}
	if rapid.Bool().Draw(t, "addresses are bounded") {
		l.Addresses = anyAddresses(t, "limit")
	}
	return l
}

func anyUsed(t *rapid.T) ipam.Usage {
	return ipam.Usage{
		Addresses: anyAddresses(t, "used"), Claims: rapid.Int64Range(0, 1<<53).Draw(t, "used claims"), Pools: rapid.Int64Range(0, 1000).Draw(t, "used pools"),
	}
}

// measured is one measure of a quota: its limit, its usage, and each shard's spare.
type measured struct {
	limit, used *big.Int
	spare       []*big.Int
}

func measureAll(limits ipam.QuotaLimits, used ipam.Usage, shards []ipam.QuotaShard) map[string]measured {
	m := map[string]measured{
		"addresses": {limit: limits.Addresses, used: used.Addresses},
		"claims":    {limit: wide(limits.Claims), used: big.NewInt(used.Claims)},
		"pools":     {limit: wide(limits.Pools), used: big.NewInt(used.Pools)},
	}
	for _, s := range shards {
		for name, spare := range map[string]*big.Int{
			"addresses": s.Spare.Addresses, "claims": big.NewInt(s.Spare.Claims), "pools": big.NewInt(s.Spare.Pools),
		} {
			one := m[name]
			one.spare = append(one.spare, spare)
			m[name] = one
		}
	}
	return m
}

// demandInvariant checks the invariants of a quota's shards by plain addition.
func demandInvariant(t require.TestingT, limits ipam.QuotaLimits, used ipam.Usage, shards []ipam.QuotaShard) {
	for name, m := range measureAll(limits, used, shards) {
		sum := new(big.Int)
		for _, s := range m.spare {
			sum.Add(sum, s)
			if m.limit == nil {
				require.Zero(t, s.Sign(), "%s: nothing to spare of what is not bounded", name)
			} else if m.used.Cmp(m.limit) > 0 {
				require.LessOrEqual(t, s.Sign(), 0, "%s: nothing to hand out when too much is used", name)
			} else {
				require.GreaterOrEqual(t, s.Sign(), 0, "%s: no shard owes while there is room", name)
			}
		}
		if m.limit != nil {
			require.Equal(t, new(big.Int).Sub(m.limit, m.used).String(), sum.String(), name)
		}
	}
}

func TestNewShardsSumToTheLimitLessTheUsage(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		id, limits, used := ipam.NewID(), anyLimits(t), anyUsed(t)
		shards := newShards(id, limits, used, []string{"a"})
		require.Len(t, shards, ipam.QuotaShards)
		for i, s := range shards {
			require.Equal(t, []any{id, i}, []any{s.QuotaID, s.Shard})
		}
		sum := usedOf(shards)
		require.Equal(t, []any{used.Addresses.String(), used.Claims, used.Pools}, []any{sum.Addresses.String(), sum.Claims, sum.Pools})
		demandInvariant(t, limits, used, shards)
	})
}

func TestSpareIsSpreadEvenly(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		limits, used := anyLimits(t), anyUsed(t)
		for name, m := range measureAll(limits, used, newShards(ipam.NewID(), limits, used, []string{"a"})) {
			least, most := m.spare[0], m.spare[0]
			for _, s := range m.spare {
				if s.Cmp(least) < 0 {
					least = s
				}
				if s.Cmp(most) > 0 {
					most = s
				}
			}
			require.LessOrEqual(t, new(big.Int).Sub(most, least).Cmp(big.NewInt(1)), 0, name)
		}
	})
}

// New limits correct the spare and keep the usage, even if the shards have any figures before.
func TestChangedLimitsKeepTheUsageOfEachShard(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		shards := make([]ipam.QuotaShard, ipam.QuotaShards)
		for i := range shards {
			shards[i] = ipam.QuotaShard{
				Shard: i,
				Used:  ipam.Usage{Addresses: anyAddresses(t, "used"), Claims: rapid.Int64Range(-100, 100).Draw(t, "claims"), Pools: rapid.Int64Range(-2, 2).Draw(t, "pools")},
				Spare: ipam.Usage{Addresses: anyAddresses(t, "spare"), Claims: rapid.Int64Range(-100, 100).Draw(t, "spare claims")},
			}
		}
		before := usedOf(shards)
		limits := anyLimits(t)
		after := respread(limits, shards)
		for i := range after {
			require.Equal(t, shards[i].Used, after[i].Used)
			require.Equal(t, i, after[i].Shard)
		}
		demandInvariant(t, limits, before, after)
		changes := shardUpdates(shards, after)
		for _, c := range changes {
			require.Equal(t, shards[c.Was.Shard], c.Was)
			require.Equal(t, after[c.Was.Shard], c.Now)
		}
		require.Empty(t, shardUpdates(after, respread(limits, after)), "the second time there is nothing to change")
	})
}

func TestOverdrawnMeansUsageAboveALimit(t *testing.T) {
	t.Parallel()
	n := func(i int64) *int64 { return &i }
	used := ipam.Usage{Addresses: big.NewInt(10), Claims: 5, Pools: 2}
	for name, c := range map[string]struct {
		limits ipam.QuotaLimits
		used   ipam.Usage
		want   bool
	}{
		"NoLimits":            {ipam.QuotaLimits{}, used, false},
		"AllJustUsedUp":       {ipam.QuotaLimits{Addresses: big.NewInt(10), Claims: n(5), Pools: n(2)}, used, false},
		"TooManyAddresses":    {ipam.QuotaLimits{Addresses: big.NewInt(9), Claims: n(5), Pools: n(2)}, used, true},
		"TooManyClaims":       {ipam.QuotaLimits{Claims: n(4)}, used, true},
		"TooManyPools":        {ipam.QuotaLimits{Pools: n(0)}, used, true},
		"NothingOfNothing":    {ipam.QuotaLimits{Addresses: new(big.Int), Claims: n(0), Pools: n(0)}, ipam.Usage{}, false},
		"AddressesNotCounted": {ipam.QuotaLimits{Addresses: new(big.Int)}, ipam.Usage{Claims: 1}, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.Equal(t, c.want, overdrawn(c.limits, c.used))
		})
	}
}
