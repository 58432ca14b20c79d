package e2e

import (
	"fmt"
	"math/big"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// rush sends concurrent claims through the servers in turn. It returns the blocks of the successful claims by name. The quota must refuse all other
// claims, with figures that explain the refusal.
func rush(t *testing.T, sites []*caller, quota string, n int, spec func(i int) obj) map[string]string {
	t.Helper()
	var mu sync.Mutex
	var wg sync.WaitGroup
	got := map[string]string{}
	begin := make(chan struct{})
	for i := range n {
		wg.Go(func() {
			<-begin
			name := fmt.Sprintf("c%d", i)
			a, err := sites[i%len(sites)].try(t.Context(), t, http.MethodPost, at("claims"), named(name, spec(i)))
			if err != nil {
				t.Error(err)
				return
			}
			if p, isRefused := problemOf(a); isRefused {
				explains(t, p, quota)
				return
			}
			mu.Lock()
			defer mu.Unlock()
			got[name] = decode[client.IPClaim](t, a).Status.AllocatedCIDR
		})
	}
	close(begin)
	wg.Wait()
	return got
}

// explains requires that the figures in a quota's refusal add up.
func explains(t *testing.T, p problem, quota string) {
	t.Helper()
	if p.Code != "quota_exceeded" || p.Quota != project+"/"+quota || p.Limit == "" || p.Used == "" || p.Requested == "" {
		t.Errorf("refused by something else: %+v", p)
		return
	}
	sum := new(big.Int).Add(number(t, p.Used), number(t, p.Requested))
	if sum.Cmp(number(t, p.Limit)) <= 0 {
		t.Errorf("%s used and %s asked for are within %s", p.Used, p.Requested, p.Limit)
	}
}

// sum returns the number of addresses in all blocks.
func sum(blocks map[string]string) *big.Int {
	out := new(big.Int)
	for _, b := range blocks {
		out.Add(out, size(b))
	}
	return out
}

// 64 concurrent claims against a limit of 40: exactly 40 succeed.
func TestQuotaIsExactWithParallelClaims(t *testing.T) {
	t.Parallel()
	pools := func(t *testing.T, w *world, n int) {
		t.Helper()
		for i := range n {
			w.pool(t, fmt.Sprintf("p%d", i), obj{"cidr": fmt.Sprintf("10.%d.0.0/16", i)})
		}
		w.pool(t, "six", obj{"cidr": "2001:db8::/32"})
	}
	one := func(int) obj { return from("p0", 30) }
	many := func(i int) obj { return from(fmt.Sprintf("p%d", i%20), 30) }
	for name, tc := range map[string]struct {
		pools int
		spec  func(i int) obj
		scope obj
		limit obj
		want  int
	}{
		"OnePool":            {1, one, obj{}, obj{"claims": 40}, 40},
		"TwentyPools":        {20, many, obj{}, obj{"claims": 40}, 40},
		"Addresses":          {20, many, obj{}, obj{"addresses": "160"}, 40},
		"AddressesOfAPool":   {1, one, obj{"poolRef": obj{"name": "p0"}}, obj{"addresses": "163"}, 40},
		"AddressesOfAFamily": {1, one, obj{"ipFamily": "IPv4"}, obj{"addresses": "160", "claims": 50}, 40},
		"BothFamilies": {3, func(i int) obj {
			if i%2 == 0 {
				return from("six", 64)
			}
			return from("p1", 24)
		}, obj{}, obj{"claims": 40}, 40},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			pools(t, w, tc.pools)
			w.quota(t, "q", tc.scope, tc.limit)
			got := rush(t, []*caller{w.caller}, "q", clients, tc.spec)
			require.Len(t, got, tc.want)
			w.used(t, "q", sum(got).String(), int64(tc.want), poolsIn(tc.scope, tc.pools+1))
			for claim := range got {
				w.release(t, claim)
			}
			w.used(t, "q", "0", 0, poolsIn(tc.scope, tc.pools+1))
			require.Len(t, rush(t, []*caller{w.caller}, "q", clients, tc.spec), tc.want, "all came back")
		})
	}
}

// poolsIn returns how many of the test's root pools a scope counts.
func poolsIn(scope obj, pools int) int64 {
	switch {
	case scope["poolRef"] != nil:
		return 0 // only child pools of that pool
	case scope["ipFamily"] != nil:
		return int64(pools - 1)
	default:
		return int64(pools)
	}
}

// Claims of all lengths in both families compete for a limit on addresses. The sum of the granted blocks must never exceed it. A refused claim must
// not have fitted.
func TestQuotaOfAddressesWithMixedLengths(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "four", obj{"cidr": "10.0.0.0/8"})
	w.pool(t, "six", obj{"cidr": "2001:db8::/32"})
	limit := new(big.Int).Lsh(big.NewInt(5), 64) // enough for five /64 blocks, with room for smaller blocks
	w.quota(t, "q", obj{}, obj{"addresses": limit.String()})
	lengths := []int{66, 64, 65, 63, 80, 128}
	got := rush(t, []*caller{w.caller}, "q", clients, func(i int) obj {
		if i%7 == 0 {
			return from("four", 16+i%16)
		}
		return from("six", lengths[i%len(lengths)])
	})
	used := sum(got)
	require.LessOrEqual(t, used.Cmp(limit), 0)
	require.Less(t, len(got), clients, "there was more to ask for than there is")
	w.used(t, "q", used.String(), int64(len(got)), 2)
	left := new(big.Int).Sub(limit, used)
	require.Equal(t, left.String(), w.getQuota(t, "q").Status.Available.Addresses)
	t.Run("TheRestCanBeTakenToTheLastAddress", func(t *testing.T) {
		for bit := left.BitLen() - 1; bit >= 0; bit-- {
			if left.Bit(bit) == 1 {
				w.claim(t, fmt.Sprintf("rest-%d", bit), from("six", 128-bit))
			}
		}
		require.Equal(t, client.Count("0"), w.getQuota(t, "q").Status.Available.Addresses)
		p := w.refused(t, w.postClaim(t, "one", from("four", 32)), "quota_exceeded")
		require.Equal(t, []string{limit.String(), limit.String(), "1"}, []string{p.Limit, p.Used, p.Requested})
		require.Equal(t, client.QuotaMeasure("addresses"), p.Measure)
	})
}

// Three server processes share one database and one quota.
func TestQuotaIsExactThroughThreeServers(t *testing.T) {
	t.Parallel()
	binary, dsn := serverBinary(t), database(t)
	sites := make([]*caller, 3)
	for i := range sites {
		sites[i] = newCaller(startProcess(t, binary, nil, "--database-url="+dsn, "--max-connections=8", "--request-timeout=60s").Addr())
	}
	w := newWorld(t, sites[0], dsn)
	w.newProject(t, project)
	for i := range 4 {
		w.pool(t, fmt.Sprintf("p%d", i), obj{"cidr": fmt.Sprintf("10.%d.0.0/16", i)})
	}
	w.quota(t, "q", obj{}, obj{"claims": 40, "addresses": "1000"})
	for range 2 {
		got := rush(t, sites, "q", clients, func(i int) obj { return from(fmt.Sprintf("p%d", i%4), 29+i%4) })
		require.Len(t, got, 40)
		for i, c := range sites {
			c.used(t, "q", sum(got).String(), 40, 4)
			require.Equal(t, int64(0), *c.getQuota(t, "q").Status.Available.Claims, "server %d", i)
		}
		for claim := range got {
			sites[1].release(t, claim)
		}
		w.used(t, "q", "0", 0, 4)
	}
}
