package alloc_test

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// dump returns every row of every table as text. Tests compare two dumps to show that nothing was written.
func (b *bundle) dump(t testing.TB) map[string][]string {
	t.Helper()
	conn, err := pgx.Connect(b.ctx, b.dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, conn.Close(b.ctx)) }()
	rows, err := conn.Query(b.ctx, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	for _, expected := range []string{"projects", "spaces", "pools", "free_blocks", "holds", "idempotency_keys",
		"members", "api_keys", "grants", "quotas", "quota_shards", "audit_events", "history", "removals", "classes", "pool_classes"} {
		require.Contains(t, tables, expected)
	}
	out := make(map[string][]string, len(tables))
	for _, table := range tables {
		rows, err := conn.Query(b.ctx, "SELECT * FROM "+pgx.Identifier{table}.Sanitize())
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

// mark matches the version in a row of the table fences. This table has the version rows of pools and projects.
var mark = regexp.MustCompile(`\] \[[^]]*\] \[`)

// state reduces a dump to the current state, so that two dumps with the same state compare equal. It removes events and history. It also removes
// versions, which grow with every change, and the version rows of projects.
func state(dump map[string][]string) map[string][]string {
	now := maps.Clone(dump)
	delete(now, "audit_events")
	delete(now, "history")
	now["fences"] = nil
	for _, line := range dump["fences"] {
		if strings.HasSuffix(line, " [1 0]]") { // the row of a project, which its first claim inserts, or of a container without free blocks
			continue
		}
		now["fences"] = append(now["fences"], mark.ReplaceAllString(line, "] ["))
	}
	return now
}

// counts returns the number of rows of each table.
func counts(dump map[string][]string) map[string]int {
	out := make(map[string]int, len(dump))
	for table, rows := range dump {
		out[table] = len(rows)
	}
	return out
}
