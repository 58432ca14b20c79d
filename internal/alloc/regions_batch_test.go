package alloc_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
)

// over makes a server in a region. The function wrap wraps the server's store.
func (w *world) over(t *testing.T, r string, wrap func(storage.Store) storage.Store) *alloc.Service {
	t.Helper()
	store, err := crdb.Open(w.ctx, w.dsn, crdb.Options{Region: r})
	require.NoError(t, err)
	t.Cleanup(store.Close)
	return alloc.New(wrap(store), alloc.Options{Region: r, Clock: w.clock.read, Runway: time.Hour})
}

// batchMeanwhile runs a batch in a region. It calls meanwhile between the batch's first reads and its transaction.
func (w *world) batchMeanwhile(t *testing.T, r string, claims []ipam.Claim, meanwhile func()) ([]ipam.Claim, error) {
	t.Helper()
	var g *gate
	s := w.over(t, r, func(store storage.Store) storage.Store {
		g = newGate(store, "claim_batch")
		return g
	})
	g.close()
	var (
		wg   sync.WaitGroup
		made usecase.Result[[]ipam.Claim]
		err  error
	)
	wg.Go(func() { made, err = s.CreateClaimBatch(w.ctx, project, claims, usecase.Request{}) })
	<-g.arrived
	meanwhile()
	g.pass()
	wg.Wait()
	return made.Value, err
}

func (w *world) released(t *testing.T, names ...string) {
	t.Helper()
	for _, name := range names {
		require.NoError(t, w.in[region].DeleteClaim(w.ctx, project, name, usecase.Request{}))
	}
}

// Free blocks of a pool move to another region between a batch's first reads and its transaction.
func TestBatchFindsAnExactCIDRThatMovesBetweenRegions(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		cidr string
		move func(*testing.T, *world)
	}{
		"ToAnotherRegion": {"10.0.0.0/26", func(t *testing.T, w *world) {
			t.Helper()
			made, err := w.by(eu, claim("half", "net", 25))
			require.NoError(t, err)
			require.Equal(t, "10.0.0.0/25", made.Block.String())
		}},
		"InParts": {"10.0.0.0/24", func(t *testing.T, w *world) {
			t.Helper()
			for _, r := range []string{eu, us} {
				_, err := w.by(r, claim("half", "net", 32))
				require.NoError(t, err)
				if r == eu {
					w.released(t, "half")
				}
			}
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setupRegions(t)
			w.served(t, "net", "10.0.0.0/24")
			w.served(t, "other", "10.1.0.0/24")
			made, err := w.batchMeanwhile(t, us, []ipam.Claim{claimOf("very", "net", exactly(c.cidr)), claim("any", "other", 28)}, func() {
				c.move(t, w)
				w.released(t, "half")
			})
			require.NoError(t, err)
			require.Equal(t, c.cidr, made[0].Block.String())
			require.Equal(t, us, made[1].Region)
		})
	}
}

func TestBatchIsRefusedForAHeldExactCIDR(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24")
	_, err := w.by(eu, claim("held", "net", 32))
	require.NoError(t, err)
	for name, claims := range map[string][]ipam.Claim{
		"ByAnother": {claimOf("a", "net", exactly("10.0.0.128/26")), claimOf("b", "net", exactly("10.0.0.0/27"))},
		"ByItself":  {claimOf("a", "net", exactly("10.0.0.128/25")), claimOf("b", "net", exactly("10.0.0.192/26"))},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := w.in[us].CreateClaimBatch(w.ctx, project, claims, usecase.Request{})
			e := refused(t, err, ipam.CodeBlockTaken)
			require.Equal(t, "/claims/1/spec/cidr", e.Fields[0].Pointer)
		})
	}
}

// singles returns n claims, each for one address.
func singles(prefix, pool string, n int) (list []ipam.Claim) {
	for i := range n {
		list = append(list, claim(fmt.Sprintf("%s-%d", prefix, i), pool, 32))
	}
	return list
}

func (w *world) batchIn(t *testing.T, r string, claims ...ipam.Claim) []ipam.Claim {
	t.Helper()
	made, err := w.in[r].CreateClaimBatch(w.ctx, project, claims, usecase.Request{})
	require.NoError(t, err)
	return made.Value
}

// scattered makes a pool. One half of the pool is in the region r, and every second address in it is free. The claim "keep" holds the other half in
// the home region.
func (w *world) scattered(t *testing.T, name, r string, options ...func(*ipam.PoolSpec)) {
	t.Helper()
	w.served(t, name, "10.0.0.0/25", options...)
	_, err := w.by(region, claimOf("keep", name, exactly("10.0.0.64/26")))
	require.NoError(t, err)
	for i, c := range w.batchIn(t, r, singles("x", name, 64)...) {
		require.Equal(t, r, c.Region)
		if i%2 == 0 {
			w.released(t, c.Name)
		}
	}
}

// If a batch needs free blocks of other regions, it gets them, even if they are in many pieces. If the batch does not fit, it moves no blocks.
func TestBatchGathersBlocksFromOtherRegions(t *testing.T) {
	t.Parallel()
	for _, to := range []string{region, us} {
		t.Run("To"+to, func(t *testing.T) {
			t.Parallel()
			w := setupRegions(t)
			w.scattered(t, "net", eu)
			before := w.dump(t)
			for _, none := range [][]ipam.Claim{singles("no", "net", 33), {claim("no", "net", 31)}, append(singles("no", "net", 30), claim("last", "net", 31))} {
				_, err := w.in[to].CreateClaimBatch(w.ctx, project, none, usecase.Request{})
				refused(t, err, ipam.CodePoolExhausted)
				after := w.dump(t)
				require.Equal(t, before["region_blocks"], after["region_blocks"])
				require.Equal(t, before["free_blocks"], after["free_blocks"])
			}
			for _, c := range w.batchIn(t, to, singles("y", "net", 32)...) {
				require.Equal(t, to, c.Region)
			}
		})
	}
}

// Random claims read only some of the free rows. But if a batch finds no room in its region, the search in the other regions reads all free blocks.
func TestBatchOfRandomClaimsIsRefusedIfNoRegionHasRoom(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/24", func(s *ipam.PoolSpec) { s.Allocation.Strategy = ipam.Random })
	made := w.batchIn(t, eu, singles("x", "net", 256)...)
	for i, c := range made {
		if i%2 == 0 {
			w.released(t, c.Name)
		}
	}
	_, err := w.in[eu].CreateClaimBatch(w.ctx, project, singles("y", "net", 200), usecase.Request{})
	refused(t, err, ipam.CodePoolExhausted)
	w.batchIn(t, eu, singles("z", "net", 128)...)
}

// The first claims in a batch take free blocks that the last claim needs. These claims could use blocks of another region instead, so the batch must
// succeed.
func TestBatchGathersBlocksThatItsEarlierClaimsCouldUse(t *testing.T) {
	t.Parallel()
	for _, to := range []string{region, us} {
		t.Run("To"+to, func(t *testing.T) {
			t.Parallel()
			w := setupRegions(t)
			w.scattered(t, "net", eu)
			w.released(t, "keep")
			w.batchIn(t, to, append(singles("y", "net", 32), claim("large", "net", 26))...)
		})
	}
}

// The strategy FirstFit splits large blocks, so a batch may fail although its claims would fit in another order. The search for blocks must still
// end.
func TestBatchThatFitsOnlyInAnotherOrderIsRefused(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "net", "10.0.0.0/25", func(p *ipam.PoolSpec) { p.Allocation.Strategy = ipam.FirstFit })
	_, err := w.by(region, claimOf("first", "net", exactly("10.0.0.0/26")))
	require.NoError(t, err)
	for _, c := range w.batchIn(t, eu, singles("x", "net", 64)...) {
		if last := c.Block.Addr().As4()[3]; last == 90 || last == 100 || last == 110 {
			w.released(t, c.Name)
		}
	}
	w.released(t, "first")
	_, err = w.in[region].CreateClaimBatch(w.ctx, project, []ipam.Claim{claim("a", "net", 32), claim("b", "net", 26)}, usecase.Request{})
	refused(t, err, ipam.CodePoolExhausted)
	w.batchIn(t, region, claim("b", "net", 26), claim("a", "net", 32))
}

// interposed is a store that calls a function once. It does so before the first transaction that searches or moves blocks of other regions.
type interposed struct {
	storage.Store
	once sync.Once
	do   func()
}

func (i *interposed) before(op string) {
	if strings.HasPrefix(op, "region_") {
		i.once.Do(i.do)
	}
}

func (i *interposed) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	i.before(op)
	return i.Store.InTx(ctx, op, locks, fn)
}

func (i *interposed) DryRun(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	i.before(op)
	return i.Store.DryRun(ctx, op, locks, fn)
}

// Blocks become free in the batch's own region while the batch searches other regions. The batch must use these blocks.
func TestBatchUsesRoomThatAppearsInItsRegion(t *testing.T) {
	t.Parallel()
	for _, r := range []string{region, us} {
		t.Run("In"+r, func(t *testing.T) {
			t.Parallel()
			w := setupRegions(t)
			w.served(t, "net", "10.0.0.0/26")
			w.batchIn(t, r, singles("x", "net", 64)...)
			s := w.over(t, r, func(store storage.Store) storage.Store {
				return &interposed{Store: store, do: func() { w.released(t, "x-3", "x-17") }}
			})
			_, err := s.CreateClaimBatch(w.ctx, project, singles("y", "net", 2), usecase.Request{})
			require.NoError(t, err)
		})
	}
}

// The batch's region is removed from the pool before the batch's transaction. Then the home region must serve the batch.
func TestBatchIsServedAtHomeAfterItsRegionIsRemoved(t *testing.T) {
	t.Parallel()
	for name, left := range map[string][]string{"AnotherGoesOn": {region, us}, "NoneGoesOn": nil} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setupRegions(t)
			w.class(t, platform, class("small", sharedClass, lengths(24, 32, 28)))
			w.served(t, "net", "10.0.0.0/24", func(p *ipam.PoolSpec) { p.ClassNames = []string{"small"} })
			n := 0
			for _, ask := range []ipam.Claim{claim("", "net", 28), byClass("", "small"), claimOf("", "net", exactly("10.0.0.240/28"))} {
				n++
				name := func(i int) ipam.Claim {
					ask.Name = fmt.Sprintf("c-%d-%d", n, i)
					return ask
				}
				w.serving(t, "net", region, eu, us)
				_, err := w.by(eu, name(0))
				require.NoError(t, err)
				w.released(t, ask.Name)
				made, err := w.batchMeanwhile(t, eu, []ipam.Claim{name(1)}, func() { w.serving(t, "net", left...) })
				require.NoError(t, err)
				require.Equal(t, region, made[0].Region)
				w.released(t, ask.Name)
				later := w.batchIn(t, eu, name(2)) // this server has cached the pool
				require.Equal(t, region, later[0].Region)
				w.released(t, ask.Name)
			}
		})
	}
}

func (w *world) serving(t *testing.T, pool string, regions ...string) {
	t.Helper()
	_, err := w.PatchPool(w.ctx, project, pool, usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.Regions = regions
		return p, nil
	})
	require.NoError(t, err)
}
