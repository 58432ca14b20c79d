package alloc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
)

// gatedIn makes a server in a region, and a gate that can stop the transactions of one operation.
func (w *world) gatedIn(t *testing.T, r, op string) (*alloc.Service, *gate) {
	t.Helper()
	store, err := crdb.Open(w.ctx, w.dsn, crdb.Options{Region: r})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	g := newGate(store, op)
	return alloc.New(g, alloc.Options{Region: r, Clock: w.clock.read, Runway: time.Hour}), g
}

// interrupted runs slow on a server in a region. It calls other between the reads and the transaction of slow. It returns the error of slow.
func (w *world) interrupted(t *testing.T, r, op string, slow func(*alloc.Service) error, other func()) error {
	t.Helper()
	s, g := w.gatedIn(t, r, op)
	g.close()
	done := make(chan error, 1)
	go func() { done <- slow(s) }()
	<-g.arrived
	other()
	g.pass()
	return <-done
}

// A pool's regions change between the first reads and the transaction of a request. The result must be right for the new regions.
func TestConcurrentRegionChangesAreHandled(t *testing.T) {
	t.Parallel()
	two := func(p *ipam.PoolSpec) { p.Regions = []string{region, eu} }
	t.Run("ChildIsCarvedFromTheParentsHome", func(t *testing.T) {
		t.Parallel()
		w := setupRegions(t)
		w.served(t, "net", "10.0.0.0/16", two)
		require.NoError(t, w.interrupted(t, eu, "pool_create", func(s *alloc.Service) error {
			_, err := s.CreatePool(w.ctx, project, child("k", "net", 24), usecase.Request{})
			return err
		}, func() { require.NoError(t, w.reregion("net")) }))
	})
	t.Run("DeletedPoolGotAnotherRegion", func(t *testing.T) {
		t.Parallel()
		w := setupRegions(t)
		w.served(t, "net", "10.0.0.0/16", two)
		require.NoError(t, w.interrupted(t, region, "pool_delete", func(s *alloc.Service) error {
			return s.DeletePool(w.ctx, project, "net", usecase.Request{})
		}, func() {
			require.NoError(t, w.reregion("net", region, eu, us))
			_, err := w.by(us, claim("c", "net", 32))
			require.NoError(t, err)
			require.NoError(t, w.DeleteClaim(w.ctx, project, "c", usecase.Request{}))
		}))
	})
	t.Run("RegionIsRemovedAfterANewLoan", func(t *testing.T) {
		t.Parallel()
		w := setupRegions(t)
		w.served(t, "net", "10.0.0.0/24")
		require.NoError(t, w.interrupted(t, region, "pool_patch", func(s *alloc.Service) error {
			_, err := s.PatchPool(w.ctx, project, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
				p.Spec.Regions = []string{region, us}
				return p, nil
			})
			return err
		}, func() { require.Equal(t, 1, w.keep(t, eu)) }))
	})
	t.Run("QueuedClaimsAreServed", func(t *testing.T) {
		t.Parallel()
		w := setupRegions(t)
		p := w.served(t, "net", "10.0.0.0/24", two)
		s, g := w.gatedIn(t, eu, "claim_group")
		g.close()
		errs := make(chan error, 2)
		ask := func(name string) {
			_, err := s.CreateClaim(w.ctx, project, claim(name, "net", 32), usecase.Request{})
			errs <- err
		}
		go ask("first")
		<-g.arrived
		go ask("second")
		lane := storage.PoolContainer(p.InRegion(eu)).Lock()
		waitFor(t, func() bool { return s.Waiting(lane) > 0 })
		require.NoError(t, w.reregion("net"))
		g.pass()
		require.NoError(t, <-errs)
		require.NoError(t, <-errs)
	})
}

// A server has cached a pool that also serves another region. Then that region is removed from the pool. The server's requests must still succeed,
// with blocks in the home region.
func TestCachedPoolServesARemovedRegionAtHome(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24", func(p *ipam.PoolSpec) { p.Regions = []string{region, eu} })
	_, err := w.by(region, claim("h", "net", 32))
	require.NoError(t, err)
	first, err := w.by(eu, claim("e", "net", 32))
	require.NoError(t, err)
	require.NoError(t, w.DeleteClaim(w.ctx, project, "e", usecase.Request{}))
	_, err = w.by(region, claimOf("x", "net", exactly(first.Block.String()))) // the server in the home region claims a block that eu has
	require.NoError(t, err)
	require.NoError(t, w.in[eu].DeleteClaim(w.ctx, project, "x", usecase.Request{}))
	_, err = w.in[eu].PatchPool(w.ctx, project, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.Regions = nil
		return p, nil
	})
	require.NoError(t, err)
	refused(t, w.DeleteClaim(w.ctx, project, "x", usecase.Request{}), ipam.CodeNotFound)
	for i := range 3 {
		_, err := w.by(region, claim(fmt.Sprintf("after%d", i), "net", 32))
		require.NoError(t, err)
		w.clock.move(time.Hour)
	}
}

// The home region is unreachable, so a loan hangs. Claims that the region's own free blocks can serve must not wait for this loan.
func TestClaimsDoNotWaitForAHangingLoan(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/20")
	s, g := w.gatedIn(t, eu, "region_lend")
	ask := func(name string, bits int) error {
		_, err := s.CreateClaim(w.ctx, project, claim(name, "net", bits), usecase.Request{})
		return err
	}
	require.NoError(t, ask("a", 32)) // borrows 64 addresses
	require.NoError(t, ask("b", 27)) // takes half of them, so few are left
	for title, borrower := range map[string]func() error{
		"OfTheKeeper": func() error { _, err := s.RebalanceStocks(w.ctx); return err },
		"OfAClaim":    func() error { return ask("large", 21) },
	} {
		g.close()
		done := make(chan error, 1)
		go func() { done <- borrower() }()
		<-g.arrived
		require.NoError(t, ask("beside-"+ipam.NewID().String(), 32), title)
		g.pass()
		require.NoError(t, <-done, title)
	}
}

// Before a claim by class is refused, the server tries to gather the parts of a block from several regions.
func TestClassFindsABlockFreeInPartsOfSeveralRegions(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.class(t, project, class("std", lengths(24, 32, 24)))
	for i, name := range []string{"a", "b"} {
		w.served(t, name, fmt.Sprintf("10.%d.0.0/24", i), func(p *ipam.PoolSpec) { p.ClassNames = []string{"std"} })
	}
	_, err := w.by(region, claim("fill", "a", 24))
	require.NoError(t, err)
	_, err = w.by(eu, claim("c", "b", 32))
	require.NoError(t, err)
	require.NoError(t, w.DeleteClaim(w.ctx, project, "c", usecase.Request{}))
	_, err = w.in[region].CreateClaim(w.ctx, project, byClass("x", "std", length(24)), usecase.Request{DryRun: true})
	refused(t, err, ipam.CodePoolExhausted) // a dry run does not gather parts
	got, err := w.by(region, byClass("x", "std", length(24)))
	require.NoError(t, err, "whoever only asked is not believed")
	require.Equal(t, "10.1.0.0/24", got.Block.String())
	_, err = w.by(region, byClass("y", "std", length(24)))
	refused(t, err, ipam.CodePoolExhausted)
}

// If the server finds no parts to gather, it caches this result for at most a second. Requests during this time must not extend it.
func TestClassFindsABlockInPartsUnderConstantRequests(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.class(t, project, class("std", lengths(24, 32, 24)))
	for i, name := range []string{"a", "b"} {
		w.served(t, name, fmt.Sprintf("10.%d.0.0/24", i), func(p *ipam.PoolSpec) { p.ClassNames = []string{"std"} })
		_, err := w.by(eu, claim("one-"+name, name, 32))
		require.NoError(t, err)
	}
	try := func() error {
		_, err := w.by(region, byClass("x", "std", length(24)))
		return err
	}
	refused(t, try(), ipam.CodePoolExhausted)
	require.NoError(t, w.DeleteClaim(w.ctx, project, "one-b", usecase.Request{}))
	for range 4 {
		w.clock.move(400 * time.Millisecond)
		if err := try(); err == nil {
			return
		}
	}
	require.Fail(t, "it is refused for as long as it is asked for")
}

// If a claim's name is taken in another region and its pool is full too, the refusal reports the name.
func TestNameConflictInAnotherRegionPrecedesAFullPool(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "alone", "10.1.0.0/30", func(p *ipam.PoolSpec) { p.Region, p.Regions = eu, nil })
	for i := range 4 {
		_, err := w.by(us, claim(fmt.Sprintf("c%d", i), "alone", 32))
		require.NoError(t, err)
	}
	w.clock.move(time.Minute)
	_, err := w.by(us, claim("c1", "alone", 32))
	refused(t, err, ipam.CodeAlreadyExists)
	_, err = w.by(us, claim("new", "alone", 32))
	refused(t, err, ipam.CodePoolExhausted)
}

// The blocks of many loans are merged into one row if they are adjacent. So a single claim can gather all these blocks.
func TestLoansOfBuddiesAreMerged(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.1.0.0/24")
	for i := range 256 {
		_, err := w.by(eu, claim(fmt.Sprintf("c%d", i), "net", 32))
		require.NoError(t, err)
		w.clock.move(3 * time.Hour) // so that the loans become smaller
	}
	require.Len(t, w.dump(t)["region_blocks"], 1)
	for i := range 256 {
		require.NoError(t, w.in[eu].DeleteClaim(w.ctx, project, fmt.Sprintf("c%d", i), usecase.Request{}))
	}
	_, err := w.by(us, claim("whole", "net", 24))
	require.NoError(t, err)
}
