package crdb_test

import (
	"context"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// planned returns a URL with the planner settings of the engine for PostgreSQL. The engine for CockroachDB does not set them. Without them, a scan of
// a whole table would conflict with every transaction.
func planned(t *testing.T, dsn string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	q := u.Query()
	for name, value := range crdb.SessionSettings() {
		if strings.HasPrefix(name, "enable_") || name == "plan_cache_mode" {
			q.Set(name, value)
		}
	}
	u.RawQuery = q.Encode()
	return u.String()
}

// newCockroachStorm returns a storm, which is a server with a failing database. The server uses the engine for CockroachDB.
func newCockroachStorm(t *testing.T) *storm {
	t.Helper()
	dbtest.OnPostgres(t)
	dsn := dbtest.New(t)
	st := &storm{direct: newHouse(t, dsn), conn: dbtest.Connect(t, dsn, nil), seen: &ends{}}
	proxy, err := pgfault.Start(context.Background(), dsn, crdb.AsCockroach())
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	st.proxy = proxy
	st.house = newHouse(t, planned(t, proxy.DSN()), func(o *crdb.Options) { o.OnAttempt = st.seen.watch })
	require.Equal(t, "cockroachdb", st.store.Engine())
	return st
}

// releaseFaults lists faults at RELEASE, with the endings of the transaction's attempts. An error 40001 does not end the attempt, because the closure
// runs again inside it. After an indefinite error, the server reads the outcome, and repeats the change only if it is missing.
var releaseFaults = map[string]struct {
	fault pgfault.Fault
	ends  []string
}{
	"SerializationFailure":    {pgfault.CommitSerializationFailure(), []string{"committed"}},
	"CommittedAnswerLost":     {pgfault.CommittedAnswerLost(), []string{"unknown"}},
	"LostBeforeCommit":        {pgfault.LostBeforeCommit(), []string{"unknown", "committed"}},
	"Ambiguous40003Committed": {pgfault.CommitAmbiguous40003(), []string{"unknown 40003"}},
	"Ambiguous40003Rolled":    {pgfault.RolledBackAmbiguous40003(), []string{"unknown 40003", "committed"}},
	"Drain57P01Committed":     {pgfault.CommittedThenDrain57P01(), []string{"unknown 57P01"}},
	"Drain57P01Rolled":        {atCommit(pgfault.Drain57P01()), []string{"unknown 57P01", "committed"}},
	"RangeUnavailable58C00":   {atCommit(pgfault.SQLState("58C00")), []string{"unknown 58C00", "committed"}},
}

// afterRelease lists faults at COMMIT, which follows RELEASE. At that time the outcome is already definite.
var afterRelease = map[string]pgfault.Fault{
	"SerializationFailure": pgfault.CommitSerializationFailure(), "Ambiguous40003": pgfault.CommitAmbiguous40003(),
	"AnswerLost": pgfault.CommittedAnswerLost(), "Lost": pgfault.LostBeforeCommit(), "Drain57P01": pgfault.CommittedThenDrain57P01(),
}

// The use cases run on CockroachDB's commit protocol while it fails. The caller gets the stored state. The number of written rows is the same as
// without a fault.
func TestUseCasesReportTheStoredStateWhenCockroachCommitsFail(t *testing.T) {
	t.Parallel()
	for _, name := range []string{"CreateClaim", "CreateClaimWithoutKey", "PutClaim", "DeleteClaim", "CreatePool"} {
		o, known := operations[name]
		require.True(t, known, name)
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newCockroachStorm(t)
			attempts, want := st.round(t, o, crdb.AsCockroach())
			require.Equal(t, []string{"committed"}, attempts)
			for fault, f := range releaseFaults {
				attempts, difference := st.round(t, o, crdb.AsCockroach(), pgfault.Once(pgfault.OnlySQL("release savepoint", f.fault)))
				require.Equal(t, f.ends, attempts, "%s at RELEASE", fault)
				require.Equal(t, want, difference, "%s at RELEASE", fault)
			}
			for fault, f := range afterRelease {
				attempts, difference := st.round(t, o, crdb.AsCockroach(), pgfault.Once(pgfault.When(plainCommit, f)))
				require.Equal(t, []string{"committed"}, attempts, "%s at COMMIT", fault)
				require.Equal(t, want, difference, "%s at COMMIT", fault)
			}
			for fault, f := range map[string]struct {
				fault pgfault.Fault
				ends  []string
			}{
				"SerializationFailure": {pgfault.StatementSerializationFailure(), []string{"committed"}},
				"Drain57P01":           {pgfault.Drain57P01(), []string{"again 57P01", "committed"}},
				"Lost":                 {pgfault.ConnectionLost(), []string{"again", "committed"}},
				"RangeUnavailable":     {pgfault.RangeUnavailable58C00(), []string{"again 58C00", "committed"}},
			} {
				attempts, difference := st.round(t, o, crdb.AsCockroach(), pgfault.Nth(2, inTransaction(f.fault)))
				require.Equal(t, f.ends, attempts, "%s at a statement", fault)
				require.Equal(t, want, difference, "%s at a statement", fault)
			}
			st.staysAmbiguous(t, o)
			clean(t, st.direct.dsn)
		})
	}
}

func plainCommit(e pgfault.Event) bool { return e.Kind == pgfault.Commit && e.SQL == "commit" }

// staysAmbiguous runs an operation while the cluster never reports how a commit ended. The caller gets the error code for an unknown outcome. When
// the cluster works again, the same request succeeds.
func (st *storm) staysAmbiguous(t *testing.T, o operation) {
	t.Helper()
	in := st.ready(t, o)
	st.proxy.SetRules(crdb.AsCockroach(), pgfault.OnlySQL("release savepoint", pgfault.RolledBackAmbiguous40003()))
	_, err := o.do(admin(t), st.svc, in, o.request())
	require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%v", err)
	st.proxy.SetRules(crdb.AsCockroach())
	_, err = o.do(admin(t), st.svc, in, o.request())
	require.NoError(t, err)
}

// The chaos test, on CockroachDB's commit protocol.
func TestChaosOnCockroachDoublesLosesOrHidesNoClaim(t *testing.T) {
	t.Parallel()
	l, direct := chaos{workers: 8, each: 60, seed: 3, dialogue: []pgfault.Rule{crdb.AsCockroach()}}.run(t)
	require.Empty(t, l.violations(t, direct))
}
