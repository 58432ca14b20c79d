package alloc_test

import (
	"context"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
)

// costed is a store that counts its reads, and records the largest number of pools in one read.
type costed struct {
	*crdb.Store
	reads, pools int // pools is the largest number in one read
}

func (c *costed) PoolStandings(ctx context.Context, region string, after ipam.ID, limit int) ([]pools.PoolStanding, error) {
	out, err := c.Store.PoolStandings(ctx, region, after, limit)
	c.reads, c.pools = c.reads+1, max(c.pools, len(out))
	return out, err
}

// sampler returns a Sampler on the test's database, and the store of the Sampler.
func (b *bundle) sampler(t testing.TB, region string, limit int) (*pools.Sampler, *costed) {
	t.Helper()
	store, err := crdb.Open(b.ctx, b.dsn, crdb.Options{Region: region, MaxConnections: 2})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	c := &costed{Store: store}
	return pools.NewSampler(c, region, limit, b.clock.read), c
}

// pass runs the Sampler's steps until it has read all pools. It returns the sample and the number of steps.
func (b *bundle) pass(t testing.TB, s *pools.Sampler) (pools.Sample, int) {
	t.Helper()
	b.clock.move(time.Minute)
	for steps := 1; ; steps++ {
		require.NoError(t, s.Step(b.ctx))
		b.clock.move(time.Millisecond)
		if now := s.Sample(); !now.Ended.IsZero() && b.clock.read().Sub(now.Ended) <= time.Millisecond {
			return now, steps
		}
		require.Less(t, steps, 1000)
	}
}

// ratios formats the pools in a sample.
func ratios(of []pools.PoolSample) (out []string) {
	for _, p := range of {
		out = append(out, fmt.Sprintf("%s %.4f", p.Pool, p.Ratio))
	}
	return out
}

func TestSamplerFindsTheFullestPoolsInBoundedSteps(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("half", "10.0.0.0/24"))
	b.claim(t, claim("c1", "half", 25))
	b.pool(t, root("empty", "10.1.0.0/16"))
	b.pool(t, root("full", "10.2.0.0/28"))
	b.claim(t, claim("c2", "full", 28))
	b.pool(t, root("six", "2001:db8::/32")) // more addresses than a float can represent exactly
	b.claim(t, claim("c3", "six", 33))
	b.claim(t, claim("c4", "six", 34))
	b.pool(t, root("pieces", "10.3.0.0/27"))
	for i := range 16 { // every second address
		b.claim(t, claim(fmt.Sprintf("p%d", i), "pieces", 32, exactly(fmt.Sprintf("10.3.0.%d/32", 2*i))))
	}

	s, cost := b.sampler(t, region, 3)
	alloc.BoundSteps(s, 2)
	now, steps := b.pass(t, s)
	require.Equal(t, []string{"acme/full 1.0000", "acme/six 0.7500", "acme/half 0.5000"}, ratios(now.Fullest))
	require.Equal(t, map[string]int64{"under_50": 1, "under_80": 3, "under_90": 0, "under_100": 0, "full": 1}, now.Count)
	require.Equal(t, 2, cost.pools)
	require.Equal(t, steps, cost.reads, "one read a step")
	require.Equal(t, 3, steps, "five pools, two at a time, however many blocks they have")

	all, _ := b.sampler(t, region, 100)
	whole, steps := b.pass(t, all)
	require.Equal(t, 1, steps)
	require.Equal(t, ratios(now.Fullest), ratios(whole.Fullest)[:3], "however it was read")
	require.Len(t, whole.Fullest, 5)

	require.NoError(t, b.DeleteClaim(b.ctx, project, "c2", usecase.Request{}))
	require.NoError(t, b.DeletePool(b.ctx, project, "full", usecase.Request{}))
	now, _ = b.pass(t, s)
	require.Equal(t, []string{"acme/six 0.7500", "acme/half 0.5000", "acme/pieces 0.5000"}, ratios(now.Fullest), "what is deleted is not told of")
}

func TestSamplerEstimatesTheRunwayOfAPool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.pool(t, root("still", "10.1.0.0/24"))
	b.claim(t, claim("held", "still", 25))
	s, _ := b.sampler(t, region, 5)
	runway := func() time.Duration {
		t.Helper()
		now, _ := b.pass(t, s)
		for _, p := range now.Fullest {
			if p.Pool == ref("still") {
				require.Negative(t, p.Runway, "it is not used up")
			}
		}
		for _, p := range now.Fullest {
			if p.Pool == ref("net") {
				return p.Runway
			}
		}
		require.Fail(t, "not told of")
		return 0
	}
	require.Negative(t, runway(), "nothing is known after one look")
	b.claim(t, claim("a", "net", 26))
	require.InDelta(t, 3*time.Minute, runway(), float64(time.Second), "a quarter in a minute")
	b.claim(t, claim("b", "net", 26))
	require.InDelta(t, 2*time.Minute, runway(), float64(time.Second))
	first := runway()
	require.Greater(t, first, 2*time.Minute, "used more slowly, it lasts longer")
	require.Greater(t, runway(), first)
}

func TestSamplerReportsStocksAndFencesOfARegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	look := func() pools.Sample {
		t.Helper()
		s, _ := w.sampler(t, eu, 5)
		require.NoError(t, s.Step(w.ctx))
		return s.Sample()
	}
	store, err := crdb.Open(w.ctx, w.dsn, crdb.Options{Region: eu})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	m := &tally{claims: map[string]int{}, loans: map[string]int{}}
	measured := alloc.New(store, alloc.Options{Region: eu, Clock: w.clock.read, Metrics: m})

	w.served(t, "wide", "10.0.0.0/24")
	_, err = measured.CreateClaim(w.ctx, project, claim("first", "wide", 28), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, map[string]int{"lend moved": 1}, m.loans)
	now := look()
	require.Len(t, now.Scarce, 1)
	require.Equal(t, ref("wide"), now.Scarce[0].Pool)
	require.InDelta(t, 0.75, now.Scarce[0].Ratio, 0.001, "a quarter of the loan was used")
	require.Empty(t, now.Fenced)
	require.Zero(t, now.Closed)

	restore := w.kept(t, eu)
	require.NoError(t, w.in[eu].DeleteClaim(w.ctx, project, "first", usecase.Request{}))
	for i := range 16 {
		_, err := w.claimIn(w.ctx, us, string(rune('a'+i)), "wide", 28)
		require.NoError(t, err)
	}
	restore()
	now = look()
	require.Equal(t, []ipam.Ref{ref("wide")}, now.Fenced)
	require.EqualValues(t, 1, now.Closed)
	_, err = measured.CreateClaim(w.ctx, project, claim("second", "wide", 28), usecase.Request{})
	require.Equal(t, ipam.CodeUnavailable, ipam.CodeOf(err), "%v", err)

	_, err = w.in[eu].Reconcile(w.ctx, regions.Reconciling{Repair: true, Forget: []netip.Prefix{block("10.0.0.0/24")}})
	require.NoError(t, err)
	require.Zero(t, look().Closed, "until it is reconciled")
}
