package crdb_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/pgfault"
)

// commitFaults lists faults at COMMIT, with the endings of the transaction's attempts. If the outcome is unknown, the server reads it, and repeats
// the change only if it is missing.
var commitFaults = map[string]struct {
	fault pgfault.Fault
	ends  []string
}{
	"SerializationFailure":    {pgfault.CommitSerializationFailure(), []string{"again 40001", "committed"}},
	"Deadlock":                {atCommit(pgfault.SQLState("40P01")), []string{"again 40P01", "committed"}},
	"CommittedAnswerLost":     {pgfault.CommittedAnswerLost(), []string{"unknown"}},
	"LostBeforeCommit":        {pgfault.LostBeforeCommit(), []string{"unknown", "committed"}},
	"Ambiguous40003Committed": {pgfault.CommitAmbiguous40003(), []string{"unknown 40003"}},
	"Ambiguous40003Rolled":    {pgfault.RolledBackAmbiguous40003(), []string{"unknown 40003", "committed"}},
	"Drain57P01Committed":     {pgfault.CommittedThenDrain57P01(), []string{"unknown 57P01"}},
	"Drain57P01Rolled":        {atCommit(pgfault.Drain57P01()), []string{"unknown 57P01", "committed"}},
	"RangeUnavailable58C00":   {atCommit(pgfault.SQLState("58C00")), []string{"unknown 58C00", "committed"}},
	"OutOfMemory53200":        {atCommit(pgfault.SQLState("53200")), []string{"unknown 53200", "committed"}},
	"Cancelled57014":          {atCommit(pgfault.SQLState("57014")), []string{"unknown 57014", "committed"}},
	"InternalXXUUU":           {atCommit(pgfault.SQLState("XXUUU")), []string{"unknown XXUUU", "committed"}},
}

// faultAtCommitIsSettled runs an operation with every fault at COMMIT. The caller gets the right result, and no row is missing or written twice.
func (st *storm) faultAtCommitIsSettled(t *testing.T, o operation, want map[string]int) {
	t.Helper()
	for fault, f := range commitFaults {
		attempts, difference := st.round(t, o, pgfault.Once(f.fault))
		requireEnds(t, f.ends, attempts, fault)
		require.Equal(t, want, difference, fault)
	}
	// Of these COMMITs, the first two are lost, the third is refused, and the fourth is committed but its response is lost.
	attempts, difference := st.round(t, o, pgfault.First(2, pgfault.LostBeforeCommit()),
		pgfault.Once(pgfault.CommitSerializationFailure()), pgfault.Once(pgfault.CommittedAnswerLost()))
	requireEnds(t, []string{"unknown", "unknown", "again 40001", "unknown"}, attempts)
	require.Equal(t, want, difference)
	// Here the reads of the outcome are lost, too, the first two times.
	before := st.proxy.Injected()["ConnectionLost"]
	attempts, difference = st.round(t, o, pgfault.Once(pgfault.CommittedAnswerLost()), pgfault.First(2, afterCommit(pgfault.ConnectionLost())))
	requireEnds(t, []string{"unknown"}, attempts)
	require.Equal(t, want, difference)
	require.Equal(t, before+2, st.proxy.Injected()["ConnectionLost"])
}

// afterCommit limits a fault to reads after the first COMMIT. That COMMIT may have failed itself.
func afterCommit(f pgfault.Fault) pgfault.Fault {
	conn := 0
	return func(e pgfault.Event) pgfault.Action {
		if e.Kind == pgfault.Begin && conn == 0 {
			conn = e.Conn // the connection that another fault will close
		}
		if conn == 0 || e.Conn == conn || e.InTx || e.Kind != pgfault.Statement {
			return pgfault.Action{}
		}
		return f(e)
	}
}

// pgx v5.9 to v5.12 report this error as safe to retry, although the row exists.
func TestCutAfterCommitIsUnknownDespiteTheDriver(t *testing.T) {
	t.Parallel()
	st := newStorm(t)
	id := ipam.NewID()
	p := ipam.Project{Metadata: ipam.Metadata{Name: "there", UID: id, Revision: id}}
	st.proxy.SetRules(pgfault.CommittedAnswerLost())
	err := st.store.InTx(admin(t), "create", storage.Locks{}, func(ctx context.Context, tx storage.Tx) error {
		return tx.Write(ctx, storage.Changes{ProjectInsert: &p})
	})
	t.Logf("safe to retry, says the driver: %t", pgconn.SafeToRetry(err))
	require.True(t, ipam.IsCode(err, ipam.CodeOutcomeUnknown), "%v", err)
	require.Equal(t, []string{"unknown"}, st.seen.take("create"))
	got, err := st.direct.store.ProjectGet(t.Context(), "there")
	require.NoError(t, err)
	require.Equal(t, id, got.UID)
}
