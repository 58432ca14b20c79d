package e2e

import (
	"fmt"
	"slices"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// dump is every row of every table as text: "nothing was written" is shown by comparing two of them.
func (w *world) dump(t testing.TB) map[string][]string {
	t.Helper()
	conn, err := pgx.Connect(t.Context(), w.dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(t.Context())) }()
	rows, err := conn.Query(t.Context(),
		"SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Subset(t, tables, []string{"projects", "spaces", "pools", "free_blocks", "allocations", "claims", "idempotency_keys"})
	out := make(map[string][]string, len(tables))
	for _, table := range tables {
		rows, err := conn.Query(t.Context(), "SELECT * FROM "+pgx.Identifier{table}.Sanitize())
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, func(row pgx.CollectableRow) (string, error) {
			values, err := row.Values()
			return fmt.Sprintf("%v", values), err
		})
		require.NoError(t, err)
		slices.Sort(lines)
		out[table] = lines
	}
	return out
}

// writesNothing runs f and demands that not one row of one table is another one afterwards.
func (w *world) writesNothing(t testing.TB, f func()) {
	t.Helper()
	before := w.dump(t)
	f()
	after := w.dump(t)
	require.Len(t, after, len(before))
	for table := range after {
		for row := range missing(before[table], after[table]) {
			t.Errorf("something was written to %s: gone is %s", table, row)
		}
		for row := range missing(after[table], before[table]) {
			t.Errorf("something was written to %s: new is %s", table, row)
		}
	}
}

// missing is what rows have and others do not.
func missing(rows, others []string) map[string]bool {
	out := make(map[string]bool, len(rows))
	for _, row := range rows {
		out[row] = true
	}
	for _, row := range others {
		delete(out, row)
	}
	return out
}
