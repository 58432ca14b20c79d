package pgfault

import (
	"io"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

func TestEveryMessageIsMatchedToItsResponse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	fe := b.raw(t)
	require.Equal(t,
		[]string{"parsed", "parameters", "columns", "bound", "columns", "row", "suspended", "row", "suspended", "closed", "closed", "ready I"},
		talk(t, fe, "ready I",
			&pgproto3.Parse{Name: "s", Query: "select generate_series(1, 3)"},
			&pgproto3.Describe{ObjectType: 'S', Name: "s"},
			&pgproto3.Bind{DestinationPortal: "p", PreparedStatement: "s"},
			&pgproto3.Describe{ObjectType: 'P', Name: "p"},
			&pgproto3.Execute{Portal: "p", MaxRows: 1},
			&pgproto3.Execute{Portal: "p", MaxRows: 1},
			&pgproto3.Close{ObjectType: 'P', Name: "p"},
			&pgproto3.Close{ObjectType: 'S', Name: "s"},
			&pgproto3.Sync{}))
	require.Equal(t, []string{"parsed", "bound", "no columns", "empty", "ready I"}, talk(t, fe, "ready I",
		&pgproto3.Parse{}, &pgproto3.Bind{}, &pgproto3.Describe{ObjectType: 'P'}, &pgproto3.Execute{}, &pgproto3.Sync{}))
	require.Equal(t, []string{"empty", "ready I"}, talk(t, fe, "ready I", &pgproto3.Query{}))
	require.Equal(t, []string{"columns", "row", "SELECT 1", "SET", "application_name", "ready I"},
		talk(t, fe, "ready I", &pgproto3.Query{String: "select 1; set application_name = 'x'"}))
	require.Equal(t, []string{"result", "ready I"}, talk(t, fe, "ready I", // 1598 is random()
		&pgproto3.FunctionCall{Function: 1598}))
	require.Equal(t, []string{"42601", "ready I"}, talk(t, fe, "ready I",
		&pgproto3.Parse{Query: "nonsense"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{}))
	require.Equal(t, []string{"26000", "ready I"}, talk(t, fe, "ready I",
		&pgproto3.Bind{PreparedStatement: "unknown"}, &pgproto3.Execute{}, &pgproto3.Sync{}))
	require.Equal(t, []string{"notice", "ROLLBACK", "ready I"}, talk(t, fe, "ready I", &pgproto3.Query{String: "rollback"}))
}

// A client may wait for a response before it sends Sync.
func TestErrorAtCommitIsSentBeforeSync(t *testing.T) {
	t.Parallel()
	for name, fault := range map[string]func() Fault{
		"40001": CommitSerializationFailure, "40003": CommitAmbiguous40003,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.proxy.SetRules(fault())
			fe := b.raw(t)
			talk(t, fe, "ready T", &pgproto3.Query{String: "begin; insert into " + b.table + " (id) values (1)"})
			require.Equal(t, []string{"parsed", "bound", name}, talk(t, fe, name,
				&pgproto3.Parse{Query: "commit"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Flush{}))
			require.Equal(t, []string{"ready I"}, talk(t, fe, "ready I",
				&pgproto3.Parse{Query: "skipped, so not even an error"}, &pgproto3.Sync{}))
			require.Equal(t, []string{"parsed", "bound", "SELECT 0", "ready I"}, talk(t, fe, "ready I",
				&pgproto3.Parse{Query: "select 1 where false"}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{}))
		})
	}
}

// A client may send requests without waiting. The proxy must match each response with its request.
func TestFaultMatchesItsStatementAmongPipelinedCycles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.proxy.SetRules(OnlySQL("'bad'", SQLState("58C00")), OnlySQL("skip locked", NoRows()))
	fe := b.raw(t)
	execute := func(sql string) []pgproto3.FrontendMessage {
		return []pgproto3.FrontendMessage{&pgproto3.Parse{Query: sql}, &pgproto3.Bind{}, &pgproto3.Execute{}, &pgproto3.Sync{}}
	}
	var all []pgproto3.FrontendMessage
	all = append(all, execute("insert into "+b.table+" (id) values (1)")...)
	all = append(all, &pgproto3.Query{String: "select 'bad'"})
	all = append(all, execute("begin")...)
	all = append(all, execute("delete from "+b.table+" where id in (select id from "+b.table+" for update skip locked) returning id")...)
	all = append(all, execute("select 'good'")...)
	all = append(all, execute("select 'bad'")...)
	require.Equal(t, []string{
		"parsed", "bound", "INSERT 0 1", "ready I",
		"58C00", "ready I",
		"parsed", "bound", "BEGIN", "ready T",
		"parsed", "bound", "DELETE 0", "ready T",
		"parsed", "bound", "row", "SELECT 1", "ready T",
		"parsed", "bound", "58C00", "ready E",
	}, talk(t, fe, "ready E", all...))
	require.Equal(t, []int64{1}, b.stored(t))
}

// Statements after a failed COMMIT in its pipeline do not run, not even outside the transaction.
func TestNothingRunsAfterAFailedCommit(t *testing.T) {
	t.Parallel()
	for name, f := range map[string]struct {
		fault  func() Fault
		stored []int64
	}{
		"40001": {CommitSerializationFailure, []int64{}},
		"40003": {CommitAmbiguous40003, []int64{1}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.proxy.SetRules(f.fault())
			batch := &pgx.Batch{}
			batch.Queue("begin")
			batch.Queue(b.insert(), 1)
			batch.Queue("commit")
			batch.Queue(b.insert(), 2)
			require.Equal(t, name, sqlState(b.pool.SendBatch(b.ctx, batch).Close()))
			require.Equal(t, f.stored, b.stored(t))
		})
	}
}

func TestTransactionOpenedInAPipelineIsTracked(t *testing.T) {
	t.Parallel()
	b := setup(t)
	var inTx []bool
	b.proxy.SetRules(Fault(func(e Event) Action {
		if e.Executes() {
			inTx = append(inTx, e.InTx)
		}
		return Action{}
	}))
	batch := &pgx.Batch{}
	for _, sql := range []string{"select 1", "begin", "select 1", "commit", "select 1"} {
		batch.Queue(sql)
	}
	require.NoError(t, b.pool.SendBatch(b.ctx, batch).Close())
	b.pool.Close()
	require.NoError(t, b.proxy.AwaitIdle(b.ctx))
	require.Equal(t, []bool{false, false, true, true, false}, inTx)
}

// For a COMMIT without a transaction, the substituted ROLLBACK causes a warning. The client must not see it.
func TestSubstitutedRollbackIsHiddenFromTheClient(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.proxy.SetRules(CommitSerializationFailure())
	require.Equal(t, []string{"40001", "ready I"}, talk(t, b.raw(t), "ready I", &pgproto3.Query{String: "commit"}))
}

func TestStatementsOfADisconnectedClientStillRun(t *testing.T) {
	t.Parallel()
	b := setup(t)
	seen := make(chan Event, 1)
	b.proxy.SetRules(On(Commit, func(e Event) Action {
		seen <- e
		return Action{}
	}))
	fe, conn := b.rawConn(t)
	talk(t, fe, "ready T", &pgproto3.Query{String: "begin; insert into " + b.table + " (id) values (1)"})
	fe.Send(&pgproto3.Parse{Query: "commit"})
	fe.Send(&pgproto3.Bind{})
	fe.Send(&pgproto3.Execute{})
	require.NoError(t, fe.Flush())
	require.NoError(t, conn.Close())
	require.NoError(t, b.proxy.AwaitEnd(b.ctx, (<-seen).Conn))
	require.Equal(t, []int64{1}, b.stored(t), "PostgreSQL commits at Execute, before Sync")
}

// The server waits for the rows of a COPY even if the client will see an error.
func TestCopyRunsUnderAFault(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.proxy.SetRules(AnswerLost())
	fe := b.raw(t)
	require.Equal(t, []string{"copy in"}, talk(t, fe, "copy in", &pgproto3.Query{String: "copy " + b.table + " (id) from stdin"}))
	fe.Send(&pgproto3.CopyData{Data: []byte("1\n")})
	fe.Send(&pgproto3.CopyDone{})
	require.NoError(t, fe.Flush())
	_, err := fe.Receive()
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, []int64{1}, b.stored(t))
}

func TestNotificationsPass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	conn, err := pgx.Connect(b.ctx, b.proxy.DSN())
	require.NoError(t, err)
	defer conn.Close(b.ctx)
	_, err = conn.Exec(b.ctx, "listen "+b.table)
	require.NoError(t, err)
	b.exec(t, "notify "+b.table+", 'hello'")
	n, err := conn.WaitForNotification(b.ctx)
	require.NoError(t, err)
	require.Equal(t, "hello", n.Payload)
}
