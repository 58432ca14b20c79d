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

// planned is a DSN with PostgreSQL's settings for plans: the engine for CockroachDB has none of them, and a scan of a whole table is a conflict
// with everybody.
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

// newCockroachStorm is a storm before an engine for CockroachDB.
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

// releaseFaults says for each fault at RELEASE how the attempts of the transaction end. One of 40001 is no end: the closure runs again in the same
// attempt. All that is no definite answer is read back: a change that was made is not made again, one that was not is.
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

// COMMIT after RELEASE says nothing new, whatever it says.
var afterRelease = map[string]pgfault.Fault{
	"SerializationFailure": pgfault.CommitSerializationFailure(), "Ambiguous40003": pgfault.CommitAmbiguous40003(),
	"AnswerLost": pgfault.CommittedAnswerLost(), "Lost": pgfault.LostBeforeCommit(), "Drain57P01": pgfault.CommittedThenDrain57P01(),
}

// Use cases on CockroachDB's way to commit, when that breaks: the caller is told what is stored, and as many rows are written as without a fault.
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

// staysAmbiguous meets an operation with a cluster that never says how a commit ended: the caller is told just that, in a typed answer, and after
// the storm the same request is answered.
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

// The chaos of the other engine, on CockroachDB's way to commit.
func TestChaosOnCockroachDoublesLosesOrHidesNoClaim(t *testing.T) {
	t.Parallel()
	l, direct := chaos{workers: 8, each: 60, seed: 3, dialogue: []pgfault.Rule{crdb.AsCockroach()}}.run(t)
	require.Empty(t, l.violations(t, direct))
}
