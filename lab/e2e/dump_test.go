package e2e

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// moving lists the columns that the service's jobs write at any time. A request did not cause these changes.
var moving = []string{"last_used_at", "empty_since", "due_at", "lease", "epoch", "progress", "after_name", "looked_at"}

// purged lists the tables from which the service's jobs delete the remains of deleted projects at any time. So rows may disappear from them, but new
// rows are an effect of a request.
var purged = []string{"removals", "audit_events", "history"}

// byRequests limits tables to the rows that only requests change. It leaves out the version rows (fences) of projects and scope pools, because the
// background job also changes them when it maintains scope pools. It also leaves out the recorded utilization of pools.
var byRequests = map[string]string{
	"fences":      " WHERE length(stock) > 0 AND id NOT IN (SELECT id FROM pools WHERE scope_key IS NOT NULL)",
	"utilization": " WHERE FALSE",
}

// dump returns each row of each table as text, and each event of the audit trail. If two dumps are equal, nothing was written between them. Bytes
// stay raw, and ids look as in responses.
func (w *world) dump(t testing.TB) map[string][]string {
	t.Helper()
	rows, err := w.sql.Query(t.Context(),
		"SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'")
	require.NoError(t, err)
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	require.NoError(t, err)
	require.Subset(t, tables, []string{
		"projects", "spaces", "pools", "classes", "pool_classes", "free_blocks", "holds", "idempotency_keys",
		"members", "api_keys", "grants", "quotas", "quota_shards", "audit_events", "history",
	})
	out := make(map[string][]string, len(tables))
	for _, table := range tables {
		rows, err := w.sql.Query(t.Context(), "SELECT * FROM "+pgx.Identifier{table}.Sanitize()+byRequests[table])
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, line)
		require.NoError(t, err)
		slices.Sort(lines)
		out[table] = lines
	}
	out["audit_events"] = nil
	for _, e := range w.trail(t) {
		text, err := json.Marshal(e)
		require.NoError(t, err)
		out["audit_events"] = append(out["audit_events"], string(text))
	}
	return out
}

// line returns a row as text.
func line(row pgx.CollectableRow) (string, error) {
	values, err := row.Values()
	if err != nil {
		return "", err
	}
	var b strings.Builder
	for i, column := range row.FieldDescriptions() {
		if slices.Contains(moving, column.Name) {
			continue
		}
		switch v := values[i].(type) {
		case [16]byte:
			fmt.Fprintf(&b, "%s=%s ", column.Name, uuid.UUID(v))
		case []byte:
			fmt.Fprintf(&b, "%s=%s ", column.Name, v)
		default:
			fmt.Fprintf(&b, "%s=%v ", column.Name, v)
		}
	}
	return b.String(), nil
}

// writesNothing calls f. Afterwards all rows of all tables must be the same as before.
func (w *world) writesNothing(t testing.TB, f func()) {
	t.Helper()
	w.writesNothingBut(t, f)
}

// writesNothingBut does the same as writesNothing, but ignores some tables.
func (w *world) writesNothingBut(t testing.TB, f func(), tables ...string) {
	t.Helper()
	before := w.dump(t)
	f()
	after := w.dump(t)
	require.Len(t, after, len(before))
	for table := range after {
		if slices.Contains(tables, table) {
			continue
		}
		for row := range missing(before[table], after[table]) {
			if slices.Contains(purged, table) {
				continue
			}
			t.Errorf("something was written to %s: gone is %s", table, row)
		}
		for row := range missing(after[table], before[table]) {
			t.Errorf("something was written to %s: new is %s", table, row)
		}
	}
}

// missing returns the rows that are not among the others.
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
