package crdb_test

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// sureClock returns a clock that stands still. So no time passes while the store reads the database's clock. The store then knows the time exactly,
// even on a busy machine.
func sureClock() func() time.Time {
	now := time.Now()
	return func() time.Time { return now }
}

func sure(o *crdb.Options) { o.LocalTime = sureClock() }

// rememberer is a store that records the results of its transactions in one round trip.
type rememberer struct {
	*crdb.Store

	mu   sync.Mutex
	made []error
}

// InOneRoundTrip implements storage.Store.
func (r *rememberer) InOneRoundTrip(
	ctx context.Context, op string, locks storage.Locks, sent func(context.Context) (context.Context, func()), fn func(context.Context, storage.Tx) error,
) error {
	err := r.Store.InOneRoundTrip(ctx, op, locks, sent, fn)
	r.mu.Lock()
	defer r.mu.Unlock()
	r.made = append(r.made, err)
	return err
}

// quick returns the number of successful transactions in one round trip since its last call.
func (r *rememberer) quick() (n int) {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, err := range r.made {
		if err == nil {
			n++
		}
	}
	r.made = nil
	return n
}

// warm returns another server on the database of h. That server has cached the pool and its project.
func warm(t *testing.T, h *house, dsn string, options ...func(*crdb.Options)) (*rememberer, *alloc.Service) {
	t.Helper()
	r := &rememberer{Store: open(t, dsn, append(options, sure)...)}
	svc := alloc.New(r, alloc.Options{Region: region, Webhooks: hooked})
	for i := 0; i < 3 || r.quick() == 0; i++ {
		require.Less(t, i, 50, "nothing is made in one round trip")
		_, err := svc.CreateClaim(admin(t), project, claimOf(fmt.Sprint("warm-", i), project, "pool", 29), usecase.Request{})
		require.NoError(t, err)
	}
	return r, svc
}

// After another server has changed the data, cached data never decide a claim. The next claim uses the current state.
func TestStaleCacheNeverDecidesAClaim(t *testing.T) {
	t.Parallel()
	narrow := func(p ipam.Pool) (ipam.Pool, error) {
		longest := 28
		p.Spec.Allocation.MaxPrefixLength = &longest
		return p, nil
	}
	for name, c := range map[string]struct {
		change func(t *testing.T, h *house) error
		code   ipam.Code // code of the refusal; "": success
	}{
		"AnotherServerClaims": {change: func(t *testing.T, h *house) error {
			t.Helper()
			h.createClaim(t, claimOf("theirs", project, "pool", 29))
			return nil
		}},
		"AnotherServerReleases": {change: func(t *testing.T, h *house) error {
			t.Helper()
			return h.svc.DeleteClaim(admin(t), project, "warm-0", usecase.Request{})
		}},
		"ChangedPolicy": {change: func(t *testing.T, h *house) error {
			t.Helper()
			_, err := h.svc.PatchPool(admin(t), project, "pool", usecase.Request{}, narrow)
			return err
		}, code: ipam.CodePrefixLengthRejected},
		"NewQuota": {change: func(t *testing.T, h *house) error {
			t.Helper()
			_, err := h.svc.PutQuota(admin(t), project, quotaOf(1), usecase.Request{})
			return err
		}, code: ipam.CodeQuotaExceeded},
		"NameTaken": {change: func(t *testing.T, h *house) error {
			t.Helper()
			h.createClaim(t, claimOf("next", project, "pool", 29))
			return nil
		}, code: ipam.CodeAlreadyExists},
		"RestTaken": {change: func(t *testing.T, h *house) error {
			t.Helper()
			for i := 0; ; i++ {
				_, err := h.svc.CreateClaim(admin(t), project, claimOf(fmt.Sprint("rest-", i), project, "pool", 29), usecase.Request{})
				if ipam.IsCode(err, ipam.CodePoolExhausted) {
					return nil
				}
				require.NoError(t, err)
			}
		}, code: ipam.CodePoolExhausted},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.New(t)
			h := newHouse(t, dsn)
			h.createPool(t, rootPool("pool", "10.0.0.0/24"))
			r, svc := warm(t, h, dsn)
			require.NoError(t, c.change(t, h))
			_, err := svc.CreateClaim(admin(t), project, claimOf("next", project, "pool", 29), usecase.Request{})
			require.Zero(t, r.quick(), "it goes the long way")
			if c.code == "" {
				require.NoError(t, err)
			} else {
				require.True(t, ipam.IsCode(err, c.code), "%v", err)
			}
			clean(t, dsn)
		})
	}
}

// A server also releases claims of another server in one round trip, wherever their blocks are. For this it first reads the whole list of free
// blocks, which is short here.
func TestReleaseOfAnotherServersClaimTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	h := newHouse(t, dsn)
	h.createPool(t, rootPool("pool", "10.0.0.0/24"))
	for i := range 16 {
		h.createClaim(t, claimOf(fmt.Sprint("c-", i), project, "pool", 28))
	}
	r := &rememberer{Store: open(t, dsn, sure)}
	svc := alloc.New(r, alloc.Options{Region: region, Webhooks: hooked})
	release := func(i int) {
		require.NoError(t, svc.DeleteClaim(admin(t), project, fmt.Sprint("c-", i), usecase.Request{}))
	}
	release(3)
	release(12)
	require.Zero(t, r.quick(), "nothing was remembered, and then not enough")
	for n, i := range []int{15, 0, 8, 2, 9, 14, 1} {
		release(i)
		require.Equal(t, 1, r.quick(), "release %d", n)
	}
	clean(t, dsn)
}

// A server never refuses a claim because of its cache alone. One read is enough to confirm that a pool is full.
func TestExhaustionIsConfirmedByOneRead(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	h := newHouse(t, dsn)
	h.createPool(t, rootPool("pool", "10.0.0.0/28"))
	var claims []ipam.Claim
	for i := range 7 {
		claims = append(claims, claimOf(fmt.Sprint("c-", i), project, "pool", 31))
	}
	_, err := h.svc.CreateClaimBatch(admin(t), project, claims, usecase.Request{}) // a batch creates no version row for the project; a refused claim does
	require.NoError(t, err)
	r := &rememberer{Store: open(t, dsn, sure)}
	svc := alloc.New(r, alloc.Options{Region: region, Webhooks: hooked})
	refused := func(name string, quick int, code ipam.Code) *ipam.Error {
		_, err := svc.CreateClaim(admin(t), project, claimOf(name, project, "pool", 30), usecase.Request{})
		require.True(t, ipam.IsCode(err, code), "%v", err)
		require.Equal(t, quick, r.quick())
		e, _ := errors.AsType[*ipam.Error](err)
		return e
	}
	first := refused("one", 0, ipam.CodePoolExhausted)
	refused("two", 0, ipam.CodePoolExhausted)
	refused("three", 0, ipam.CodePoolExhausted)
	again := refused("one", 1, ipam.CodePoolExhausted)
	require.Equal(t, first.Message, again.Message)
	require.Equal(t, first.Figures, again.Figures)
	refused("c-3", 0, ipam.CodeAlreadyExists)

	h.createClaim(t, claimOf("theirs", project, "pool", 31)) // changes the counts of free blocks
	require.NotEqual(t, first.Message, refused("three", 0, ipam.CodePoolExhausted).Message)

	require.NoError(t, h.svc.DeleteClaim(admin(t), project, "c-0", usecase.Request{}))
	require.NoError(t, h.svc.DeleteClaim(admin(t), project, "c-1", usecase.Request{}))
	_, err = svc.CreateClaim(admin(t), project, claimOf("four", project, "pool", 30), usecase.Request{})
	require.NoError(t, err, "there is room again")
	require.Zero(t, r.quick())
	clean(t, dsn)
}

// A group that releases a block and allocates it again leaves the free blocks unchanged. It must still detect that the policy of the pool has
// changed.
func TestGroupWithoutFreeBlockChangesChecksThePolicy(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	h := newHouse(t, dsn)
	pool := h.createPool(t, rootPool("pool", "10.0.0.0/27"))
	r, _ := warm(t, h, dsn)
	for i := 0; ; i++ {
		if _, err := alloc.New(r, alloc.Options{Region: region, Webhooks: hooked}).CreateClaim(admin(t), project, claimOf(fmt.Sprint("rest-", i), project, "pool", 29), usecase.Request{}); err != nil {
			require.True(t, ipam.IsCode(err, ipam.CodePoolExhausted), "%v", err)
			break
		}
	}
	c := storage.PoolContainer(pool)
	held, err := h.svc.GetClaim(admin(t), project, "warm-0", usecase.Reading{})
	require.NoError(t, err)
	again := func(name string) error { // releases the block and claims it again, as a group does
		claimed := held
		claimed.UID, claimed.Name, claimed.AllocationID, claimed.Revision = ipam.NewID(), name, ipam.NewID(), ipam.NewID()
		released := held
		held = claimed
		return r.Store.InOneRoundTrip(admin(t), "again", storage.Locks{Exclusive: []ipam.ID{c.Lock()}, Shared: []ipam.ID{pool.ProjectID}},
			func(ctx context.Context) (context.Context, func()) { return ctx, func() {} },
			func(ctx context.Context, tx storage.Tx) error {
				if _, err := tx.GroupRead(ctx, c, freespace.Reads{}, storage.GroupQuery{Pool: pool, Projects: []ipam.ID{pool.ProjectID}}); err != nil {
					return err
				}
				return tx.Write(ctx, storage.Changes{ClaimDelete: []ipam.Claim{released}, ClaimInsert: []ipam.Claim{claimed}, Free: []storage.FreeChange{{Container: c}}})
			})
	}
	require.NoError(t, again("one"), "nothing has changed")
	_, err = h.svc.PatchPool(admin(t), project, "pool", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.Description = "another"
		return p, nil
	})
	require.NoError(t, err)
	require.ErrorIs(t, again("two"), storage.ErrCacheMiss)
}

// A claim on a shared class of the platform takes one round trip in another project, too. If the class changes, the claim uses the new class.
func TestClaimByClassTakesOneRoundTrip(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	h := newHouse(t, dsn)
	withClass(func(c *ipam.ClassSpec) { c.Visibility = ipam.VisibilityShared })(t, h, ipam.PlatformProject)
	_, err := h.svc.CreateProject(admin(t), ipam.Project{Metadata: ipam.Metadata{Name: "tenant"}}, usecase.Request{})
	require.NoError(t, err)
	r := &rememberer{Store: open(t, dsn, sure)}
	svc := alloc.New(r, alloc.Options{Region: region, Webhooks: hooked})
	made := 0
	claim := func() error {
		made++
		_, err := svc.CreateClaim(admin(t), "tenant", byClass(fmt.Sprint("c-", made), "class"), usecase.Request{})
		return err
	}
	for r.quick() == 0 {
		require.Less(t, made, 12, "nothing is made in one round trip")
		require.NoError(t, claim())
	}
	_, err = h.svc.PatchClass(admin(t), ipam.PlatformProject, "class", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.Visibility = ipam.VisibilityConsumer
		return c, nil
	})
	require.NoError(t, err)
	err = claim()
	require.True(t, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	require.Zero(t, r.quick())
	clean(t, dsn)
}

// On PostgreSQL, a lock gives a transaction its time. So a server that does not know the time exactly must take a lock. CockroachDB has no such lock.
// There a server uses one round trip even under load, when slow responses make its time inexact.
func TestInexactTimeAllowsOneRoundTripOnCockroach(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	h := newHouse(t, dsn)
	h.createPool(t, rootPool("pool", "10.0.0.0/24"))
	now, asked := time.Now(), atomic.Int64{}
	slow := func() time.Time { return now.Add(time.Duration(asked.Add(1)) * 10 * time.Millisecond) }
	r := &rememberer{Store: open(t, dsn, func(o *crdb.Options) { o.LocalTime = slow })}
	svc := alloc.New(r, alloc.Options{Region: region, Webhooks: hooked})
	for i := range 5 {
		_, err := svc.CreateClaim(admin(t), project, claimOf(fmt.Sprint("c-", i), project, "pool", 29), usecase.Request{})
		require.NoError(t, err)
	}
	if dbtest.Engine() == devdb.Postgres {
		require.Zero(t, r.quick())
	} else {
		require.NotZero(t, r.quick())
	}
	clean(t, dsn)
}

// A transaction is sent together with its COMMIT, and its response is lost. The claim is created exactly once in every case.
func TestLostResponseOfAPipelinedTransactionIsResolved(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]pgfault.Fault{
		"LostBefore": pgfault.LostBeforeCommit(), "LostAfter": pgfault.CommittedAnswerLost(), "Drained": pgfault.CommittedThenDrain57P01(),
		"Ambiguous": pgfault.CommitAmbiguous40003(), "Refused": pgfault.CommitSerializationFailure(),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn := dbtest.New(t)
			h := newHouse(t, dsn)
			h.createPool(t, rootPool("pool", "10.0.0.0/24"))
			proxy, err := pgfault.Start(context.Background(), dsn)
			require.NoError(t, err)
			t.Cleanup(proxy.Close)
			r, svc := warm(t, h, proxy.DSN())
			proxy.SetRules(pgfault.Once(fault))
			made, err := svc.CreateClaim(admin(t), project, claimOf("next", project, "pool", 29), usecase.Request{})
			require.NoError(t, err)
			r.mu.Lock()
			require.True(t, slices.ContainsFunc(r.made, func(err error) bool { return err != nil }), "the fault was met")
			r.mu.Unlock()
			got, err := h.svc.GetClaim(admin(t), project, "next", usecase.Reading{})
			require.NoError(t, err)
			require.Equal(t, made.Value.UID, got.UID)
			require.Equal(t, made.Value.Block, got.Block)
			require.NoError(t, svc.DeleteClaim(admin(t), project, "next", usecase.Request{}))
			clean(t, dsn)
		})
	}
}
