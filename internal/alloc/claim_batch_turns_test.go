package alloc_test

import (
	"context"
	"slices"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ordered is a store that records the order in which transactions begin.
type ordered struct {
	storage.Store

	mu  sync.Mutex
	ops []string
}

// InTx implements storage.Store.
func (o *ordered) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	o.mu.Lock()
	o.ops = append(o.ops, op)
	o.mu.Unlock()
	return o.Store.InTx(ctx, op, locks, fn)
}

func batching(b *bundle, name, pool string, n int) func(context.Context) (ipam.Claim, error) {
	return func(ctx context.Context) (ipam.Claim, error) {
		_, err := b.CreateClaimBatch(ctx, project, manyClaims(name, pool, n, 32), usecase.Request{})
		return ipam.Claim{}, err
	}
}

// A single claim waits only for the batch in progress, even if many batches wait for the pool. Conversely, many single claims do not keep batches
// waiting.
func TestSingleClaimWaitsForAtMostOneBatch(t *testing.T) {
	t.Parallel()
	b := setup(t)
	pool := b.pool(t, root("net", "10.0.0.0/16"))
	store, _ := b.store(t)
	seen := &ordered{Store: store}
	gate := newGate(seen, "claim_batch")
	b.Service = b.serve(gate)
	var wg sync.WaitGroup
	queue := func(run func(context.Context) (ipam.Claim, error)) {
		before := b.Users(pool.UID)
		wg.Go(func() {
			_, err := run(b.ctx)
			require.NoError(t, err)
		})
		waitFor(t, func() bool { return b.Users(pool.UID) > before })
	}
	gate.close()
	wg.Go(func() { _, _ = batching(b, "first", "net", 3)(b.ctx) })
	<-gate.arrived
	queue(batching(b, "second", "net", 3))
	seen.mu.Lock()
	seen.ops = nil
	seen.mu.Unlock()
	queue(func(ctx context.Context) (ipam.Claim, error) {
		r, err := b.CreateClaim(ctx, project, claim("single", "net", 32), usecase.Request{})
		return r.Value, err
	})
	gate.pass()
	wg.Wait()
	require.Equal(t, []string{"claim_batch", "claim_group", "claim_batch"}, slices.DeleteFunc(seen.ops, func(op string) bool { return op != "claim_batch" && op != "claim_group" }))
}

// A dry run of a batch reads a snapshot of the pool. It waits for no other request, and no other request waits for it.
func TestDryRunOfABatchLocksNoPool(t *testing.T) {
	t.Parallel()
	b, seen := setupWeighing(t)
	pool := b.pool(t, root("net", "10.0.0.0/16"))
	seen.take()
	gate := newGate(seen, "claim_group")
	b.Service = b.serve(gate)
	gate.close()
	var wg sync.WaitGroup
	wg.Go(func() { _, _ = b.CreateClaim(b.ctx, project, claim("slow", "net", 32), usecase.Request{}) })
	<-gate.arrived
	users := b.Users(pool.UID)
	foretold, err := b.CreateClaimBatch(b.ctx, project, manyClaims("dry", "net", 100, 32), usecase.Request{DryRun: true})
	require.NoError(t, err, "while somebody works on the pool")
	require.Len(t, foretold.Value, 100)
	require.Equal(t, users, b.Users(pool.UID))
	gate.pass()
	wg.Wait()
	require.Equal(t, []storage.Locks{{}}, seen.locks, "the database locks nothing either")
	_, _, changed := seen.take()
	require.LessOrEqual(t, changed, 20, "the single claim's")

	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("new", "net", 32), claim("slow", "net", 32)}, usecase.Request{DryRun: true})
	e := refused(t, err, ipam.CodeAlreadyExists)
	require.Equal(t, "/claims/1/metadata/name", e.Fields[0].Pointer)
}
