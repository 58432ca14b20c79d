package alloc_test

import (
	"context"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
)

// lent returns the number of free addresses that a pool has lent to a region. It also returns the size of the last loan.
func (w *world) lent(t *testing.T, r, pool string) (addresses int64, loan int) {
	t.Helper()
	p, err := w.GetPool(w.ctx, project, pool, usecase.Reading{})
	require.NoError(t, err)
	for _, rec := range p.Regional {
		if rec.Region == r {
			return rec.Lent.Available(32).Int64(), rec.Loan
		}
	}
	require.Fail(t, "the pool does not serve "+r)
	return 0, 0
}

func (w *world) keep(t *testing.T, r string) int {
	t.Helper()
	n, err := w.in[r].RebalanceStocks(w.ctx)
	require.NoError(t, err)
	return n
}

// The stock keeper is the background job that borrows free blocks for a region before the region has none left. Its loans become larger if the region
// uses many blocks, and smaller if it uses few. It returns unused blocks to the home region.
func TestStockKeeperFollowsTheUsageOfARegion(t *testing.T) {
	t.Parallel()
	w := setupRegions(t) // a loan should last for one hour
	w.served(t, "net", "10.0.0.0/8")
	// used makes claims until the keeper borrows blocks, and returns the size of this loan.
	used := func() int {
		t.Helper()
		for range 100 {
			for range 16 {
				c, err := w.by(eu, claim(ipam.NewID().String(), "net", 32))
				require.NoError(t, err)
				require.Equal(t, eu, c.Region)
			}
			if w.keep(t, eu) == 1 {
				free, loan := w.lent(t, eu, "net")
				require.Greater(t, free, int64(1)<<loan, "the region had stock left")
				return loan
			}
		}
		require.Fail(t, "stock is never low")
		return 0
	}
	require.Equal(t, 1, w.keep(t, eu))
	require.Equal(t, 0, w.keep(t, eu), "one loan is enough")
	require.Equal(t, 0, w.keep(t, region), "a home borrows nothing")
	has, loan := w.lent(t, eu, "net")
	require.EqualValues(t, 64, has)
	require.Equal(t, 6, loan)

	for want := 7; want <= 9; want++ {
		w.clock.move(time.Minute)
		require.Equal(t, want, used(), "twice the last one, which was used up within minutes")
	}
	w.clock.move(time.Hour)
	require.Equal(t, 9, used(), "the last one lasted about as long as it should")
	w.clock.move(3 * time.Hour)
	require.Equal(t, 8, used(), "half the last one")

	p, err := w.GetPool(w.ctx, project, "net", usecase.Reading{})
	require.NoError(t, err)
	for _, rec := range p.Regional {
		if rec.Region == eu {
			runway, known := regions.Runway(32, rec, w.clock.read())
			require.True(t, known)
			require.Positive(t, runway)
		}
	}
}

func TestStockKeeperReturnsIdleStock(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/8")
	c, err := w.by(eu, claim("large", "net", 16)) // the region borrows 64 such blocks, a quarter of the pool
	require.NoError(t, err)
	require.NoError(t, w.DeleteClaim(w.ctx, project, c.Name, usecase.Request{}))
	lent, _ := w.lent(t, eu, "net")
	require.EqualValues(t, 1<<22, lent)
	require.Equal(t, 0, w.keep(t, eu), "not before it has lain idle for long")
	w.clock.move(2 * time.Hour)
	require.Equal(t, 0, w.keep(t, eu), "no more than the last loan: that is the stock of the region")

	for i := range 3 { // the region borrows three times, although one loan would be enough
		_, err := w.by(eu, claim(fmt.Sprintf("l%d", i), "net", 10))
		require.NoError(t, err)
	}
	for i := range 3 {
		require.NoError(t, w.DeleteClaim(w.ctx, project, fmt.Sprintf("l%d", i), usecase.Request{}))
	}
	before, _ := w.lent(t, eu, "net")
	w.clock.move(2 * time.Hour)
	for n := 0; w.keep(t, eu) > 0; n++ {
		require.Less(t, n, 10, "it comes to an end")
	}
	after, _ := w.lent(t, eu, "net")
	require.Less(t, after, before)
	require.Positive(t, after)
	whole, err := w.by(us, claim("half", "net", 9))
	require.NoError(t, err)
	require.Equal(t, 9, whole.Block.Bits())
}

// unreachable is a store that cannot reach the home region of one pool.
type unreachable struct {
	storage.Store

	home ipam.ID // id of the lock in the pool's home region
	mu   sync.Mutex
	asks int
}

func (u *unreachable) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	if op == "region_lend" && slices.Contains(locks.Exclusive, u.home) {
		u.mu.Lock()
		defer u.mu.Unlock()
		u.asks++
		return ipam.Errorf(ipam.CodeUnavailable, "The home does not answer.")
	}
	return u.Store.InTx(ctx, op, locks, fn)
}

// If the home region of a pool is unreachable, the keeper reports an error. It still borrows blocks for pools in other home regions.
func TestStockKeeperContinuesPastAnUnreachableHome(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	lost := w.served(t, "lost", "10.0.0.0/16")
	w.served(t, "there", "10.1.0.0/16", func(p *ipam.PoolSpec) { p.Region = us })
	store, err := crdb.Open(w.ctx, w.dsn, crdb.Options{Region: eu})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	u := &unreachable{Store: store, home: lost.UID}
	moved, err := alloc.New(u, alloc.Options{Region: eu, Clock: w.clock.read, Runway: time.Hour}).RebalanceStocks(w.ctx)
	require.ErrorContains(t, err, "acme/lost, at home in local")
	require.Equal(t, 1, moved)
	require.Equal(t, 1, u.asks)
	addresses, _ := w.lent(t, eu, "there")
	require.Positive(t, addresses)
}

// If the home region of a pool has no free blocks, the keeper does not lock the pool there. So it delays no other transaction.
func TestStockKeeperDoesNotLockAFullHome(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24")
	_, err := w.by(region, claim("all", "net", 24))
	require.NoError(t, err)
	store, seen := w.storeIn(t, eu)
	keeper := alloc.New(store, alloc.Options{Region: eu, Clock: w.clock.read, Runway: time.Hour})
	lends := func() int { return seen.count("region_lend", "committed") }
	moved, err := keeper.RebalanceStocks(w.ctx)
	require.NoError(t, err)
	require.Zero(t, moved)
	require.Zero(t, lends())
	require.NoError(t, w.DeleteClaim(w.ctx, project, "all", usecase.Request{}))
	moved, err = keeper.RebalanceStocks(w.ctx)
	require.NoError(t, err)
	require.Equal(t, 1, moved)
	require.Equal(t, 1, lends())
}

// rounds is a store that counts the reads of the keeper. Each read is one round trip to the database.
type rounds struct {
	storage.Store
	reads int
}

func (r *rounds) PoolsServing(ctx context.Context, region string, from ipam.ID, limit int) ([]ipam.Pool, error) {
	r.reads++
	return r.Store.PoolsServing(ctx, region, from, limit)
}

func (r *rounds) PoolRegions(ctx context.Context, pools []ipam.ID) (map[ipam.ID][]ipam.PoolRegion, error) {
	r.reads++
	return r.Store.PoolRegions(ctx, pools)
}

func (r *rounds) RoomIn(ctx context.Context, ask []storage.RoomQuery) (map[ipam.ID]bool, error) {
	r.reads++
	return r.Store.RoomIn(ctx, ask)
}

// The keeper reads all pools, page by page. If the region has enough free blocks of a pool, this pool needs no read of its own.
func TestStockKeeperScansAllPools(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	const pools = 201 // one more than a page
	for i := range pools {
		w.served(t, fmt.Sprintf("net-%d", i), fmt.Sprintf("10.%d.0.0/16", i))
	}
	store, err := crdb.Open(w.ctx, w.dsn, crdb.Options{Region: eu})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	r := &rounds{Store: store}
	keeper := alloc.New(r, alloc.Options{Region: eu, Clock: w.clock.read, Runway: time.Hour})
	for _, want := range [][2]int{{pools, 6 + pools}, {0, 6}} {
		r.reads = 0
		moved, err := keeper.RebalanceStocks(w.ctx)
		require.NoError(t, err)
		require.Equal(t, want, [2]int{moved, r.reads}, "three a page, and one for each that is short")
	}
}
