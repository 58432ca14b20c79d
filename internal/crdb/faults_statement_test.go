package crdb_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// statementFaults lists faults before COMMIT. At that time nothing can be committed, so the attempt is retried.
var statementFaults = []struct {
	fault pgfault.Fault
	end   string
}{
	{pgfault.StatementSerializationFailure(), "again 40001"},
	{pgfault.ConnectionLost(), "again"},
	{pgfault.Drain57P01(), "again 57P01"},
	{pgfault.AnswerLost(), "again"},
	{pgfault.SQLState("40P01"), "again 40P01"},
	{pgfault.RangeUnavailable58C00(), "again 58C00"},
	{pgfault.SQLState("55P03"), "again 55P03"},
	{pgfault.SQLState("40003"), "again 40003"},
}

// faultInAStatementIsRunAgain runs an operation several times. In each run, another statement of the operation fails.
func (st *storm) faultInAStatementIsRunAgain(t *testing.T, o operation, want map[string]int) {
	t.Helper()
	place := 1
	for ; ; place++ {
		f := statementFaults[place%len(statementFaults)]
		before := total(st.proxy.Injected())
		attempts, difference := st.round(t, o, pgfault.Nth(place, inTransaction(f.fault)))
		require.Equal(t, want, difference)
		if total(st.proxy.Injected()) == before {
			break // the transaction has no further statement
		}
		requireEnds(t, []string{f.end, "committed"}, attempts, "at statement %d", place)
	}
	require.Greater(t, place, 2, "a transaction that reads and writes")
}

func total(injected map[string]int) (n int) {
	for _, count := range injected {
		n += count
	}
	return n
}

// faultThatIsFinalIsTold runs an operation with an error that no retry can fix. The server refuses the operation at once, and changes nothing. The
// code of the error shows which side is responsible.
func (st *storm) faultThatIsFinalIsTold(t *testing.T, o operation) {
	t.Helper()
	for state, want := range map[string]ipam.Code{"57014": ipam.CodeDeadline, "XX000": ipam.CodeInternal, "23514": ipam.CodeInternal} {
		in := st.ready(t, o)
		before := dbtest.Dump(t, st.conn)
		st.proxy.SetRules(pgfault.Once(inTransaction(pgfault.SQLState(state))))
		_, err := o.do(admin(t), st.svc, in, o.request())
		st.proxy.SetRules()
		require.True(t, ipam.IsCode(err, want), "%s: %v", state, err)
		require.Equal(t, []string{"refused " + state}, st.seen.take(o.tx))
		require.Equal(t, before, dbtest.Dump(t, st.conn), state)
		_, err = o.do(admin(t), st.svc, in, o.request())
		require.NoError(t, err, "and the next request is served")
	}
}

// A database that is full or starts up refuses connections. The request waits for the database until its own deadline.
func TestRefusedConnectionsAreRetried(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	for _, name := range []string{"CreateClaim", "CreatePool"} {
		o := operations[name]
		_, want := st.round(t, o)
		for _, state := range []string{"53300", "57P03"} {
			attempts, difference := st.round(t, o, pgfault.Once(inTransaction(pgfault.Drain57P01())), pgfault.First(3, pgfault.ConnectRefused(state)))
			// The background queries of the store may get some of the three refusals.
			require.GreaterOrEqual(t, len(attempts), 2)
			require.Equal(t, []string{"again 57P01", "again " + state, "again " + state, "again " + state}[:len(attempts)-1], attempts[:len(attempts)-1])
			require.Equal(t, "committed", attempts[len(attempts)-1])
			require.Equal(t, want, difference)
		}
	}
	clean(t, st.direct.dsn)
}

// If the database stays unreachable, the server reports that it is unavailable. Nothing changes.
func TestUnreachableDatabaseIsReportedUnavailable(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	o := operations["CreateClaim"]
	in := st.ready(t, o)
	before := dbtest.Dump(t, st.conn)
	st.proxy.SetRules(pgfault.Drain57P01(), pgfault.ConnectRefused("57P03"))
	_, err := o.do(admin(t), st.svc, in, o.request())
	require.True(t, ipam.IsCode(err, ipam.CodeUnavailable), "%v", err)
	var e *ipam.Error
	require.ErrorAs(t, err, &e)
	require.Positive(t, e.RetryAfter)
	require.Equal(t, before, dbtest.Dump(t, st.conn))
	require.Error(t, st.store.Ping(t.Context()))
	st.proxy.SetRules()
	require.NoError(t, st.store.Ping(t.Context()))
	_, err = o.do(admin(t), st.svc, in, o.request())
	require.NoError(t, err, "when it is back, so is the service")
}

// A read outside a transaction is retried after any fault.
func TestReadsAreRetriedAfterEveryFault(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	withClaim(ipam.ReclaimDelete)(t, st.direct, project)
	key := storage.ProjectKey{Name: project}
	p, err := st.store.ProjectGet(t.Context(), project)
	require.NoError(t, err)
	key.ID = p.UID
	for _, f := range statementFaults {
		for name, read := range map[string]func(ctx context.Context, r storage.Reader) (any, error){
			"one":  func(ctx context.Context, r storage.Reader) (any, error) { return answer(r.ClaimGet(ctx, key, "claim")) },
			"list": func(ctx context.Context, r storage.Reader) (any, error) { return answer(r.PoolList(ctx, key, "", 10)) },
			"count": func(ctx context.Context, r storage.Reader) (any, error) {
				return answer(r.ProjectHoldings(ctx, key.ID))
			},
			"batch": func(ctx context.Context, r storage.Reader) (any, error) {
				return answer(r.ClaimLookup(ctx, storage.ClaimQuery{Project: key, Name: "claim", Pool: ipam.Ref{Project: project, Name: "pool"}, Key: "none"}))
			},
		} {
			want, err := read(t.Context(), st.direct.store)
			require.NoError(t, err)
			st.proxy.SetRules(pgfault.First(2, pgfault.On(pgfault.Statement, f.fault)))
			got, err := read(t.Context(), st.store)
			require.NoError(t, err, "%s after %s", name, f.end)
			require.Equal(t, want, got)
		}
	}
	require.NotZero(t, total(st.proxy.Injected()))
}
