package crdb_test

import (
	"context"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// abandoned starts a request, holds its COMMIT on the network, and cancels the request. It returns the error that the caller got. arrive lets the
// COMMIT reach the database.
func (st *storm) abandoned(t *testing.T, o operation, in string) (arrive func(), told error) {
	t.Helper()
	gate := pgfault.NewGate()
	ctx, leave := context.WithCancel(admin(t))
	defer leave()
	st.proxy.SetRules(pgfault.Once(atCommit(pgfault.Hold(gate))))
	answered := make(chan error, 1)
	go func() {
		_, err := o.do(ctx, st.svc, in, o.request())
		answered <- err
	}()
	_, err := gate.Await(admin(t))
	require.NoError(t, err)
	leave()
	told = <-answered
	return gate.Open, told // the cancellation of a request does not cancel its COMMIT, which takes effect when it arrives
}

// lateCommitIsNotDenied checks a COMMIT that arrives after the deadline of its request. The change still takes effect. So the caller must not get the
// message "Nothing was changed".
func (st *storm) lateCommitIsNotDenied(t *testing.T, o operation, want map[string]int) {
	t.Helper()
	in := st.ready(t, o)
	before := st.counts(t)
	arrive, told := st.abandoned(t, o, in)
	var e *ipam.Error
	require.ErrorAs(t, told, &e)
	require.NotContains(t, e.Message, "Nothing was changed")
	if o.tx == "claim_group" { // the group continues for its other requests
		require.Equal(t, ipam.CodeDeadline, e.Code)
		require.Contains(t, e.Message, "may still take effect")
	} else {
		require.Equal(t, ipam.CodeOutcomeUnknown, e.Code)
	}
	require.Equal(t, before, st.counts(t), "it has not arrived")
	arrive()
	await(t, func() bool { // until the change is complete in all tables
		now := st.counts(t)
		for table, rows := range before {
			if now[table] != rows+want[table] {
				return false
			}
		}
		_, err := o.stored(admin(t), st.direct.svc, in)
		return err == nil
	})
}

// differsBy requires that each table has the earlier number of rows plus its number in more.
func (st *storm) differsBy(t *testing.T, before, more map[string]int) {
	t.Helper()
	for table, rows := range st.counts(t) {
		require.Equal(t, before[table]+more[table], rows, table)
	}
}

// await polls until yes returns true. Only the deadline of admin limits it.
func await(t *testing.T, yes func() bool) {
	t.Helper()
	ctx := admin(t)
	for !yes() {
		require.NoError(t, ctx.Err())
	}
}

// repeatThatOvertakesIsMadeOnce sends a retry while the COMMIT of the first request is still on the network. Both requests have the same key or name.
// Only one of the two changes takes effect, and the retry returns that change.
func (st *storm) repeatThatOvertakesIsMadeOnce(t *testing.T, o operation, want map[string]int) {
	t.Helper()
	other := newHouse(t, st.proxy.DSN()) // a second server
	in := st.ready(t, o)
	before := st.counts(t)
	arrive, _ := st.abandoned(t, o, in)
	writing := make(chan struct{}, 64)
	st.proxy.SetRules(inTransaction(pgfault.Fault(func(e pgfault.Event) pgfault.Action {
		if e.Writes || strings.Contains(e.SQL, "pg_advisory_xact_lock") {
			writing <- struct{}{}
		}
		return pgfault.Action{}
	})))
	var got any
	answered := make(chan error, 1)
	go func() {
		var err error
		got, err = o.do(admin(t), other.svc, in, o.request())
		answered <- err
	}()
	<-writing // the retry waits for the locks or rows of the first request
	arrive()
	require.NoError(t, <-answered)
	st.proxy.SetRules()
	stored, err := o.stored(admin(t), st.direct.svc, in)
	require.NoError(t, err)
	require.Equal(t, stored, got)
	st.differsBy(t, before, want)
}

// partitionEndsWithTheCallersTime cuts the network in the middle of a transaction, until the caller's deadline has passed. Nothing changes, and the
// caller gets a definite error.
func (st *storm) partitionEndsWithTheCallersTime(t *testing.T, o operation, want map[string]int) {
	t.Helper()
	in := st.ready(t, o)
	before := st.counts(t)
	partitions := st.proxy.Injected()["Partition"]
	ctx, leave := context.WithCancel(admin(t))
	defer leave()
	st.proxy.SetRules(pgfault.Once(inTransaction(pgfault.Partition())))
	answered := make(chan error, 1)
	go func() {
		_, err := o.do(ctx, st.svc, in, o.request())
		answered <- err
	}()
	await(t, func() bool { return st.proxy.Injected()["Partition"] > partitions })
	leave()
	err := <-answered
	require.True(t, ipam.IsCode(err, ipam.CodeDeadline), "%v", err)
	st.proxy.SetRules()
	st.proxy.Heal()
	require.Equal(t, before, st.counts(t))
	_, err = o.do(admin(t), st.svc, in, o.request())
	require.NoError(t, err, "when the network is back, so is the service")
	st.differsBy(t, before, want)
}

// changeIsFoundAfterTheCallersTime delays the response to a COMMIT until the caller's deadline has passed. The server then has additional time to
// search for the change, and finds it.
func (st *storm) changeIsFoundAfterTheCallersTime(t *testing.T, o operation, want map[string]int) {
	t.Helper()
	in := st.ready(t, o)
	before := st.counts(t)
	partitions := st.proxy.Injected()["PartitionAfter"]
	ctx, leave := context.WithCancel(admin(t))
	defer leave()
	committing := 0
	looking := make(chan struct{}, 64)
	st.proxy.SetRules(pgfault.Fault(func(e pgfault.Event) pgfault.Action {
		if e.Kind == pgfault.Commit {
			committing = e.Conn
		} else if committing != 0 && e.Conn != committing {
			looking <- struct{}{}
		}
		return pgfault.Action{}
	}), pgfault.Once(atCommit(pgfault.PartitionAfter())))
	var got any
	answered := make(chan error, 1)
	go func() {
		var err error
		got, err = o.do(ctx, st.svc, in, o.request())
		answered <- err
	}()
	await(t, func() bool { return st.proxy.Injected()["PartitionAfter"] > partitions })
	leave()
	select {
	case <-looking:
	case err := <-answered:
		require.NoError(t, err, "it has not been looked for")
	}
	st.proxy.Heal()
	require.NoError(t, <-answered)
	st.proxy.SetRules()
	stored, err := o.stored(admin(t), st.direct.svc, in)
	require.NoError(t, err)
	require.Equal(t, stored, got)
	st.differsBy(t, before, want)
}

// The COMMIT has taken effect, but the database now refuses all connections. So the server cannot read the outcome, and must report that it is
// unknown. A retry with the same key returns the change.
func TestUnreadableCommitIsUnknownAndTheRetryReturnsIt(t *testing.T) {
	t.Parallel()
	type round struct {
		*storm
		operation
		in           string
		before, want map[string]int
		told         error
	}
	var rounds []*round
	var wg sync.WaitGroup // all of them wait for the database, so they run in parallel
	for _, name := range []string{"CreateClaim", "CreatePool"} {
		r := &round{storm: newStorm(t), operation: operations[name]}
		rounds = append(rounds, r)
		_, r.want = r.round(t, r.operation)
		r.in = r.ready(t, r.operation)
		r.before = r.counts(t)
		r.proxy.SetRules(afterFirstCommit(pgfault.ConnectRefused("57P03")), afterFirstCommit(pgfault.ConnectionLost()), pgfault.CommittedAnswerLost())
		ctx := admin(t)
		wg.Go(func() { _, r.told = r.do(ctx, r.svc, r.in, r.request()) })
	}
	wg.Wait()
	for _, r := range rounds {
		require.True(t, ipam.IsCode(r.told, ipam.CodeOutcomeUnknown), "%v", r.told)
		r.proxy.SetRules()
		svc := alloc.New(open(t, r.proxy.DSN()), alloc.Options{Region: region, Webhooks: hooked}) // a new server, as after a restart
		got, err := r.do(admin(t), svc, r.in, r.request())
		require.NoError(t, err)
		stored, err := r.stored(admin(t), svc, r.in)
		require.NoError(t, err)
		require.Equal(t, stored, got)
		r.differsBy(t, r.before, r.want)
		clean(t, r.direct.dsn)
	}
}

// afterFirstCommit limits a fault to events after the first COMMIT. Events on existing connections are included.
func afterFirstCommit(f pgfault.Fault) pgfault.Fault {
	committed := false
	return func(e pgfault.Event) pgfault.Action {
		if !committed {
			committed = e.Kind == pgfault.Commit
			return pgfault.Action{}
		}
		return f(e)
	}
}
