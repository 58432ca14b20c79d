package alloc_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// put creates a consumer in the project.
func (b *bundle) put(t testing.TB, n ipam.NewConsumer) {
	t.Helper()
	_, err := b.PutConsumer(b.ctx, project, n, usecase.Request{})
	require.NoError(t, err)
}

// holdRealm lets 30 consumers expire, so that the breaker holds the default realm and ends no more of its consumers.
func (b *bundle) holdRealm(t testing.TB) ipam.Realm {
	t.Helper()
	for i := range 30 {
		b.put(t, user(fmt.Sprint("u", i), living(time.Minute)))
	}
	require.Len(t, b.serveFor(t, 70*time.Second).Opened, 1)
	return b.realm(t)
}

func (b *bundle) realm(t testing.TB) ipam.Realm {
	t.Helper()
	state, err := b.GetRealm(b.ctx, project, ipam.DefaultRealm)
	require.NoError(t, err)
	return state
}

func TestRestartedServerKeepsRealmsHeld(t *testing.T) {
	t.Parallel()
	b := setup(t)
	was := b.holdRealm(t)
	store, _ := b.store(t)
	started := b.serve(store)
	for range 3 {
		b.clock.move(time.Second)
		_, err := started.ExpireConsumers(b.ctx)
		require.NoError(t, err)
		require.Empty(t, b.keep(t).Opened)
		require.Equal(t, was, b.realm(t))
	}
	require.Len(t, b.events(t, project, trail.EventFilter{Kind: trail.KindRealm}), 1)
}

// A held realm has forty expired consumers. A server that started a short time ago may end only ten of them, because the others have a longer TTL. It
// must still count all of them before it ends the hold.
func TestRestartedServerCountsAllExpiredConsumersOfAHeldRealm(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.holdRealm(t)
	for i := range 10 {
		b.put(t, user(fmt.Sprint("brief", i), living(10*time.Second)))
	}
	require.Zero(t, b.serveFor(t, 15*time.Second).Expired)
	store, _ := b.store(t)
	b.Service = b.serve(store)
	for range 15 {
		b.clock.move(time.Second)
		require.Zero(t, b.keep(t).Expired)
	}
	renewals := consumers.Renewals{Realm: ipam.DefaultRealm}
	for i := range 25 {
		renewals.UIDs = append(renewals.UIDs, fmt.Sprint("u", i))
	}
	_, err := b.RenewConsumers(b.ctx, project, renewals, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, 10, b.serveFor(t, 10*time.Second).Expired, "fifteen are no more than may be lost")
	require.True(t, b.realm(t).HeldSince.IsZero())
}

// crowd creates consumers of another project with a TTL of ten seconds. Each consumer expires a microsecond after the previous one.
func (b *bundle) crowd(t testing.TB, consumers int) {
	t.Helper()
	p, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("crowded")}, usecase.Request{})
	require.NoError(t, err)
	_, err = b.sql(t).Exec(b.ctx, `INSERT INTO consumers (region, project_id, realm, uid, id, kind, name, ttl_seconds, renewed_at, expires_at, reason, draining,
			generation, revision, created_at, updated_at, created_by)
		SELECT $1, $2, 'default', 'vm-' || i, gen_random_uuid(), '', '', 10, $3, $3::TIMESTAMPTZ + INTERVAL '10 seconds' + i * INTERVAL '1 microsecond', '', false,
			1, gen_random_uuid(), $3, $3, 'filler' FROM generate_series(1, $4::INT8) AS i`, region, [16]byte(p.Value.UID), b.clock.read(), consumers)
	require.NoError(t, err)
}

// A pass reads at most 20,000 expired consumers. A held realm of another project has more, and they expired earlier. They must not keep the job from
// other realms.
func TestHeldRealmDoesNotDelayOtherRealms(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.crowd(t, 20001)
	b.put(t, user("u", living(20*time.Second)))
	done := b.serveFor(t, time.Minute)
	require.Len(t, done.Opened, 1)
	require.Equal(t, 1, done.Expired)
	b.keep(t)
	b.put(t, user("later", living(20*time.Second)))
	require.Equal(t, 1, b.serveFor(t, 40*time.Second).Expired, "it looks at all again and again")
}

// A pass reads at most 20,000 expired consumers. So it reads only ten of the thirty expired consumers of a realm. The server must count all thirty of
// them and hold the realm.
func TestRealmIsJudgedByAllItsExpiredConsumers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.crowd(t, 19990)
	for i := range 30 {
		b.put(t, user(fmt.Sprint("u", i), living(20*time.Second)))
	}
	done := b.serveFor(t, time.Minute)
	require.Len(t, done.Opened, 2)
	require.Zero(t, done.Expired)
}

// afterRealm is a store that calls a function in the expiry job's transaction. The call is between the read and the change of a realm's state.
type afterRealm struct {
	storage.Store

	then func()
}

// InTx implements storage.Store.
func (s *afterRealm) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	return s.Store.InTx(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error {
		if op == "realm_change" {
			tx = realmRead{tx, s.then}
		}
		return fn(ctx, tx)
	})
}

type realmRead struct {
	storage.Tx

	then func()
}

// RealmGet implements storage.Tx.
func (r realmRead) RealmGet(ctx context.Context, projectID ipam.ID, realm string) (ipam.RealmState, error) {
	defer r.then()
	return r.Tx.RealmGet(ctx, projectID, realm)
}

// An admin confirms an expiry while the expiry job is about to mark the realm as held. Without locks, the job would overwrite the confirmation.
func TestConfirmationDuringAHoldIsKept(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t) // pg_locks shows that a transaction waits; CockroachDB serializes the two transactions itself
	b := setup(t)
	watch, confirmed := b.sql(t), make(chan error, 1)
	confirm := sync.OnceFunc(func() {
		ended := make(chan struct{})
		other, _ := b.server(t)
		go func() {
			defer close(ended)
			_, err := other.ConfirmExpiry(b.ctx, project, ipam.DefaultRealm, usecase.Request{})
			confirmed <- err
		}()
		for waits := false; !waits; {
			select {
			case <-ended:
				return
			default:
			}
			require.NoError(t, watch.QueryRow(b.ctx, `SELECT count(*) > 0 FROM pg_locks AS k JOIN pg_database AS d ON d.oid = k.database
				WHERE d.datname = current_database() AND k.locktype = 'advisory' AND NOT k.granted`).Scan(&waits))
		}
	})
	store, _ := b.store(t)
	b.Service = b.serve(&afterRealm{Store: store, then: confirm})
	b.holdRealm(t)
	require.NoError(t, <-confirmed)
	require.Equal(t, 30, b.serveFor(t, 10*time.Second).Expired)
}

// countingExpired is a store that calls a function before each count of a realm's expired consumers.
type countingExpired struct {
	storage.Store

	then func()
}

// RealmExpired implements storage.Store.
func (s *countingExpired) RealmExpired(ctx context.Context, projectID ipam.ID, realm string, before time.Time) (int64, error) {
	s.then()
	return s.Store.RealmExpired(ctx, projectID, realm, before)
}

func TestHeldRealmIsNotCountedInEveryPass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store, _ := b.store(t)
	counts := 0
	b.Service = b.serve(&countingExpired{Store: store, then: func() { counts++ }})
	b.holdRealm(t)
	counts = 0
	for range 20 {
		b.clock.move(time.Second)
		b.keep(t)
	}
	require.Equal(t, 2, counts)
}

// A count takes six seconds in each of three held realms. Meanwhile the server must not appear to be down. It must still end the consumers of other
// realms.
func TestSlowCountsOfHeldRealmsDoNotLookLikeAnOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 63 {
		n := user(fmt.Sprint("u", i), living(10*time.Second))
		n.Ref.Realm = fmt.Sprint("held", i%3)
		b.put(t, n)
	}
	require.Len(t, b.serveFor(t, 20*time.Second).Opened, 3)
	store, _ := b.store(t)
	b.Service = b.serve(&countingExpired{Store: store, then: func() { b.clock.move(6 * time.Second) }})
	b.put(t, user("u", living(20*time.Second)))
	require.Equal(t, 1, b.serveFor(t, time.Minute).Expired)
}
