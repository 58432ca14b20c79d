package alloc_test

import (
	"context"
	"fmt"
	"math/big"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// These tests check quotas with a real database. At the end of each test, the audit counts the usage again and compares it with the quotas.

func ofClaims(n int64) quotaOption { return func(s *ipam.QuotaSpec) { s.Limits.Claims = &n } }

// ofAddresses sets a limit for addresses. The limit is text, because it may exceed an int64.
func ofAddresses(text string) quotaOption {
	return func(s *ipam.QuotaSpec) {
		n, ok := new(big.Int).SetString(text, 10)
		if !ok {
			panic(text)
		}
		s.Limits.Addresses = n
	}
}

// limit creates or changes a quota of the project.
func (b *bundle) limit(t testing.TB, name string, options ...quotaOption) {
	t.Helper()
	b.set(t, quota(name, options...))
}

// used returns the usage in a quota's status: addresses, claims and pools.
func (b *bundle) used(t testing.TB, name string) string {
	t.Helper()
	figures := b.usage(t, name)
	return strings.Join(figures[:], " ")
}

// overQuota requires a refusal by a quota. want lists its figures: the quota, the measure, the limit, the used and the requested amount.
func overQuota(t testing.TB, err error, want ...string) *ipam.Error {
	t.Helper()
	e := refused(t, err, ipam.CodeQuotaExceeded)
	f := e.Figures
	require.Equal(t, want, []string{f.Quota, f.Measure, f.Limit, f.Used, f.Requested}, e.Message)
	return e
}

// untilServed repeats a request while the server refuses it for contention. On CockroachDB, transactions that read the same shards can restart each
// other until the deadline of a group. So untilServed also repeats a request after this error. Both errors leave the database unchanged.
func untilServed(run func() error) error {
	for {
		err := run()
		late := dbtest.Engine() != devdb.Postgres && ipam.IsCode(err, ipam.CodeDeadline)
		if !late && !ipam.IsCode(err, ipam.CodeContention) {
			return err
		}
	}
}

func TestConcurrentClaimsFillAQuotaExactly(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name           string
		servers, pools int
		limit          quotaOption
		bits           int
	}{
		{"OnePool", 1, 1, ofClaims(40), 32},
		{"EightPools", 1, 8, ofClaims(40), 32},
		{"EightPoolsOfThreeServers", 3, 8, ofClaims(40), 32},
		{"Addresses", 1, 8, ofAddresses("160"), 30},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			for i := range c.pools {
				b.pool(t, root(fmt.Sprintf("net%d", i), fmt.Sprintf("10.0.%d.0/24", i)))
			}
			b.limit(t, "all", c.limit)
			servers := b.servers(t, c.servers)
			var wg sync.WaitGroup
			results := make([]error, clients)
			for i := range clients {
				wg.Go(func() {
					results[i] = untilServed(func() error {
						_, err := servers[i%len(servers)].CreateClaim(b.ctx, project, claim(fmt.Sprintf("c%d", i), fmt.Sprintf("net%d", i%c.pools), c.bits), usecase.Request{})
						return err
					})
				})
			}
			wg.Wait()
			made := 0
			for i, err := range results {
				if err == nil {
					made++
					continue
				}
				e := refused(t, err, ipam.CodeQuotaExceeded)
				require.Equal(t, "acme/all", e.Figures.Quota)
				_, err := b.GetClaim(b.ctx, project, fmt.Sprintf("c%d", i), usecase.Reading{})
				refused(t, err, ipam.CodeNotFound)
			}
			require.Equal(t, 40, made)
			addresses := 40 << (32 - c.bits)
			require.Equal(t, fmt.Sprintf("%d 40 %d", addresses, c.pools), b.used(t, "all"))

			for i, err := range results {
				if err == nil {
					wg.Go(func() {
						results[i] = untilServed(func() error {
							return servers[i%len(servers)].DeleteClaim(b.ctx, project, fmt.Sprintf("c%d", i), usecase.Request{})
						})
					})
				}
			}
			wg.Wait()
			require.Equal(t, fmt.Sprintf("0 0 %d", c.pools), b.used(t, "all"), "a release gives back")
			b.claim(t, claim("again", "net0", c.bits))
		})
	}
}

func TestQuotaAdmitsClaimsAfterARelease(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.limit(t, "all", ofClaims(2), ofAddresses("20"))
	b.claim(t, claim("a", "net", 28))
	_, err := b.CreateClaim(b.ctx, project, claim("b", "net", 29), usecase.Request{})
	e := overQuota(t, err, "acme/all", "addresses", "20", "16", "8")
	require.Contains(t, e.Message, "Ask for 4 addresses at most")
	b.claim(t, claim("b", "net", 30))
	_, err = b.PutClaim(b.ctx, project, claim("c", "net", 32), usecase.Request{})
	overQuota(t, err, "acme/all", "addresses", "20", "20", "1")
	b.release(t, "a")
	b.claim(t, claim("c", "net", 32))
	before := b.dump(t)
	for _, r := range []usecase.Request{{}, dry, key("k", "k")} {
		_, err = b.CreateClaim(b.ctx, project, claim("d", "net", 32), r)
		overQuota(t, err, "acme/all", "claims", "2", "2", "1")
	}
	require.Equal(t, before, b.dump(t), "a refusal leaves nothing")
	require.Equal(t, "5 2 1", b.used(t, "all"))
	require.NoError(t, b.DeleteQuota(b.ctx, project, "all", usecase.Request{}))
	b.claim(t, claim("d", "net", 32))
}

func TestQuotaBelowUsageRefusesClaimsUntilEnoughAreReleased(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pools := []string{"a", "b", "c"}
	for i, p := range pools {
		b.pool(t, root(p, fmt.Sprintf("10.0.%d.0/24", i)))
	}
	b.limit(t, "all", ofClaims(20))
	for i := range 10 {
		b.claim(t, claim(fmt.Sprintf("c%d", i), pools[i%3], 32))
	}
	b.limit(t, "all", ofClaims(4))
	require.Equal(t, "10 10 3", b.used(t, "all"), "nothing is taken away")
	for i := range 6 {
		_, err := b.CreateClaim(b.ctx, project, claim("more", pools[i%3], 32), usecase.Request{})
		overQuota(t, err, "acme/all", "claims", "4", fmt.Sprint(10-i), "1")
		b.release(t, fmt.Sprintf("c%d", i))
	}
	_, err := b.CreateClaim(b.ctx, project, claim("more", "a", 32), usecase.Request{})
	overQuota(t, err, "acme/all", "claims", "4", "4", "1")
	for i, p := range pools {
		b.release(t, fmt.Sprintf("c%d", 6+i))
		b.claim(t, claim("new-"+p, p, 32))
	}
	b.limit(t, "all", ofClaims(5))
	b.claim(t, claim("last", "b", 32))
	_, err = b.CreateClaim(b.ctx, project, claim("more", "c", 32), usecase.Request{})
	overQuota(t, err, "acme/all", "claims", "5", "5", "1")
}

func TestQuotaCountsIPv6AddressesExactly(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("six", "2001:db8::/32"))
	b.pool(t, root("four", "10.0.0.0/8"))
	const limit = "1208925819614629174706177" // 2^80 + 1
	b.limit(t, "six", ofAddresses(limit), ofFamily(ipam.IPv6))
	b.claim(t, claim("a", "six", 48)) // 2^80
	_, err := b.CreateClaim(b.ctx, project, claim("b", "six", 127), usecase.Request{})
	overQuota(t, err, "acme/six", "addresses", limit, "1208925819614629174706176", "2")
	b.claim(t, claim("b", "six", 128))
	_, err = b.CreateClaim(b.ctx, project, claim("c", "six", 128), usecase.Request{})
	overQuota(t, err, "acme/six", "addresses", limit, limit, "1")
	b.claim(t, claim("c", "four", 9)) // another family, which the quota does not count
	require.Equal(t, limit+" 2 1", b.used(t, "six"))
	b.release(t, "a")
	require.Equal(t, "1 1 1", b.used(t, "six"))
}

func TestRetainedBlockStillCountsItsAddresses(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	b.pool(t, root("own", "10.0.0.0/24"))
	b.limit(t, "all", ofAddresses("32"), ofClaims(2))
	for _, pool := range []claimOption{offered, func(c *ipam.Claim) { c.Spec.PoolRef = ref("own") }} {
		made := b.claim(t, claim("c", "net", 27, retain, pool))
		require.Equal(t, "32 1 1", b.used(t, "all"))
		b.release(t, "c")
		require.Equal(t, "32 0 1", b.used(t, "all"))
		_, err := b.CreateClaim(b.ctx, project, claim("d", "own", 32), usecase.Request{})
		overQuota(t, err, "acme/all", "addresses", "32", "32", "1")
		b.claim(t, again("d", made.AllocationID, retain))
		require.Equal(t, "32 1 1", b.used(t, "all"), "bound again it counts as a claim, and no second time as addresses")
		b.limit(t, "all", ofAddresses("32"), ofClaims(0))
		b.release(t, "d")
		_, err = b.CreateClaim(b.ctx, project, again("e", made.AllocationID), usecase.Request{})
		overQuota(t, err, "acme/all", "claims", "0", "0", "1")
		b.limit(t, "all", ofAddresses("32"), ofClaims(2))
		who := made.Pool.Project // the pool's owner deletes the allocation, which reduces the holder's usage
		require.NoError(t, b.DeleteAllocation(b.ctx, who, made.AllocationID.String(), usecase.Request{}))
		require.Equal(t, "0 0 1", b.used(t, "all"))
	}
}

func TestBatchOverTheQuotaIsRefusedAsAWhole(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("a", "10.0.0.0/24"))
	b.pool(t, root("b", "10.0.1.0/24"))
	b.limit(t, "all", ofClaims(3))
	b.claim(t, claim("first", "a", 32))
	batch := func(n int) []ipam.Claim {
		var out []ipam.Claim
		for i := range n {
			out = append(out, claim(fmt.Sprintf("c%d", i), []string{"a", "b"}[i%2], 32))
		}
		return out
	}
	before := b.dump(t)
	_, err := b.CreateClaimBatch(b.ctx, project, batch(4), key("k", "4"))
	e := overQuota(t, err, "acme/all", "claims", "3", "1", "3")
	require.Equal(t, "/claims/2", e.Fields[0].Pointer)
	require.Contains(t, e.Message, "the first 2 fit and the next does not. Nothing was claimed")
	_, err = b.CreateClaimBatch(b.ctx, project, batch(3), dry)
	overQuota(t, err, "acme/all", "claims", "3", "1", "3")
	require.Equal(t, before, b.dump(t))
	_, err = b.CreateClaimBatch(b.ctx, project, batch(2), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, "3 3 2", b.used(t, "all"))
	b.release(t, "c1") // its usage is in the shard of the first pool
	b.claim(t, claim("last", "b", 32))
	require.Equal(t, "3 3 2", b.used(t, "all"))
}

// If a quota is exhausted, a claim by selector skips only the pools in the scope of this quota.
func TestSelectorUsesPoolsOutsideAnExhaustedQuota(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("a", "10.0.0.0/24", labelled("x", "y")))
	b.pool(t, root("b", "10.0.1.0/24", labelled("x", "y")))
	b.limit(t, "of-a", ofClaims(1), ofPool(ref("a")))
	b.limit(t, "six", ofClaims(0), ofFamily(ipam.IPv6))
	pick := func(name string) ipam.Claim { return selecting(name, matching("x", "y"), length(32)) }
	require.Equal(t, ref("a"), b.claim(t, pick("one")).Pool)
	require.Equal(t, ref("b"), b.claim(t, pick("two")).Pool)
	r, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{pick("three"), pick("four")}, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, []ipam.Ref{ref("b"), ref("b")}, []ipam.Ref{r.Value[0].Pool, r.Value[1].Pool})
	b.limit(t, "all", ofClaims(4))
	runs := b.attempts.count("claim_group", "committed")
	_, err = b.CreateClaim(b.ctx, project, pick("more"), usecase.Request{})
	overQuota(t, err, "acme/all", "claims", "4", "4", "1")
	require.Equal(t, 1, b.attempts.count("claim_group", "committed")-runs, "one pool is asked: the others would say the same")
	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{pick("more")}, usecase.Request{})
	overQuota(t, err, "acme/all", "claims", "4", "4", "1")
}

func TestMemberOverItsQuotaDoesNotAffectItsGroup(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	b.limit(t, "all", ofClaims(2))
	pool, err := b.GetPool(b.ctx, provider, "net", usecase.Reading{})
	require.NoError(t, err)
	store, seen := b.store(t)
	g := &gated{bundle: b, gate: newGate(store, "claim_group"), pool: pool, attempts: seen}
	b.Service = b.serve(g.gate)
	g.hold(t, g.claiming(claim("first", "net", 32, offered), usecase.Request{}))
	theirsToo := claim("theirs", "net", 32, offered)
	g.queue(t,
		g.claiming(claim("a", "net", 32, offered), usecase.Request{}),
		g.claiming(claim("b", "net", 32, offered), usecase.Request{}),
		g.claiming(claim("c", "net", 32, offered), usecase.Request{}),
	)
	before := g.Waiting(pool.UID)
	other := g.start(g.ctx, func(ctx context.Context) (ipam.Claim, error) {
		r, err := g.CreateClaim(ctx, provider, theirsToo, usecase.Request{})
		return r.Value, err
	})
	waitFor(t, func() bool { return g.Waiting(pool.UID) > before })
	late := g.finish()
	require.NoError(t, late[0].err)
	overQuota(t, late[1].err, "acme/all", "claims", "2", "2", "1")
	overQuota(t, late[2].err, "acme/all", "claims", "2", "2", "1")
	require.NoError(t, other.err, "a neighbour of another project")
	require.Equal(t, "2 2 0", b.used(t, "all"))
	require.Equal(t, 2, seen.count("claim_group", "committed"))
}

// A claim can use the quota that a release in the same transaction frees.
func TestReleaseInAGroupFreesQuotaForItsMembers(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/24"), claim("first", "net", 32))
	other, _ := g.server(t)
	_, err := other.PutQuota(g.ctx, project, quota("all", ofClaims(1)), usecase.Request{})
	require.NoError(t, err)
	g.finish()
	g.late = nil
	g.hold(t, g.claiming(claim("refused", "net", 32), usecase.Request{}))
	g.queue(t, g.claiming(claim("next", "net", 32), usecase.Request{}), g.releasing("first"))
	late := g.finish()
	require.NoError(t, late[0].err)
	require.NoError(t, late[1].err)
	require.Equal(t, "1 1 1", g.used(t, "all"))
}

// Quota shards are ordinary rows in the transaction. So a claim counts once, even if the outcome of its COMMIT was unknown.
func TestQuotaCountsAnUnknownOutcomeOnce(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]fault{{lostBefore}, {lostAfter}, {landsLate}, {lostBefore, landsLate}} {
		t.Run(fmt.Sprint(faults), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/24"))
			b.limit(t, "all", ofClaims(100))
			store, _ := b.store(t)
			f := &faulty{Store: store}
			b.Service = b.serve(f)
			step := func(used string, run func() error) {
				t.Helper()
				f.next(faults...)
				require.NoError(t, run())
				require.Zero(t, f.left())
				require.Equal(t, used, b.used(t, "all"))
			}
			claiming := func(c ipam.Claim) func() error {
				return func() error {
					_, err := b.CreateClaim(b.ctx, project, c, usecase.Request{})
					return err
				}
			}
			step("4 1 1", claiming(claim("c", "net", 30, retain)))
			made, err := b.GetClaim(b.ctx, project, "c", usecase.Reading{})
			require.NoError(t, err)
			step("4 0 1", func() error { return b.DeleteClaim(b.ctx, project, "c", usecase.Request{}) })
			step("4 1 1", claiming(again("d", made.AllocationID, retain)))
			step("4 0 1", func() error { return b.DeleteClaim(b.ctx, project, "d", usecase.Request{}) })
			step("0 0 1", func() error { return b.DeleteAllocation(b.ctx, project, made.AllocationID.String(), usecase.Request{}) })
			step("2 2 1", func() error {
				_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("e", "net", 32), claim("f", "net", 32)}, usecase.Request{})
				return err
			})
		})
	}
}

// A claim that finds no room uses no quota, even if other claims in its transaction do.
func TestQuotaDoesNotCountARefusedClaim(t *testing.T) {
	t.Parallel()
	t.Run("InAGroup", func(t *testing.T) {
		t.Parallel()
		g := setupGated(t, root("net", "10.0.0.0/31"), claim("first", "net", 32))
		_, err := g.PutQuota(g.ctx, project, quota("all", ofClaims(10)), usecase.Request{})
		require.NoError(t, err)
		g.queue(t, g.claiming(claim("a", "net", 32), usecase.Request{}), g.claiming(claim("b", "net", 32), usecase.Request{}))
		late := g.finish()
		require.NoError(t, late[0].err)
		refused(t, late[1].err, ipam.CodePoolExhausted)
		require.Equal(t, "2 2 1", g.used(t, "all"))
	})
	t.Run("InABatch", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.pool(t, root("a", "10.0.0.0/32", labelled("x", "y")))
		b.pool(t, root("b", "10.0.1.0/32", labelled("x", "y")))
		b.limit(t, "all", ofClaims(10))
		pick := func(name string) ipam.Claim { return selecting(name, matching("x", "y"), length(32)) }
		_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{pick("one"), pick("two")}, usecase.Request{})
		require.NoError(t, err)
		require.Equal(t, "2 2 2", b.used(t, "all"))
	})
}
