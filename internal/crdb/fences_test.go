package crdb_test

import (
	"context"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// markOf returns the version of a pool in its home region.
func markOf(t *testing.T, c *pgx.Conn, pool string) (mark ipam.ID) {
	t.Helper()
	err := c.QueryRow(t.Context(), "SELECT f.mark FROM fences AS f JOIN pools AS p ON p.id = f.id WHERE p.name = $1 AND f.region = p.region", pool).Scan((*[16]byte)(&mark))
	require.NoError(t, err)
	return mark
}

// Each change to an input of a claim gives the pool a new version. No other change does.
func TestChangesOfClaimInputsIncreaseThePoolVersion(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	c := dbtest.Connect(t, h.dsn, nil)
	ctx, none := admin(t), usecase.Request{}
	pool := rootPool("pool", "10.0.0.0/24")
	pool.Spec.ReuseAfter = new(time.Hour)
	h.createPool(t, pool)
	h.createClaim(t, claimOf("bound", project, "pool", 28))
	retained := claimOf("kept", project, "pool", 28)
	retained.Spec.ReclaimPolicy = ipam.ReclaimRetain
	h.createClaim(t, retained)
	for _, step := range []struct {
		name  string
		moves bool
		do    func() error
	}{
		{"a claim", true, func() error { h.createClaim(t, claimOf("one", project, "pool", 28)); return nil }},
		{"a dry run", false, func() error {
			_, err := h.svc.CreateClaim(ctx, project, claimOf("dry", project, "pool", 28), usecase.Request{DryRun: true})
			return err
		}},
		{"a refusal", false, func() error {
			_, err := h.svc.CreateClaim(ctx, project, claimOf("much", project, "pool", 24), none)
			require.True(t, ipam.IsCode(err, ipam.CodePoolExhausted), "%v", err)
			return nil
		}},
		{"a look", false, func() error { _, err := h.svc.GetPool(ctx, project, "pool", usecase.Reading{}); return err }},
		{"a release into the cool-down", true, func() error { return h.svc.DeleteClaim(ctx, project, "one", none) }},
		{"a release that retains", false, func() error { return h.svc.DeleteClaim(ctx, project, "kept", none) }},
		{"a child pool", true, func() error { h.createPool(t, childPool("child", project, "pool", 28, "")); return nil }},
		{"the end of the child", true, func() error { return h.svc.DeletePool(ctx, project, "child", none) }},
		{"a grant, which nobody is refused for want of from memory", false, func() error { _, err := h.svc.PutPoolGrant(ctx, project, "pool", "*", none); return err }},
		{"the end of the grant", true, func() error { return h.svc.DeletePoolGrant(ctx, project, "pool", "*", none) }},
		{"another policy", true, func() error {
			_, err := h.svc.PatchPool(ctx, project, "pool", none, func(p ipam.Pool) (ipam.Pool, error) {
				p.Spec.Allocation.Strategy = ipam.FirstFit
				return p, nil
			})
			return err
		}},
	} {
		before := markOf(t, c, "pool")
		require.NoError(t, step.do(), step.name)
		require.Equal(t, step.moves, before != markOf(t, c, "pool"), step.name)
		clean(t, h.dsn)
	}
	require.NoError(t, h.svc.DeleteClaim(ctx, project, "bound", none))
	got, err := h.svc.GetPool(ctx, project, "pool", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, map[int]int64{28: 2}, got.Stock.Cooling)
}

// The version of a pool changes after a transaction has read it. The transaction is then retried, even if the rows that it changes are still the
// same.
func TestChangedPoolVersionRetriesThePlan(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	c := dbtest.Connect(t, h.dsn, nil)
	p := h.createPool(t, rootPool("pool", "10.0.0.0/24"))
	at, runs := storage.PoolContainer(p), 0
	err := h.store.InTx(admin(t), "meet", storage.Locks{Exclusive: []ipam.ID{at.Lock()}}, func(ctx context.Context, tx storage.Tx) error {
		free, err := tx.FreeRead(ctx, at, freespace.Reads{Keys: storage.WholeBlock(at)})
		if err != nil {
			return err
		}
		if runs++; runs == 1 {
			if _, err := c.Exec(ctx, "UPDATE fences SET mark = gen_random_uuid() WHERE id = $1", [16]byte(p.UID)); err != nil {
				return err
			}
		}
		return tx.Write(ctx, storage.Changes{Free: []storage.FreeChange{{Container: at, Delete: free, Insert: free}}})
	})
	require.NoError(t, err)
	require.Equal(t, 2, runs)
	clean(t, h.dsn)
}

// The holder of a retained block gives the block back. This transaction reads no free block. The version row must count the block as cooling anyway.
func TestReturnedRetainedBlockIsCountedAsCooling(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	newProject(t, h, "tenant")
	ctx := admin(t)
	pool := rootPool("pool", "10.0.0.0/24")
	pool.Spec.Visibility, pool.Spec.ReuseAfter = ipam.VisibilityShared, new(time.Hour)
	h.createPool(t, pool)
	_, err := h.svc.PutPoolGrant(ctx, project, "pool", "tenant", usecase.Request{})
	require.NoError(t, err)
	claim := claimOf("kept", project, "pool", 28)
	claim.Spec.ReclaimPolicy = ipam.ReclaimRetain
	made, err := h.svc.CreateClaim(ctx, "tenant", claim, usecase.Request{})
	require.NoError(t, err)
	require.NoError(t, h.svc.DeleteClaim(ctx, "tenant", "kept", usecase.Request{}))
	require.NoError(t, h.svc.DeleteAllocation(ctx, "tenant", made.Value.AllocationID.String(), usecase.Request{}))
	got, err := h.svc.GetPool(ctx, project, "pool", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, map[int]int64{28: 1}, got.Stock.Cooling)
	clean(t, h.dsn)
}
