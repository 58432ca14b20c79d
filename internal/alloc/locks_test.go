package alloc_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
)

// naming is a store that records the last locks of each operation.
type naming struct {
	storage.Store

	mu   sync.Mutex
	last map[string]storage.Locks
}

func (n *naming) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	n.mu.Lock()
	n.last[op] = locks
	n.mu.Unlock()
	return n.Store.InTx(ctx, op, locks, fn)
}

// Each of these locks makes a transaction wait for another one that it must not overlap. On PostgreSQL these transactions are not SERIALIZABLE, so
// only the lock protects them.
func TestEveryOperationLocksTheRowsItDependsOn(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store, _ := b.store(t)
	n := &naming{Store: store, last: map[string]storage.Locks{}}
	b.Service = b.serve(n)
	p, err := b.GetProject(b.ctx, project)
	require.NoError(t, err)
	sp, err := b.GetSpace(b.ctx, project, ipam.DefaultSpace)
	require.NoError(t, err)
	net := b.pool(t, root("net", "10.0.0.0/16"))
	named := func(op string, alone, shared []ipam.ID) {
		t.Helper()
		got, some := n.last[op]
		require.True(t, some, op)
		require.ElementsMatch(t, alone, got.Exclusive, op)
		require.ElementsMatch(t, shared, got.Shared, op)
	}
	ids := func(list ...ipam.ID) []ipam.ID { return list }
	// held returns the two locks of a pool's blocks. One is for the home region, and one for the server's region.
	held := func(p ipam.Pool) []ipam.ID { return ids(p.UID, awayLock(p, region)) }

	named("pool_create", ids(sp.ContainerV4), ids(p.UID))
	sub := b.pool(t, child("sub", "net", 24))
	named("pool_create", ids(net.UID), ids(p.UID))
	_, err = b.patch("sub", usecase.Request{}, func(p *ipam.Pool) { p.Spec.Description = "patched" })
	require.NoError(t, err)
	named("pool_patch", ids(sub.UID), nil)
	_, err = b.poolGrants(b.ctx, "sub").put("umbrella", usecase.Request{})
	require.NoError(t, err)
	named("pool_grant_put", nil, ids(sub.UID))
	_, err = b.spaceGrants(b.ctx, ipam.DefaultSpace).put("umbrella", usecase.Request{})
	require.NoError(t, err)
	named("space_grant_put", nil, ids(sp.UID))
	require.NoError(t, b.DeletePool(b.ctx, project, "sub", usecase.Request{}))
	named("pool_delete", ids(sub.UID, net.UID), ids(p.UID))

	kept := b.claim(t, claim("kept", "net", 32, retain))
	named("claim_group", ids(net.UID), ids(p.UID))
	b.release(t, "kept")
	named("claim_group", ids(net.UID), ids(p.UID))
	b.claim(t, again("back", kept.AllocationID, retain))
	named("claim_rebind", held(net), ids(p.UID))
	b.release(t, "back")
	require.NoError(t, b.DeleteAllocation(b.ctx, project, kept.AllocationID.String(), usecase.Request{}))
	named("allocation_delete", held(net), ids(p.UID))
	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("one", "net", 32)}, usecase.Request{})
	require.NoError(t, err)
	named("claim_batch", ids(net.UID), ids(p.UID))

	b.set(t, quota("q", maxClaims(5)))
	named("quota_put", ids(p.UID), nil)
	require.NoError(t, b.DeleteQuota(b.ctx, project, "q", usecase.Request{}))
	named("quota_delete", ids(p.UID), nil)

	lab, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("lab")}, usecase.Request{})
	require.NoError(t, err)
	named("space_create", ids(alloc.SpacesOf(p.UID)), ids(p.UID)) // protects the number of spaces
	require.NoError(t, b.DeleteSpace(b.ctx, project, "lab", usecase.Request{}))
	named("space_delete", ids(lab.Value.UID, lab.Value.ContainerV4, lab.Value.ContainerV6), nil)

	other, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("brief")}, usecase.Request{})
	require.NoError(t, err)
	its, err := b.GetSpace(b.ctx, "brief", ipam.DefaultSpace)
	require.NoError(t, err)
	require.NoError(t, b.DeleteProject(b.ctx, "brief", usecase.Request{}))
	named("project_delete", ids(other.Value.UID, its.UID, its.ContainerV4, its.ContainerV6), nil)
}

// awayLock returns the id of the lock on a pool's blocks in a region that is not its home.
func awayLock(p ipam.Pool, region string) ipam.ID {
	return storage.Container{ID: p.UID, Region: region, Away: true}.Lock()
}

// A block may be in another region than its pool's home. An operation on such a block locks that region's part of the pool, even if the operation
// runs in a third region.
func TestOperationsLockTheRegionsTheyDependOn(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	net := w.served(t, "net", "10.0.0.0/16")
	store, err := crdb.Open(w.ctx, w.dsn, crdb.Options{Region: us})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	n := &naming{Store: store, last: map[string]storage.Locks{}}
	far := alloc.New(n, alloc.Options{Region: us, Clock: w.clock.read}) // a server in another region than the blocks
	there := awayLock(net, eu)
	kept, err := w.by(eu, claim("kept", "net", 28, retain))
	require.NoError(t, err)
	made, err := w.in[eu].CreatePool(w.ctx, project, child("sub", "net", 24), usecase.Request{})
	require.NoError(t, err)

	require.NoError(t, far.DeleteClaim(w.ctx, project, "kept", usecase.Request{}))
	require.Contains(t, n.last["claim_group"].Exclusive, there)
	_, err = far.CreateClaim(w.ctx, project, again("back", kept.AllocationID, retain), usecase.Request{})
	require.NoError(t, err)
	require.Contains(t, n.last["claim_rebind"].Exclusive, there)
	require.NoError(t, far.DeleteClaim(w.ctx, project, "back", usecase.Request{}))
	require.NoError(t, far.DeleteAllocation(w.ctx, project, kept.AllocationID.String(), usecase.Request{}))
	require.Contains(t, n.last["allocation_delete"].Exclusive, there)
	require.NoError(t, far.DeletePool(w.ctx, project, made.Value.Name, usecase.Request{}))
	require.Contains(t, n.last["pool_delete"].Exclusive, there)
	_, err = far.CreateClaim(w.ctx, project, claimOf("exact", "net", exactly(kept.Block.String())), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, []ipam.ID{there}, n.last["claim_group"].Exclusive)
}
