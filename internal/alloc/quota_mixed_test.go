package alloc_test

import (
	"fmt"
	"math/big"
	"math/rand/v2"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// All operations that a quota counts run at the same time on three servers, while the limits change. Afterwards, the usage must equal the held
// blocks, and the shards must add up.
func TestQuotaFiguresAreExactAfterConcurrentMixedOperations(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	for i := range 3 {
		b.pool(t, root(fmt.Sprintf("own%d", i), fmt.Sprintf("10.%d.0.0/22", i), labelled("x", "y")))
	}
	b.pool(t, root("six", "2001:db8::/64"))
	b.limit(t, "all", ofClaims(30), ofAddresses("40000000000000"))
	b.limit(t, "one-pool", ofAddresses("64"), ofPool(ref("own0")))
	b.limit(t, "theirs", ofClaims(6), ofPool(theirs("net")))
	b.limit(t, "six", ofAddresses("20000000000000"), ofFamily(ipam.IPv6))
	servers := b.servers(t, 3)

	const workers, steps = 9, 40
	var wg sync.WaitGroup
	odd := newLedger()
	for w := range workers {
		wg.Go(func() {
			s, rnd := servers[w%len(servers)], rand.New(rand.NewPCG(7, uint64(w)))
			var held, retained []string // names; allocations
			for n := range steps {
				name := fmt.Sprintf("w%d-%d", w, n)
				one := func(name string) ipam.Claim {
					policy := func(c *ipam.Claim) {
						if rnd.IntN(2) == 0 {
							retain(c)
						}
					}
					switch rnd.IntN(5) {
					case 0:
						return claim(name, "net", 30, offered, policy)
					case 1:
						return claim(name, "six", 86+rnd.IntN(3), policy)
					case 2:
						return selecting(name, matching("x", "y"), length(29), policy)
					default:
						return claim(name, fmt.Sprintf("own%d", rnd.IntN(3)), 28+rnd.IntN(5), policy)
					}
				}
				err := untilServed(func() error {
					switch at := rnd.IntN(10); {
					case at < 4:
						r, err := s.CreateClaim(b.ctx, project, one(name), usecase.Request{})
						if err == nil {
							held = append(held, r.Value.Name)
						}
						return err
					case at == 4:
						r, err := s.CreateClaimBatch(b.ctx, project, []ipam.Claim{one(name + "a"), one(name + "b"), one(name + "c")}, usecase.Request{})
						for _, c := range r.Value {
							held = append(held, c.Name)
						}
						return err
					case at < 8 && len(held) > 0:
						c, err := s.GetClaim(b.ctx, project, held[0], usecase.Reading{})
						if err != nil {
							return err
						}
						if err = s.DeleteClaim(b.ctx, project, c.Name, usecase.Request{}); err != nil {
							return err
						}
						held = held[1:]
						if c.Spec.ReclaimPolicy == ipam.ReclaimRetain {
							retained = append(retained, c.AllocationID.String())
						}
						return nil
					case at == 8 && len(retained) > 0:
						c := again(name, ipam.ID{}, retain)
						c.Spec.AllocationRef = retained[0]
						if rnd.IntN(2) == 0 {
							err := s.DeleteAllocation(b.ctx, project, retained[0], usecase.Request{})
							if err == nil {
								retained = retained[1:]
							}
							return err
						}
						_, err := s.CreateClaim(b.ctx, project, c, usecase.Request{})
						if err == nil {
							held, retained = append(held, name), retained[1:]
						}
						return err
					case at == 9 && w == 0:
						_, err := s.PutQuota(b.ctx, project, quota("all", ofClaims(5+rnd.Int64N(40)), ofAddresses("40000000000000")), usecase.Request{})
						return err
					}
					return nil
				})
				odd.expect(err, ipam.CodeQuotaExceeded)
			}
		})
	}
	wg.Wait()
	require.Empty(t, odd.odd)

	store, _ := b.store(t)
	p, err := store.ProjectGet(b.ctx, project)
	require.NoError(t, err)
	quotas, err := b.ListQuotas(b.ctx, project, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, quotas.Items, 4)
	for _, q := range quotas.Items {
		held, err := store.UsageCount(b.ctx, storage.Key(p), q.Spec.Scope)
		require.NoError(t, err)
		require.Equal(t, figures(held), figures(q.Used), q.Name)
		shards, err := store.QuotaShards(b.ctx, []ipam.ID{q.UID})
		require.NoError(t, err)
		require.Len(t, shards, ipam.QuotaShards)
		spare := ipam.Usage{}
		for _, s := range shards {
			spare = spare.Add(s.Spare)
			if !q.Overdrawn {
				require.GreaterOrEqual(t, s.Spare.Claims, int64(0), q.Name)
			}
		}
		if l := q.Spec.Limits.Claims; l != nil {
			require.Equal(t, *l-q.Used.Claims, spare.Claims, q.Name)
			require.True(t, q.Overdrawn || q.Used.Claims <= *l, q.Name)
		}
		if l := q.Spec.Limits.Addresses; l != nil {
			require.Equal(t, new(big.Int).Sub(l, q.Used.Addresses).String(), spare.Add(ipam.Usage{}).Addresses.String(), q.Name)
		}
	}
}
