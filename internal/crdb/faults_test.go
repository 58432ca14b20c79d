package crdb_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// storm is a server whose database fails. direct is a server that uses the same database without faults.
type storm struct {
	*house        // uses the database through the proxy
	direct *house // uses the database without the proxy
	proxy  *pgfault.Proxy
	conn   *pgx.Conn
	seen   *ends
	rounds int
}

func newStorm(t *testing.T) *storm {
	t.Helper()
	return newStormOn(t, crdb.Patience)
}

// newStormOn returns a storm. settings are additional URL parameters for its server.
func newStormOn(t *testing.T, settings string) *storm {
	t.Helper()
	dsn := dbtest.New(t)
	st := &storm{direct: newHouse(t, dsn), conn: dbtest.Connect(t, dsn, nil), seen: &ends{}}
	proxy, err := pgfault.Start(context.Background(), dsn+settings)
	require.NoError(t, err)
	t.Cleanup(proxy.Close)
	st.proxy = proxy
	st.house = newHouse(t, proxy.DSN(), func(o *crdb.Options) { o.OnAttempt = st.seen.watch })
	return st
}

// ends records the endings of attempts.
type ends struct {
	mu   sync.Mutex
	list []crdb.Attempt
}

func (e *ends) watch(a crdb.Attempt) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.list = append(e.list, a)
}

// take returns the endings of an operation's attempts since the last call, in order. It discards all records.
func (e *ends) take(op string) (out []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, a := range e.list {
		switch {
		case a.Op != op:
		case a.SQLState != "":
			out = append(out, a.End+" "+a.SQLState)
		default:
			out = append(out, a.End)
		}
	}
	e.list = nil
	return out
}

// requireEnds requires these endings of an operation's attempts. It checks them only on PostgreSQL. On CockroachDB a transaction may also restart at
// its savepoint, which is not a new attempt.
func requireEnds(t *testing.T, want, got []string, message ...any) {
	t.Helper()
	if dbtest.Engine() == devdb.Postgres {
		require.Equal(t, want, got, message...)
	}
}

// counts returns the number of rows of each table.
func (st *storm) counts(t *testing.T) map[string]int {
	t.Helper()
	var counts []string
	for _, table := range []string{
		"projects", "spaces", "pools", "free_blocks", "holds", "idempotency_keys",
		"members", "api_keys", "grants", "quotas", "quota_shards", "audit_events", "history", "removals",
	} {
		counts = append(counts, fmt.Sprintf("SELECT '%s', count(*) FROM %s", table, table))
	}
	rows, err := st.conn.Query(t.Context(), strings.Join(counts, " UNION ALL "))
	require.NoError(t, err)
	n := map[string]int{}
	var table string
	var count int
	_, err = pgx.ForEachRow(rows, []any{&table, &count}, func() error {
		n[table] = count
		return nil
	})
	require.NoError(t, err)
	return n
}

// ready prepares a new project for one run of an operation, and returns the project's name.
func (st *storm) ready(t *testing.T, o operation) (in string) {
	t.Helper()
	st.rounds++
	in = fmt.Sprintf("p-%d", st.rounds)
	_, err := st.direct.svc.CreateProject(admin(t), ipam.Project{Metadata: ipam.Metadata{Name: in}}, usecase.Request{})
	require.NoError(t, err)
	o.prepare(t, st.direct, in)
	st.seen.take("")
	return in
}

// round runs an operation once with the given faults, and requires that the caller gets the stored state. It returns the endings of the attempts, and
// the change in the number of rows of each table.
func (st *storm) round(t *testing.T, o operation, rules ...pgfault.Rule) (attempts []string, difference map[string]int) {
	t.Helper()
	in := st.ready(t, o)
	before := st.counts(t)
	st.proxy.SetRules(rules...)
	got, err := o.do(admin(t), st.svc, in, o.request())
	st.proxy.SetRules()
	require.NoError(t, err)
	attempts = st.seen.take(o.tx)
	difference = map[string]int{}
	for table, rows := range st.counts(t) {
		difference[table] = rows - before[table]
	}
	want, err := o.stored(admin(t), st.direct.svc, in)
	require.NoError(t, err)
	require.Equal(t, want, got, "what the caller is told is what is stored")
	if o.key != "" { // a retry with the same key returns the same
		again, err := o.do(admin(t), st.direct.svc, in, o.request())
		require.NoError(t, err)
		require.Equal(t, got, again)
		for table, rows := range st.counts(t) {
			require.Equal(t, before[table]+difference[table], rows, "%s: a repeat writes nothing", table)
		}
	}
	return attempts, difference
}

// Every use case that writes runs while its database fails in different ways: at COMMIT, in each statement, permanently, and on the network.
func TestUseCasesReportTheStoredStateWhenTheDatabaseFails(t *testing.T) {
	t.Parallel()
	for name, o := range operations {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			st := newStorm(t)
			attempts, want := st.round(t, o)
			require.Equal(t, []string{"committed"}, attempts)
			st.faultThatIsFinalIsTold(t, o)
			st.faultAtCommitIsSettled(t, o, want)
			st.faultInAStatementIsRunAgain(t, o, want)
			if dbtest.Engine() == devdb.Cockroach { // on CockroachDB, the count of rows would wait for the COMMIT on the network
				clean(t, st.direct.dsn)
				return
			}
			st.lateCommitIsNotDenied(t, o, want)
			if o.key != "" || name == "PutClaim" { // without a key or a given name, a retry is a new request
				st.repeatThatOvertakesIsMadeOnce(t, o, want)
			}
			if o.tx != "claim_group" { // a group continues when the network is back
				st.partitionEndsWithTheCallersTime(t, o, want)
				st.changeIsFoundAfterTheCallersTime(t, o, want)
			}
			clean(t, st.direct.dsn)
		})
	}
}

// inTransaction limits a fault to the statements inside a transaction, except BEGIN and COMMIT.
func inTransaction(f pgfault.Fault) pgfault.Fault {
	return pgfault.When(func(e pgfault.Event) bool { return e.InTx && e.Kind == pgfault.Statement }, f)
}

func atCommit(f pgfault.Fault) pgfault.Fault { return pgfault.On(pgfault.Commit, f) }
