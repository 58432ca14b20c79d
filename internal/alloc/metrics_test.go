package alloc_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// tally records metrics for a test.
type tally struct {
	mu     sync.Mutex
	claims map[string]int // by "class code"
	groups []int
	loans  map[string]int // by "move outcome"; nil: do not count
	ended  int            // number of ended consumers
}

func (m *tally) ClaimDecided(_ context.Context, class string, refusal ipam.Code) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.claims[class+" "+string(refusal)]++
}

func (m *tally) LoanMoved(_ context.Context, move, outcome string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.loans != nil {
		m.loans[move+" "+outcome]++
	}
}

func (m *tally) ConsumersEnded(_ context.Context, _ ipam.EndReason, n int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.ended += n
}

func (m *tally) RealmHeld(context.Context)            {}
func (m *tally) WebhookTried(context.Context, string) {}
func (m *tally) WebhookGaveUp(context.Context)        {}

func (m *tally) GroupRan(_ context.Context, members int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.groups = append(m.groups, members)
}

// told returns the counts since the last call.
func (m *tally) told() (claims map[string]int, groups []int) {
	m.mu.Lock()
	defer m.mu.Unlock()
	claims, groups = m.claims, m.groups
	m.claims, m.groups = map[string]int{}, nil
	return claims, groups
}

// measured makes the bundle's service report its metrics to a tally.
func (b *bundle) measured(t testing.TB) *tally {
	t.Helper()
	m := &tally{claims: map[string]int{}}
	store, _ := b.store(t)
	b.Service = alloc.New(store, alloc.Options{Region: region, Clock: b.clock.read, Metrics: m})
	return m
}

func TestMetricsCountClaimsByOutcome(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.measured(t)
	b.class(t, project, class("small", lengths(26, 28, 28), defaultClass))
	b.pool(t, root("net", "10.0.0.0/24", backing("small")))
	m.told()
	expect := func(t *testing.T, want map[string]int) (groups []int) {
		t.Helper()
		claims, groups := m.told()
		require.Equal(t, want, claims)
		return groups
	}

	t.Run("BoundByClass", func(t *testing.T) {
		b.claim(t, byClass("by-name", "small"))
		b.claim(t, ipam.Claim{Metadata: meta("by-default")})
		require.Equal(t, []int{1, 1}, expect(t, map[string]int{project + "/small ": 2}))
	})
	t.Run("BoundWithoutAClass", func(t *testing.T) {
		b.claim(t, claim("by-pool", "net", 28))
		expect(t, map[string]int{" ": 1})
	})
	t.Run("RefusedByClass", func(t *testing.T) {
		b.refuseClaim(t, byClass("huge", "small", length(20)), ipam.CodePrefixLengthRejected)
		expect(t, map[string]int{project + "/small prefix_length_rejected": 1})
	})
	t.Run("RefusedWithoutAClass", func(t *testing.T) {
		b.refuseClaim(t, byClass("nowhere", "no-such-class"), ipam.CodeNotFound)
		expect(t, map[string]int{" not_found": 1}) // no class, because the class in the request does not exist
	})
	t.Run("ReplaysAndDryRunsAreNotCounted", func(t *testing.T) {
		for range 2 {
			_, err := b.CreateClaim(b.ctx, project, byClass("keyed", "small"), key("k", "content"))
			require.NoError(t, err)
			_, err = b.PutClaim(b.ctx, project, byClass("put", "small"), usecase.Request{})
			require.NoError(t, err)
			_, err = b.CreateClaim(b.ctx, project, byClass("dry", "small"), usecase.Request{DryRun: true})
			require.NoError(t, err)
		}
		require.Len(t, expect(t, map[string]int{project + "/small ": 2}), 2, "a dry run is no group")
	})
	t.Run("BoundBatchCountsEachClaim", func(t *testing.T) {
		b.batch(t, byClass("b1", "small"), byClass("b2", "small"), claim("b3", "net", 28))
		require.Empty(t, expect(t, map[string]int{project + "/small ": 2, " ": 1}))
	})
	t.Run("RefusedBatchCountsOnce", func(t *testing.T) {
		_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("fits", "net", 28), claim("full", "net", 24)}, usecase.Request{})
		refused(t, err, ipam.CodePoolExhausted)
		expect(t, map[string]int{" pool_exhausted": 1})
	})
	t.Run("ReleaseCountsAsGroupOnly", func(t *testing.T) {
		b.release(t, "by-pool")
		require.Equal(t, []int{1}, expect(t, map[string]int{}))
	})
}

func TestConsumerEndedTwiceCountsOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	m := b.measured(t)
	for range 2 {
		_, err := b.EndConsumer(b.ctx, project, ipam.ConsumerRef{Realm: "default", UID: "vm-1"}, usecase.Request{})
		require.NoError(t, err)
	}
	require.Equal(t, 1, m.ended)
}
