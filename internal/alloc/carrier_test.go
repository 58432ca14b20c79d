package alloc_test

import (
	"context"
	"fmt"
	"runtime"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// carrying is a store that stops its pipelined transactions at a gate. It records how many pools each of them locks.
type carrying struct {
	storage.Store

	gate chan struct{} // closed channel: open gate

	mu    sync.Mutex
	pools []int
}

// InOneRoundTrip implements storage.Store.
func (c *carrying) InOneRoundTrip(
	ctx context.Context, op string, locks storage.Locks, sent func(context.Context) (context.Context, func()), fn func(context.Context, storage.Tx) error,
) error {
	<-c.gate
	err := c.Store.InOneRoundTrip(ctx, op, locks, sent, fn)
	if err == nil {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.pools = append(c.pools, len(locks.Exclusive))
	}
	return err
}

// setupMany makes pools, and makes the server cache them.
func setupMany(t *testing.T, n int) (*bundle, *carrying, []ipam.Pool) {
	t.Helper()
	b := setup(t)
	began := time.Now() // a fixed clock, so that a busy machine does not disturb the estimate of the database's clock
	store, _ := b.store(t, func(o *crdb.Options) { o.LocalTime = func() time.Time { return began } })
	c := &carrying{Store: store, gate: make(chan struct{})}
	close(c.gate)
	b.Service = b.serve(c)
	pools := make([]ipam.Pool, n)
	for i := range pools {
		pools[i] = b.pool(t, root(fmt.Sprint("pool-", i), fmt.Sprintf("10.%d.0.0/24", i)))
		for j := range 3 {
			b.claim(t, claim(fmt.Sprintf("warm-%d-%d", i, j), pools[i].Name, 32))
		}
	}
	return b, c, pools
}

// start claims from a pool and returns a channel for the result.
func (b *bundle) start(name string, p ipam.Pool) <-chan error {
	done := make(chan error, 1)
	go func() {
		_, err := b.CreateClaim(b.ctx, project, claim(name, p.Name, 32), usecase.Request{})
		done <- err
	}()
	return done
}

// If all workers are busy, pools with waiting claims share the next transaction.
func TestReadyPoolsShareATransaction(t *testing.T) {
	t.Parallel()
	b, c, pools := setupMany(t, 16+runtime.GOMAXPROCS(0)+2)
	c.pools, c.gate = nil, make(chan struct{})
	var all []<-chan error
	for i, p := range pools {
		all = append(all, b.start(fmt.Sprint("c-", i), p))
	}
	waitFor(t, func() bool {
		led := 0
		for _, p := range pools {
			led += b.Users(p.UID)
		}
		return led >= len(pools)
	})
	close(c.gate)
	largest := 0
	for _, done := range all {
		require.NoError(t, <-done)
	}
	c.mu.Lock()
	for _, n := range c.pools {
		largest = max(largest, n)
	}
	c.mu.Unlock()
	require.Greater(t, largest, 8, "%v", c.pools)
}

// If another server keeps a pool locked, claims on other pools do not wait. That is also true if they shared a transaction with a claim on that pool.
func TestSlowPoolDoesNotDelayClaimsOnOtherPools(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	b, c, pools := setupMany(t, 12)
	slow, others := pools[0], pools[1:]
	stranger, _ := b.store(t)
	entered, leave, left := make(chan struct{}), make(chan struct{}), make(chan error, 1)
	go func() {
		left <- stranger.InTx(b.ctx, "slow", storage.Locks{Exclusive: []ipam.ID{slow.UID}}, func(ctx context.Context, tx storage.Tx) error {
			if _, err := tx.PoolGetByID(ctx, slow.UID); err != nil {
				return err
			}
			close(entered)
			for { // the database ends a session that is idle in a transaction for three seconds
				select {
				case <-leave:
					return nil
				case <-time.After(100 * time.Millisecond):
				}
				if _, err := tx.PoolGetByID(ctx, slow.UID); err != nil {
					return err
				}
			}
		})
	}()
	<-entered
	c.gate = make(chan struct{})
	waits := b.start("waits", slow)
	var all []<-chan error
	for round := range 3 {
		for i, p := range others {
			all = append(all, b.start(fmt.Sprintf("c-%d-%d", round, i), p))
		}
	}
	waitFor(t, func() bool { return b.Users(others[len(others)-1].UID) > 0 })
	close(c.gate)
	for _, done := range all {
		require.NoError(t, <-done)
	}
	select {
	case err := <-waits:
		require.Fail(t, "the slow pool is somebody else's", "%v", err)
	default:
	}
	close(leave)
	require.NoError(t, <-left)
	require.NoError(t, <-waits)
}
