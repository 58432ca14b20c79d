package conform

import (
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// moving lists the columns that the service's jobs write at any time. A request did not cause these changes.
var moving = []string{"last_used_at", "empty_since", "kept_from", "due_at", "lease", "epoch", "progress", "after_name", "looked_at"}

// purged lists the tables from which the service's jobs delete the remains of deleted projects at any time. So rows may disappear from them, but new
// rows are an effect of a request.
var purged = []string{"removals", "audit_events", "history"}

// byRequests limits tables to the rows that only requests change. It leaves out the version rows (fences) of projects and scope pools, because the
// background job also changes them when it maintains scope pools. It also leaves out alerts and the recorded utilization of pools.
var byRequests = map[string]string{
	"fences": " WHERE length(stock) > 0 AND id NOT IN (SELECT id FROM pools WHERE scope_key IS NOT NULL)",
	"alerts": " WHERE FALSE", "utilization": " WHERE FALSE",
}

// rows returns all rows of all tables as text, and the audit trail's events of successful changes.
func (w *world) rows() map[string]bool {
	tables := collect[string](w, "SELECT table_name FROM information_schema.tables WHERE table_schema = 'public' AND table_type = 'BASE TABLE'")
	require.Contains(w.t, tables, "holds")
	out := map[string]bool{}
	for _, table := range tables {
		if table == "audit_events" {
			w.changes(out)
			continue
		}
		rows, err := w.sql.Query(w.t.Context(), "SELECT * FROM "+pgx.Identifier{table}.Sanitize()+byRequests[table])
		require.NoError(w.t, err)
		for rows.Next() {
			values, err := rows.Values()
			require.NoError(w.t, err)
			var b strings.Builder
			b.WriteString(table)
			for i, column := range rows.FieldDescriptions() {
				if !slices.Contains(moving, column.Name) {
					fmt.Fprintf(&b, " %s=%v", column.Name, values[i])
				}
			}
			out[b.String()] = true
		}
		require.NoError(w.t, rows.Err())
	}
	return out
}

// changes adds the audit trail's events of successful changes. The trail also records attempts without permission. These write nothing else, so they
// are left out.
func (w *world) changes(to map[string]bool) {
	answer, err := w.sql.Query(w.t.Context(), "SELECT id, count, events FROM audit_events")
	require.NoError(w.t, err)
	var row rows.EventRow
	_, err = pgx.ForEachRow(answer, []any{(*[16]byte)(&row.ID), &row.Count, &row.Events}, func() error {
		events, err := row.Unpack()
		for _, e := range events {
			if e.Outcome == ipam.OutcomeOK && e.Kind != trail.KindAlert {
				to[fmt.Sprintf("audit_events %+v", e)] = true
			}
		}
		return err
	})
	require.NoError(w.t, err)
}

func collect[T any](w *world, query string) []T {
	rows, err := w.sql.Query(w.t.Context(), query)
	require.NoError(w.t, err)
	out, err := pgx.CollectRows(rows, pgx.RowTo[T])
	require.NoError(w.t, err)
	return out
}

// writesNothing sends requests. Afterwards all rows must be the same as before.
func (w *world) writesNothing(of []*request) {
	before := w.rows()
	for _, r := range of {
		w.do(r)
	}
	after := w.rows()
	for _, each := range []struct {
		what string
		x, y map[string]bool
	}{{"new", after, before}, {"gone", before, after}} {
		for row := range each.x {
			table, _, _ := strings.Cut(row, " ")
			if !each.y[row] && (each.what == "new" || !slices.Contains(purged, table)) {
				w.report.wrong(of[0], answer{}, fmt.Sprintf("one of %d quiet requests wrote: %s is %s", len(of), each.what, row))
			}
		}
	}
}
