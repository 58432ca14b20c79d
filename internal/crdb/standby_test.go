package crdb_test

import (
	"context"
	"fmt"
	"os"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/standby"
)

// pair is a server on a PostgreSQL that has a synchronous standby.
type pair struct {
	*standby.Pair
	*house
}

func newPair(t *testing.T, options ...func(*crdb.Options)) *pair {
	t.Helper()
	dbtest.OnPostgres(t)
	dir, err := os.MkdirTemp("", "pair") // a short path, because PostgreSQL limits the path of its socket
	require.NoError(t, err)
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	p, err := standby.Start(t.Context(), standby.Options{Dir: dir})
	require.NoError(t, err)
	t.Cleanup(func() { _ = p.Close(context.Background()) }) // the primary may be dead
	require.NoError(t, schema.Migrate(t.Context(), p.PrimaryDSN(), schema.MigrateOptions{Regions: []string{region}}))
	return &pair{Pair: p, house: newHouse(t, p.DSN(), options...)}
}

// within returns a request context with a deadline.
func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(admin(t), d)
	t.Cleanup(cancel)
	return ctx
}

// untilOneWaits returns a request context that ends when one more COMMIT waits for the standby. The time until then does not matter.
func (p *pair) untilOneWaits(t *testing.T) context.Context {
	t.Helper()
	before, err := p.Waiting(admin(t))
	require.NoError(t, err)
	ctx, leave := context.WithCancel(admin(t))
	t.Cleanup(leave)
	go func() {
		defer leave()
		_ = p.AwaitWaiting(ctx, before+1)
	}()
	return ctx
}

func keyed(key string) usecase.Request { return usecase.Request{Key: key, Fingerprint: [16]byte{1}} }

// failOver kills the primary and promotes the standby. It returns a server on the new primary.
func (p *pair) failOver(t *testing.T) *house {
	t.Helper()
	require.NoError(t, p.KillPrimary(admin(t)))
	require.NoError(t, p.Promote(admin(t)))
	return newHouse(t, p.StandbyDSN())
}

// cancelWaits acts like an administrator that cancels hanging sessions. PostgreSQL then makes the changes visible that still wait for the standby.
func (p *pair) cancelWaits(t *testing.T) {
	t.Helper()
	_, err := dbtest.Connect(t, p.PrimaryDSN(), nil).Exec(t.Context(), "SELECT pg_cancel_backend(pid) FROM pg_stat_activity WHERE wait_event = 'SyncRep'")
	require.NoError(t, err)
}

// A standby stalls for longer than any time limit of the server, and clients retry their requests. After a failover, all acknowledged changes exist.
func TestAcknowledgedWritesDuringAStandbyStallSurviveAFailover(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.createPool(t, rootPool("pool", "10.0.0.0/24"))
	p.Stall()
	acknowledged := map[string]ipam.Claim{}
	note := func(r usecase.Result[ipam.Claim], err error) {
		if err == nil {
			acknowledged[r.Value.Name] = r.Value
		}
	}
	for range 5 {
		ctx := within(t, 5*time.Second)
		put := make(chan struct{})
		go func() {
			defer close(put)
			_, _ = p.svc.CreatePool(ctx, project, rootPool("other", "10.1.0.0/24"), keyed("pool")) // its own COMMIT waits
		}()
		note(p.svc.CreateClaim(ctx, project, claimOf("keyed", project, "pool", 32), keyed("claim")))
		note(p.svc.PutClaim(within(t, 5*time.Second), project, claimOf("put", project, "pool", 32), usecase.Request{}))
		<-put
	}
	after := p.failOver(t)
	for name, c := range acknowledged {
		got, err := after.svc.GetClaim(admin(t), project, name, usecase.Reading{})
		require.NoError(t, err, "it was acknowledged: %s", name)
		require.Equal(t, c.UID, got.UID)
	}
}

func TestCommitIsNotCancelledAtTheCallersDeadline(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.Stall()
	_, err := p.svc.CreatePool(p.untilOneWaits(t), project, rootPool("pool", "10.0.0.0/24"), keyed("pool"))
	require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%v", err)
	require.NoError(t, p.AwaitWaiting(admin(t), 1))
	_, err = p.svc.GetPool(admin(t), project, "pool", usecase.Reading{})
	require.True(t, ipam.IsCode(err, ipam.CodeNotFound), "nobody sees what waits: %v", err)

	p.Resume()
	r, err := p.svc.CreatePool(admin(t), project, rootPool("pool", "10.0.0.0/24"), keyed("pool"))
	require.NoError(t, err)
	_, err = p.failOver(t).svc.GetPool(admin(t), project, r.Value.Name, usecase.Reading{})
	require.NoError(t, err)
}

// An administrator cancels the wait of a COMMIT. The COMMIT then succeeds with a warning, so its change is visible but not durable. The server must
// not acknowledge the change, or a read of it, before the standby has it.
func TestVisibleWriteIsAcknowledgedOnlyWhenDurable(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(o *crdb.Options) { o.MaxConnections = 16 }) // each retry leaves a COMMIT that waits
	p.createPool(t, rootPool("pool", "10.0.0.0/24"))
	p.createPool(t, rootPool("kept", "10.9.0.0/24"))
	p.createClaim(t, claimOf("released", project, "kept", 32))
	p.Stall()
	ctx := within(t, 30*time.Second)
	result := make(chan error, 3)
	go func() {
		_, err := p.svc.CreatePool(ctx, project, rootPool("seen", "10.1.0.0/24"), keyed("seen"))
		result <- err
	}()
	go func() {
		_, err := p.svc.PutClaim(ctx, project, claimOf("claim", project, "pool", 32), usecase.Request{})
		result <- err
	}()
	go func() { result <- p.svc.DeleteClaim(ctx, project, "released", usecase.Request{}) }()
	require.NoError(t, p.AwaitWaiting(admin(t), 3))
	p.cancelWaits(t)
	for range 3 {
		require.Error(t, <-result, "it can be seen, and is not durable")
	}
	_, err := p.svc.GetClaim(admin(t), project, "claim", usecase.Reading{})
	require.NoError(t, err)

	for name, repeat := range map[string]func(ctx context.Context) error{
		"replay": func(ctx context.Context) error {
			return errOf(p.svc.CreatePool(ctx, project, rootPool("seen", "10.1.0.0/24"), keyed("seen")))
		},
		"put": func(ctx context.Context) error {
			return errOf(p.svc.PutClaim(ctx, project, claimOf("claim", project, "pool", 32), usecase.Request{}))
		},
		"release": func(ctx context.Context) error { return p.svc.DeleteClaim(ctx, project, "released", usecase.Request{}) },
		"patch without a difference": func(ctx context.Context) error {
			return errOf(p.svc.PatchPool(ctx, project, "pool", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) { return p, nil }))
		},
	} {
		err := repeat(p.untilOneWaits(t))
		require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%s: %v", name, err)
	}
	after := p.failOver(t)
	_, err = after.svc.GetPool(admin(t), project, "seen", usecase.Reading{})
	require.True(t, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	_, err = after.svc.GetClaim(admin(t), project, "claim", usecase.Reading{})
	require.True(t, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	_, err = after.svc.GetClaim(admin(t), project, "released", usecase.Reading{})
	require.NoError(t, err)
}

// makeProject creates a project under a new lock, so that no other transaction waits for it.
func makeProject(ctx context.Context, store *crdb.Store, name string) error {
	p := ipam.Project{Metadata: ipam.Metadata{Name: name, UID: ipam.NewID(), Revision: ipam.NewID()}}
	return store.InTx(ctx, "make", storage.Locks{Exclusive: []ipam.ID{p.UID}}, func(ctx context.Context, tx storage.Tx) error {
		return tx.Write(ctx, storage.Changes{ProjectInsert: &p})
	})
}

func errOf[T any](_ T, err error) error { return err }

// The primary is killed while a COMMIT waits, and starts again without its standby. The change of that COMMIT is then visible.
func TestVisibleWriteAfterAPrimaryRestartIsAcknowledgedOnlyWhenDurable(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.Stall()
	made := func(ctx context.Context) error {
		return errOf(p.svc.CreatePool(ctx, project, rootPool("pool", "10.0.0.0/24"), keyed("pool")))
	}
	result := make(chan error, 1)
	ctx := within(t, time.Minute)
	go func() { result <- made(ctx) }()
	require.NoError(t, p.AwaitWaiting(admin(t), 1))
	require.NoError(t, p.KillPrimary(admin(t)))
	require.Error(t, <-result)
	require.NoError(t, p.StartPrimary(admin(t)))
	_, err := p.svc.GetPool(admin(t), project, "pool", usecase.Reading{})
	require.NoError(t, err)
	err = made(p.untilOneWaits(t))
	require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%v", err)

	p.Resume()
	require.NoError(t, made(admin(t)))
	_, err = p.failOver(t).svc.GetPool(admin(t), project, "pool", usecase.Reading{})
	require.NoError(t, err)
}

// Abandoned requests leave COMMITs that wait. The connections of the pool limit their number, and reads continue.
func TestStalledStandbyUsesAtMostThePoolsConnections(t *testing.T) {
	t.Parallel()
	p := newPair(t, func(o *crdb.Options) { o.MaxConnections = 8 })
	before, err := p.Sessions(admin(t))
	require.NoError(t, err)
	p.Stall()
	ctx, leave := context.WithCancel(admin(t))
	defer leave()
	for round := range 3 {
		var all sync.WaitGroup
		for i := range 16 {
			all.Go(func() {
				_ = makeProject(ctx, p.store, fmt.Sprintf("p-%d-%d", round, i))
			})
		}
		if round == 0 { // transactions can use half of the connections, and reads the other half
			require.NoError(t, p.AwaitWaiting(admin(t), 4))
			leave()
		}
		all.Wait()
		ctx = within(t, time.Second) //nolint:fatcontext // it is not within the one before
	}
	err = makeProject(admin(t), p.store, "late")
	require.True(t, ipam.IsCode(err, ipam.CodeUnavailable), "%v", err)
	require.Contains(t, err.Error(), "confirms no changes")
	_, err = p.svc.ListPools(admin(t), project, paging.Filter{}, 10, "", usecase.Reading{})
	require.NoError(t, err, "reads go on")
	after, err := p.Sessions(admin(t))
	require.NoError(t, err)
	waiting, err := p.Waiting(admin(t))
	require.NoError(t, err)
	t.Logf("sessions: %d before the stall, %d in it, %d of them in COMMIT", before, after, waiting)
	require.LessOrEqual(t, after, 8+2, "the pool's, and those of reads that may be stale")

	p.Resume()
	err = makeProject(admin(t), p.store, "late")
	for ipam.IsCode(err, ipam.CodeUnavailable) { // until the first COMMIT ends
		err = makeProject(admin(t), p.store, "late")
	}
	require.NoError(t, err)
}

func TestServerStopsWhileCommitsWaitForAStandby(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.Stall()
	err := makeProject(p.untilOneWaits(t), p.store, "one")
	require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%v", err)
	other, err := crdb.Open(t.Context(), p.DSN(), crdb.Options{Region: region})
	require.NoError(t, err)
	err = makeProject(p.untilOneWaits(t), other, "two")
	require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%v", err)
	other.Close()
	n, err := p.Waiting(admin(t))
	require.NoError(t, err)
	require.Equal(t, 2, n, "it left, and did not cancel anything")
}

// A server whose URL names both hosts continues after a failover. It needs no restart.
func TestServerContinuesAfterAFailover(t *testing.T) {
	t.Parallel()
	p := newPair(t)
	p.createPool(t, rootPool("pool", "10.0.0.0/24"))
	p.createClaim(t, claimOf("before", project, "pool", 32))
	killed := time.Now()
	require.NoError(t, p.KillPrimary(admin(t)))
	require.NoError(t, p.Promote(admin(t)))
	promoted := time.Now()
	ctx := admin(t)
	err := errOf(p.svc.PutClaim(ctx, project, claimOf("after", project, "pool", 32), usecase.Request{}))
	for ctx.Err() == nil && err != nil {
		err = errOf(p.svc.PutClaim(ctx, project, claimOf("after", project, "pool", 32), usecase.Request{}))
	}
	require.NoError(t, err)
	t.Logf("%s from the kill to the promotion's end, %s from there to the first claim", promoted.Sub(killed).Round(time.Millisecond), time.Since(promoted).Round(time.Millisecond))
	_, err = p.svc.GetClaim(admin(t), project, "before", usecase.Reading{})
	require.NoError(t, err)
	clean(t, p.StandbyDSN())
}
