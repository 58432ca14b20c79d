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

// abandoned starts a request, and leaves it when its COMMIT is on its way and has not arrived. It answers what the caller was
// told, and how to let COMMIT arrive.
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
	return gate.Open, told // nobody cancels a COMMIT: it takes effect when it arrives
}

// lateCommitIsNotDenied: a COMMIT that arrives after its request has run out of time is a change that was made. Whoever asked
// must not have been told that nothing was changed.
func (st *storm) lateCommitIsNotDenied(t *testing.T, o operation, want map[string]int) {
	t.Helper()
	in := st.ready(t, o)
	before := st.counts(t)
	arrive, told := st.abandoned(t, o, in)
	var e *ipam.Error
	require.ErrorAs(t, told, &e)
	require.NotContains(t, e.Message, "Nothing was changed")
	if o.tx == "claim_group" { // which goes on, for the others in it
		require.Equal(t, ipam.CodeDeadline, e.Code)
		require.Contains(t, e.Message, "may still take effect")
	} else {
		require.Equal(t, ipam.CodeOutcomeUnknown, e.Code)
	}
	require.Equal(t, before, st.counts(t), "it has not arrived")
	arrive()
	await(t, func() bool { // the change is whole, whichever table is looked at
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

// differsBy demands that as many rows are there as there were, and these more.
func (st *storm) differsBy(t *testing.T, before, more map[string]int) {
	t.Helper()
	for table, rows := range st.counts(t) {
		require.Equal(t, before[table]+more[table], rows, table)
	}
}

// await asks until the answer is yes; the request's own guard is the only limit.
func await(t *testing.T, yes func() bool) {
	t.Helper()
	ctx := admin(t)
	for !yes() {
		require.NoError(t, ctx.Err())
	}
}

// repeatThatOvertakesIsMadeOnce: the repeat of a request overtakes the COMMIT of the first. Both are under way at once, with the
// same key or name. One change is made, and the repeat is told of it, whichever it was.
func (st *storm) repeatThatOvertakesIsMadeOnce(t *testing.T, o operation, want map[string]int) {
	t.Helper()
	other := newHouse(t, st.proxy.DSN()) // another process
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
	<-writing // and waits for what the first one has locked, or for its rows, which it wants to write as well
	arrive()
	require.NoError(t, <-answered)
	st.proxy.SetRules()
	stored, err := o.stored(admin(t), st.direct.svc, in)
	require.NoError(t, err)
	require.Equal(t, stored, got)
	st.differsBy(t, before, want)
}

// partitionEndsWithTheCallersTime: the network goes away in the middle of a transaction and the caller runs out of time. Nothing
// was changed, and that is what it is told.
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

// changeIsFoundAfterTheCallersTime: COMMIT has happened, and its answer is late when the caller's time is up. What was made is
// looked for in a time of its own, and found.
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

// COMMIT has happened, the database refuses everybody, and nothing can be read back: unknown is the only honest answer. The
// repeat with the same key gets what was made.
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
	var wg sync.WaitGroup // they wait for the database, and may do so together
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
		svc := alloc.New(open(t, r.proxy.DSN()), alloc.Options{Region: region, Webhooks: hooked}) // restarted
		got, err := r.do(admin(t), svc, r.in, r.request())
		require.NoError(t, err)
		stored, err := r.stored(admin(t), svc, r.in)
		require.NoError(t, err)
		require.Equal(t, stored, got)
		r.differsBy(t, r.before, r.want)
		clean(t, r.direct.dsn)
	}
}

// afterFirstCommit narrows a fault to what comes after the first COMMIT, also on connections that there are already.
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
