package alloc_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// crowded returns a pool with a stopped transaction and a full queue. The queue has the claims a, b and c.
func crowded(t *testing.T) *gated {
	t.Helper()
	g := setupGated(t, root("net", "10.0.0.0/24"), claim("first", "net", 32))
	alloc.BoundWaiting(g.Service, 3)
	for _, name := range []string{"a", "b", "c"} {
		g.queue(t, g.claiming(claim(name, "net", 32), usecase.Request{}))
	}
	return g
}

// requireShed requires a refusal because of a full queue, with a time to wait before a retry.
func requireShed(t *testing.T, err error) {
	t.Helper()
	e := refused(t, err, ipam.CodeContention)
	require.ErrorIs(t, err, ipam.ErrShed)
	require.Equal(t, time.Second, e.RetryAfter)
}

func TestClaimIsRefusedWhenTheQueueIsFull(t *testing.T) {
	t.Parallel()
	g := crowded(t)
	other, _ := g.server(t)
	_, err := other.CreateClaim(g.ctx, project, claim("held", "net", 32), usecase.Request{})
	require.NoError(t, err)
	before := g.dump(t)

	_, err = g.CreateClaim(g.ctx, project, claim("late", "net", 32), usecase.Request{})
	requireShed(t, err)
	_, err = g.CreateClaim(g.ctx, project, claim("late", "net", 32), key("k", "late"))
	requireShed(t, err)
	_, err = g.PutClaim(g.ctx, project, claim("late", "net", 32), usecase.Request{})
	requireShed(t, err)
	requireShed(t, g.DeleteClaim(g.ctx, project, "held", usecase.Request{}))
	require.Equal(t, before, g.dump(t), "nothing is written, by name or key")
	require.Equal(t, claims.Queues{Waiting: 3, Longest: 3, Refused: 4}, g.Queues())

	g.bundle.pool(t, root("elsewhere", "10.1.0.0/24"))
	g.claim(t, claim("aside", "elsewhere", 32)) // the full queue does not affect other pools

	for _, o := range g.finish() {
		require.NoError(t, o.err, "those who waited are served")
	}
	_, err = g.CreateClaim(g.ctx, project, claim("late", "net", 32), key("k", "late"))
	require.NoError(t, err, "the repeat is served")
	g.release(t, "held")
	waitFor(t, func() bool { return g.LockedContainers() == 0 })
	require.Equal(t, claims.Queues{Refused: 4}, g.Queues())
}

func TestQueueSlotOfACancelledClaimIsReused(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/24"), claim("first", "net", 32))
	alloc.BoundWaiting(g.Service, 2)
	ctx, leave := context.WithCancel(g.ctx)
	g.queueIn(ctx, t, g.claiming(claim("impatient", "net", 32), usecase.Request{}))
	g.queue(t, g.claiming(claim("patient", "net", 32), usecase.Request{}))
	leave()
	waitFor(t, func() bool { return g.Waiting(g.pool.UID) == 1 })
	g.queue(t, g.claiming(claim("next", "net", 32), usecase.Request{}))
	late := g.finish()
	e := refused(t, late[0].err, ipam.CodeDeadline)
	require.Contains(t, e.Message, "Nothing was changed", "its turn had not come")
	require.NoError(t, late[1].err)
	require.NoError(t, late[2].err)
	_, err := g.GetClaim(g.ctx, project, "impatient", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	require.Zero(t, g.Queues().Refused)
}

func TestQueueSlotIsFreedAfterAPanic(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store, _ := b.store(t)
	f := &faulty{Store: store}
	b.Service = b.serve(f)
	alloc.BoundWaiting(b.Service, 1)
	b.pool(t, root("net", "10.0.0.0/24"))
	for i := range 5 {
		f.next(panics)
		_, err := b.CreateClaim(b.ctx, project, claim(fmt.Sprintf("c%d", i), "net", 32), usecase.Request{})
		refused(t, err, ipam.CodeInternal)
		waitFor(t, func() bool { return b.LockedContainers() == 0 })
	}
	require.Equal(t, claims.Queues{}, b.Queues())
	b.claim(t, claim("after", "net", 32))
}
