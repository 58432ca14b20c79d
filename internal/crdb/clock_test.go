package crdb_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// clockOff returns an option for a machine whose clock is wrong by a duration.
func clockOff(by time.Duration) func(*crdb.Options) {
	return func(o *crdb.Options) { o.LocalTime = func() time.Time { return time.Now().Add(by) } }
}

func databaseTime(t *testing.T, dsn string) (now time.Time) {
	t.Helper()
	require.NoError(t, dbtest.Connect(t, dsn, nil).QueryRow(t.Context(), "SELECT clock_timestamp()").Scan(&now))
	return now
}

func TestKeyExpiresAtTheSameTimeOnEveryServer(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	soon := databaseTime(t, h.dsn).Add(5 * time.Minute)
	made, err := h.svc.CreateKey(admin(t), project, ipam.APIKey{Metadata: ipam.Metadata{Name: "k"}, Spec: ipam.APIKeySpec{Role: "viewer", ExpiresAt: soon}}, usecase.Request{})
	require.NoError(t, err)
	servers := map[string]*crdb.Store{"right": h.store, "fast": open(t, h.dsn, clockOff(10*time.Minute)), "slow": open(t, h.dsn, clockOff(-20*time.Minute))}
	for name, store := range servers {
		_, err := tenancy.NewKeyring(store, nil).Authenticate(admin(t), made.Value.Token)
		require.NoError(t, err, "it is valid for five minutes more, on the %s server too", name)
	}
	// A server knows the database's time with an error of at most the duration of its fastest query. The wrong clocks differ by minutes.
	_, err = dbtest.Connect(t, h.dsn, nil).Exec(t.Context(), "UPDATE api_keys SET expires_at = clock_timestamp() - INTERVAL '30 seconds' WHERE id = $1", made.Value.UID.String())
	require.NoError(t, err)
	for name, store := range servers {
		_, err := tenancy.NewKeyring(store, nil).Authenticate(admin(t), made.Value.Token)
		require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated), "it has expired, on the %s server too: %v", name, err)
	}
}

// A transaction under a lock has a later time than all earlier owners of the lock. This is true even if it began to wait before their times.
func TestTransactionTimeIsAfterItsLock(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	h := newHouse(t, dbtest.New(t)+crdb.Patience)
	locks := storage.Locks{Exclusive: []ipam.ID{ipam.NewID()}}
	waits := dbtest.Connect(t, h.dsn, nil)
	var first, second time.Time
	done := make(chan error, 1)
	require.NoError(t, h.store.InTx(admin(t), "test_first", locks, func(ctx context.Context, tx storage.Tx) error {
		if _, err := tx.ProjectGet(ctx, project); err != nil {
			return err
		}
		go func() {
			done <- h.store.InTx(admin(t), "test_second", locks, func(ctx context.Context, tx storage.Tx) error {
				if _, err := tx.ProjectGet(ctx, project); err != nil {
					return err
				}
				second = tx.Now()
				return nil
			})
		}()
		for waiting := 0; waiting == 0; { // until the second transaction waits for the lock
			if err := waits.QueryRow(ctx, "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted").Scan(&waiting); err != nil {
				return err
			}
		}
		return waits.QueryRow(ctx, "SELECT clock_timestamp()").Scan(&first)
	}))
	require.NoError(t, <-done)
	require.True(t, first.Before(second), "the first one still had the lock at %s, and the second says it had it at %s", first, second)
}

func TestStoreFollowsTheDatabaseClock(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	for _, by := range []time.Duration{0, time.Hour, -time.Hour} {
		store := open(t, h.dsn, clockOff(by))
		before := databaseTime(t, h.dsn)
		now := store.Now()
		after := databaseTime(t, h.dsn)
		// The error of a store is at most half the duration of its fastest query. That is a millisecond here, and a second on a busy machine.
		require.WithinRange(t, now, before.Add(-5*time.Second), after.Add(5*time.Second))
	}
}
