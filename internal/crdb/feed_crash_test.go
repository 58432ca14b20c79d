package crdb_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/standby"
)

// mortalDatabase is a PostgreSQL of the test's own, which the test can kill.
type mortalDatabase struct {
	*devdb.DB
	dir      string
	volatile bool
}

func newMortalDatabase(t *testing.T, volatile bool) *mortalDatabase {
	t.Helper()
	dbtest.OnPostgres(t)
	dir, err := os.MkdirTemp("", "mortal") // a short path, because PostgreSQL limits the path of its socket
	require.NoError(t, err)
	m := &mortalDatabase{dir: dir, volatile: volatile}
	m.start(t)
	t.Cleanup(func() {
		require.NoError(t, m.Stop(context.Background()))
		_ = os.RemoveAll(dir)
	})
	require.NoError(t, schema.Migrate(t.Context(), m.DSN(), schema.MigrateOptions{Regions: []string{region}}))
	return m
}

func (m *mortalDatabase) start(t *testing.T) {
	t.Helper()
	var err error
	m.DB, err = devdb.Start(t.Context(), devdb.Config{DataDir: m.data(), Volatile: m.volatile})
	require.NoError(t, err)
}

func (m *mortalDatabase) data() string { return filepath.Join(m.dir, "data") }

// crash kills the database with SIGKILL and starts it again.
func (m *mortalDatabase) crash(t *testing.T) {
	t.Helper()
	require.NoError(t, standby.Kill(t.Context(), m.DB, m.data()))
	m.start(t)
}

// rolledBack takes transaction numbers. When it returns, the log on disk does not contain these numbers.
func rolledBack(t *testing.T, c *pgx.Conn, many int) {
	t.Helper()
	for range many {
		_, err := c.Exec(t.Context(), "BEGIN READ WRITE; SELECT pg_current_xact_id(); ROLLBACK")
		require.NoError(t, err)
	}
}

// If the log has no record of a transaction, PostgreSQL assigns the transaction's number again after a crash. A later commit then has an old number.
// A feed that continues from a position before the crash must still contain that commit.
func TestFeedLosesNothingAfterADatabaseCrash(t *testing.T) {
	t.Parallel()
	m := newMortalDatabase(t, false)
	open := func() *crdb.Store {
		s, err := crdb.Open(t.Context(), m.DSN(), crdb.Options{Region: region})
		require.NoError(t, err)
		t.Cleanup(s.Close)
		return s
	}
	s := open()
	r := recorder{t, m.DSN(), storage.ProjectKey{ID: ipam.NewID(), Name: "p"}}
	_, err := s.RecentFeedState(t.Context())
	require.NoError(t, err)
	admin, err := pgx.Connect(t.Context(), m.DSN())
	require.NoError(t, err)
	r.committed()
	rolledBack(t, admin, 200)
	page, err := s.FeedRead(t.Context(), r.project, storage.FeedPosition{Commit: "0"}, ipam.ID{}, 10)
	require.NoError(t, err)
	m.crash(t)

	made := r.committed()
	again := open()
	ids, _ := behind(t, again, r.project, page.Now.FeedPosition, ipam.ID{})
	all, _ := behind(t, again, r.project, storage.FeedPosition{Commit: "0"}, ipam.ID{})
	require.Contains(t, all, made)
	require.Contains(t, ids, made)
}

// PostgreSQL flushes its log when a transaction ends. So the record of an open transaction may stay unflushed. A store that has just opened must not
// wait for the end of that transaction.
func TestFirstFeedPositionDoesNotWaitForTransactions(t *testing.T) {
	t.Parallel()
	m := newMortalDatabase(t, true) // this database does not flush by itself; other databases do so after some seconds
	s, err := crdb.Open(t.Context(), m.DSN(), crdb.Options{Region: region})
	require.NoError(t, err)
	t.Cleanup(s.Close)
	_, err = s.RecentFeedState(t.Context()) // creates the row of the feed
	require.NoError(t, err)
	again, err := crdb.Open(t.Context(), m.DSN(), crdb.Options{Region: region})
	require.NoError(t, err)
	t.Cleanup(again.Close)
	goesOn := recorder{t: t, dsn: m.DSN()}.begin()
	_, err = goesOn.Exec(t.Context(), "SELECT pg_logical_emit_message(false, 'carve', 'a record of no transaction')")
	require.NoError(t, err)
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	_, err = again.RecentFeedState(ctx)
	require.NoError(t, err)
	require.NoError(t, goesOn.Rollback(t.Context()))
}
