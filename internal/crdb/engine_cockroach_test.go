package crdb

import (
	"context"
	"net/netip"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// reportVersion makes PostgreSQL report another version to a client of the proxy.
func reportVersion(version string) pgfault.Rule {
	return pgfault.RewriteSQL(func(sql string) string {
		return strings.Replace(sql, "SELECT version()", "SELECT '"+version+"'", 1)
	})
}

// AsCockroach makes PostgreSQL end transactions like CockroachDB. RELEASE of the savepoint cockroach_restart commits, and a rollback to this
// savepoint begins again with current data. So tests can run the engine for CockroachDB on real rows, with real serialization failures.
func AsCockroach() pgfault.Rule {
	dialogue := map[string]string{
		"SELECT version()": "SELECT 'CockroachDB CCL v25.4.1 (played by PostgreSQL)'",
		saidRelease:        "COMMIT",
		saidBack:           "ROLLBACK; BEGIN ISOLATION LEVEL SERIALIZABLE READ WRITE", // the failed COMMIT has already ended the transaction
	}
	return pgfault.RewriteSQL(func(sql string) string {
		if instead, ok := dialogue[sql]; ok {
			return instead
		}
		return sql
	})
}

// PostgreSQL itself detects the write skew at COMMIT. The closure of the second transaction then runs again in the same attempt.
func TestCockroachRetriesAFailedCommitInPlace(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	proxy, err := pgfault.Start(t.Context(), dbtest.New(t)+Patience, AsCockroach())
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	s, seen := openInside(t, proxy.DSN())
	require.Equal(t, "cockroachdb", s.Engine())
	var restarts, commits atomic.Int64
	proxy.SetRules(AsCockroach(), pgfault.Fault(func(e pgfault.Event) pgfault.Action {
		switch e.SQL {
		case strings.ToLower(saidBack):
			restarts.Add(1)
		case strings.ToLower(saidRelease):
			commits.Add(1)
		}
		return pgfault.Action{}
	}))
	left, first, second := skew(t, s)
	require.NoError(t, first)
	require.NoError(t, second)
	require.Equal(t, []string{"committed"}, seen.ends("first"))
	require.Equal(t, []string{"committed"}, seen.ends("second"))
	require.EqualValues(t, 1, restarts.Load(), "RELEASE said no, and was heard")
	require.EqualValues(t, 3, commits.Load())
	require.Equal(t, []netip.Prefix{netip.MustParsePrefix("10.0.0.0/24")}, left, "the second run saw what the first had done")
}

func analysed(name string) string {
	return strings.ToLower(strings.Join(strings.Fields(query.Get(name)), " "))
}

// The version that the server reports selects the engine. The database URL has no influence on it.
func TestEngineIsDetectedFromTheServer(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	for version, want := range map[string]string{
		"CockroachDB CCL v25.4.1 (x86_64-pc-linux-gnu, built 2026/01/12 18:55:21, go1.25.5)": "cockroachdb",
		"PostgreSQL 17.2 on x86_64-pc-linux-gnu":                                             "postgresql",
		"EnterpriseDB 13":                                                                    "",
	} {
		proxy, err := pgfault.Start(t.Context(), dbtest.New(t), reportVersion(version))
		require.NoError(t, err)
		t.Cleanup(proxy.Close)
		s, err := Open(t.Context(), proxy.DSN(), Options{Region: "local"})
		if want == "" {
			require.ErrorContains(t, err, "neither CockroachDB nor PostgreSQL: EnterpriseDB 13")
			continue
		}
		require.NoError(t, err)
		require.Equal(t, want, s.Engine())
		s.Close()
	}
}

func TestSessionSettingsHaveTimeoutsOnBothEngines(t *testing.T) {
	t.Parallel()
	for product, e := range engines {
		for _, name := range []string{"statement_timeout", "lock_timeout", "idle_in_transaction_session_timeout"} {
			require.NotEmpty(t, e.settings()[name], "%s on %s", name, product)
		}
	}
	for name := range (cockroach{}).settings() {
		require.False(t, strings.HasPrefix(name, "enable_") || strings.HasPrefix(name, "plan_"), "%s: CockroachDB refuses a session for a setting that it does not know", name)
	}
	require.Equal(t, "serializable", cockroach{}.settings()["default_transaction_isolation"])
	require.False(t, cockroach{}.usesLocks(), "whatever a transaction names")
	mine := postgres{}.settings()
	mine["statement_timeout"] = "0"
	require.NotEqual(t, mine, postgres{}.settings(), "nobody shares the map")
}

func TestDSNOverridesSessionSettings(t *testing.T) {
	t.Parallel()
	dbtest.OnPostgres(t)
	s, _ := openInside(t, dbtest.New(t)+"&statement_timeout=7000&application_name=mine")
	for name, want := range map[string]string{"statement_timeout": "7s", "application_name": "mine", "lock_timeout": "5s", "enable_seqscan": "off"} {
		var got string
		require.NoError(t, s.pool.QueryRow(t.Context(), "SELECT current_setting($1)", name).Scan(&got))
		require.Equal(t, want, got, name)
	}
}

// openAsCockroach opens a store that uses the engine for CockroachDB on PostgreSQL. Up to RELEASE, both engines have the same protocol. The proxy
// makes RELEASE fail as CockroachDB does. They differ at COMMIT, which no test here checks.
func openAsCockroach(t *testing.T) (*Store, *attempts, *pgfault.Proxy) {
	t.Helper()
	dbtest.OnPostgres(t)
	proxy, err := pgfault.Start(t.Context(), dbtest.New(t))
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	s, seen := openInside(t, proxy.DSN())
	s.engine = cockroach{}
	return s, seen, proxy
}

func release(f pgfault.Fault) pgfault.Fault { return pgfault.OnlySQL("release savepoint", f) }

// create creates a project. seen contains the attempt numbers that its closure got.
func create(t *testing.T, s *Store, name string) (seen []int, err error) {
	t.Helper()
	id := ipam.NewID()
	p := ipam.Project{Metadata: ipam.Metadata{Name: name, UID: id, Revision: id}}
	err = s.InTx(t.Context(), "create", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
		seen = append(seen, tx.Attempt())
		return tx.Write(ctx, storage.Changes{ProjectInsert: &p})
	})
	return seen, err
}

func TestCockroachRetriesInPlaceThenInANewTransaction(t *testing.T) {
	t.Parallel()
	s, ends, proxy := openAsCockroach(t)
	var begins atomic.Int64
	count := pgfault.On(pgfault.Begin, func(pgfault.Event) pgfault.Action {
		begins.Add(1)
		return pgfault.Action{}
	})
	for name, c := range map[string]struct {
		failures, attempts int
		begins             int64
	}{
		"none": {0, 1, 1}, "once": {1, 2, 1}, "often": {inPlaceRetries, inPlaceRetries + 1, 1}, "too-often": {inPlaceRetries + 1, inPlaceRetries + 2, 2},
	} {
		begins.Store(0)
		proxy.SetRules(count, pgfault.First(c.failures, release(pgfault.CommitSerializationFailure())))
		seen, err := create(t, s, name)
		require.NoError(t, err, name)
		want := make([]int, c.attempts)
		for i := range want {
			want[i] = i
		}
		require.Equal(t, want, seen, "%s: the closure sees one attempt after another, wherever they run", name)
		require.Equal(t, c.begins, begins.Load(), name)
		_, err = s.ProjectGet(t.Context(), name)
		require.NoError(t, err, name)
	}
	require.Contains(t, ends.ends("create"), "again 40001")
}

func TestCockroachReleaseWithoutADefiniteResultIsUnknown(t *testing.T) {
	t.Parallel()
	s, ends, proxy := openAsCockroach(t)
	for name, f := range map[string]pgfault.Fault{
		"ambiguous": pgfault.CommitAmbiguous40003(), "lost": pgfault.LostBeforeCommit(), "cut": pgfault.CommittedAnswerLost(),
		"drain": pgfault.CommittedThenDrain57P01(), "range": pgfault.On(pgfault.Commit, pgfault.SQLState("58C00")),
	} {
		proxy.SetRules(pgfault.Once(release(f)))
		seen, err := create(t, s, name)
		require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%s: %v", name, err)
		require.Equal(t, []int{0}, seen, name)
	}
	for _, end := range ends.ends("create") {
		require.Contains(t, end, "unknown")
	}
}

func TestCockroachDryRunAndRefusalsWriteNothing(t *testing.T) {
	t.Parallel()
	s, _, _ := openAsCockroach(t)
	id := ipam.NewID()
	p := ipam.Project{Metadata: ipam.Metadata{Name: "dry", UID: id, Revision: id}}
	write := func(ctx context.Context, tx storage.Tx) error {
		return tx.Write(ctx, storage.Changes{ProjectInsert: &p})
	}
	require.NoError(t, s.DryRun(t.Context(), "create", storage.Locks{}, write))
	refused := ipam.Errorf(ipam.CodeOverlap, "Overlaps.")
	require.Same(t, refused, s.InTx(t.Context(), "create", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
		require.NoError(t, write(ctx, tx))
		return refused
	}))
	_, err := s.ProjectGet(t.Context(), "dry")
	require.True(t, ipam.IsCode(err, ipam.CodeNotFound), "%v", err)
	_, err = create(t, s, "dry")
	require.NoError(t, err, "and the connection is as good as before")
}
