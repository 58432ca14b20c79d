package pgscript_test

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/pgscript"
)

func start(t *testing.T, s pgscript.Script) *pgscript.Server {
	t.Helper()
	server, err := pgscript.Start(t.Context(), s)
	require.NoError(t, err)
	t.Cleanup(server.Close)
	return server
}

func connect(t *testing.T, dsn string) *pgx.Conn {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { _ = c.Close(context.Background()) })
	return c
}

// failing returns a script that fails the given statements with their SQLSTATEs.
func failing(codes map[string]string) pgscript.Script {
	return pgscript.Script{Answer: func(s pgscript.Statement) pgscript.Reply { return pgscript.Reply{Code: codes[s.SQL]} }}
}

// The transaction states follow CockroachDB. Each step has a statement, the byte of the next ReadyForQuery, and the tag or SQLSTATE.
func TestTransactionStatesFollowCockroachDB(t *testing.T) {
	t.Parallel()
	const sp, rel, back = "SAVEPOINT cockroach_restart", "RELEASE SAVEPOINT cockroach_restart", "ROLLBACK TO SAVEPOINT cockroach_restart"
	type say struct{ sql, status, answer string }
	for name, c := range map[string]struct {
		fails map[string]string
		says  []say
	}{
		"Commits":        {nil, []say{{"BEGIN", "T", "BEGIN"}, {"SELECT 1", "T", "SELECT 0"}, {"COMMIT", "I", "COMMIT"}}},
		"RollsBack":      {nil, []say{{"BEGIN", "T", "BEGIN"}, {"ROLLBACK", "I", "ROLLBACK"}}},
		"ReleaseCommits": {nil, []say{{"BEGIN", "T", "BEGIN"}, {sp, "T", "SAVEPOINT"}, {rel, "T", "RELEASE"}, {"COMMIT", "I", "COMMIT"}}},
		"NothingRunsAfterRelease": {nil, []say{
			{"BEGIN", "T", "BEGIN"}, {sp, "T", "SAVEPOINT"}, {rel, "T", "RELEASE"}, {"SELECT 1", "E", "25000"},
		}},
		"RollbackAfterReleaseReportsCommit": {nil, []say{{"BEGIN", "T", "BEGIN"}, {sp, "T", "SAVEPOINT"}, {rel, "T", "RELEASE"}, {"ROLLBACK", "I", "COMMIT"}}},
		"AFailedStatementWaitsForTheSavepoint": {map[string]string{"bad": "40001"}, []say{
			{"BEGIN", "T", "BEGIN"}, {sp, "T", "SAVEPOINT"}, {"bad", "E", "40001"}, {"SELECT 1", "E", "25P02"}, {back, "T", "ROLLBACK"}, {"SELECT 1", "T", "SELECT 0"},
		}},
		"NoRetryWithoutASavepoint":                  {map[string]string{"bad": "40001"}, []say{{"BEGIN", "T", "BEGIN"}, {"bad", "E", "40001"}, {back, "E", "25P02"}}},
		"AFailedReleaseLeavesAnError":               {map[string]string{rel: "40001"}, []say{{"BEGIN", "T", "BEGIN"}, {sp, "T", "SAVEPOINT"}, {rel, "E", "40001"}, {back, "T", "ROLLBACK"}}},
		"AFailedCommitLeavesNothing":                {map[string]string{"COMMIT": "40001"}, []say{{"BEGIN", "T", "BEGIN"}, {"COMMIT", "I", "40001"}}},
		"CommitOfAFailedTransactionReportsRollback": {map[string]string{"bad": "23505"}, []say{{"BEGIN", "T", "BEGIN"}, {"bad", "E", "23505"}, {"COMMIT", "I", "ROLLBACK"}}},
		"NothingIsKeptOutsideATransaction":          {map[string]string{"bad": "23505"}, []say{{"bad", "I", "23505"}, {"SELECT 1", "I", "SELECT 0"}}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, failing(c.fails))
			conn := connect(t, server.DSN()).PgConn()
			for i, one := range c.says {
				results, err := conn.Exec(t.Context(), one.sql).ReadAll()
				got := say{sql: one.sql, status: string(conn.TxStatus())}
				if pg, failed := errors.AsType[*pgconn.PgError](err); failed {
					got.answer = pg.Code
				} else {
					require.NoError(t, err)
					got.answer = results[0].CommandTag.String()
				}
				require.Equal(t, one, got, "step %d", i+1)
				require.Equal(t, pgscript.Line{Conn: 1, SQL: one.sql}, server.Said()[i])
			}
		})
	}
}

// Both protocols return the same rows. A prepared statement takes the types of its parameters from its casts.
func TestRowsAreSentInBothProtocols(t *testing.T) {
	t.Parallel()
	const ask = "SELECT n, at FROM things WHERE id = $1::UUID AND name = ANY ($2::TEXT[])"
	at := time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)
	columns := []pgscript.Column{{Name: "n", Type: pgtype.Int8OID}, {Name: "at", Type: pgtype.TimestamptzOID}}
	server := start(t, pgscript.Script{
		Shape: func(sql string) pgscript.Shape {
			if sql != ask {
				return pgscript.Shape{}
			}
			return pgscript.Shape{Params: []uint32{pgtype.UUIDOID, pgtype.TextArrayOID}, Columns: columns}
		},
		Answer: func(s pgscript.Statement) pgscript.Reply {
			return pgscript.Reply{Columns: columns, Rows: [][]any{{int64(7), at}, {int64(8), at}}}
		},
	})
	c := connect(t, server.DSN())
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeDescribeExec, pgx.QueryExecModeExec, pgx.QueryExecModeSimpleProtocol} {
		rows, err := c.Query(t.Context(), ask, mode, pgtype.UUID{Bytes: [16]byte{1}, Valid: true}, []string{"a"})
		require.NoError(t, err, mode)
		var ns []int64
		var n int64
		var when time.Time
		_, err = pgx.ForEachRow(rows, []any{&n, &when}, func() error {
			ns = append(ns, n)
			require.True(t, when.Equal(at))
			return nil
		})
		require.NoError(t, err, mode)
		require.Equal(t, []int64{7, 8}, ns, mode)
	}
}

func TestFatalErrorAndCutEndTheConnection(t *testing.T) {
	t.Parallel()
	for name, r := range map[string]pgscript.Reply{"Fatal": {Code: "57P01", Fatal: true}, "Cut": {Cut: true}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			server := start(t, pgscript.Script{Answer: func(s pgscript.Statement) pgscript.Reply { return r }})
			c := connect(t, server.DSN())
			_, err := c.Exec(t.Context(), "SELECT 1")
			require.Error(t, err)
			var pg *pgconn.PgError
			require.Equal(t, r.Fatal, errors.As(err, &pg))
			require.True(t, c.IsClosed())
		})
	}
}

// Nth counts statements with the same text. Forget restarts it.
func TestScriptDistinguishesRepeatedStatements(t *testing.T) {
	t.Parallel()
	server := start(t, pgscript.Script{Answer: func(s pgscript.Statement) pgscript.Reply {
		if s.SQL == "SELECT 1" && s.Nth == 2 {
			return pgscript.Reply{Code: "40001"}
		}
		return pgscript.Reply{}
	}})
	c := connect(t, server.DSN())
	for range 2 {
		for i, fails := range []bool{false, true, false} {
			_, err := c.Exec(t.Context(), "SELECT  1 -- a remark\n;")
			require.Equal(t, fails, err != nil, i)
		}
		require.Len(t, server.Said(), 3)
		server.Forget()
		require.Empty(t, server.Said())
	}
}
