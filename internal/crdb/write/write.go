// Package write plans the statements for changes. Each statement has a check that it hit the rows that it names.
package write

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ErrStale is the error for a row that has changed since the plan read it.
var ErrStale = errors.New("a row changed since it was read")

// UniqueViolation is the SQLSTATE for a violated unique key.
const UniqueViolation = "23505"

// Plan returns the statements for ch, for a server in a region. fences contains the changed containers' fences; Plan updates them. byKeys is for an
// engine that reads other rows to find an array's rows.
func Plan(region string, everywhere []string, ch storage.Changes, fences lookup.Fences, byKeys bool) (*Statements, error) {
	w := &Statements{batch: &pgx.Batch{}, region: region, several: len(everywhere) > 1, byKeys: byKeys}
	w.answers(ch.Answers) // first: a repeated request must meet its answer before its own names
	w.fences(ch, fences, everywhere)
	w.deletes(ch)
	w.updates(ch)
	w.inserts(ch)
	w.consumers(ch.ConsumerChanges)
	w.webhooks(ch.WebhookChanges)
	w.alerts(ch.AlertChanges)
	w.classEpochs(ch) // last: this locks the project's row, on which others wait
	return w, w.err
}

// Empty reports whether there are no statements.
func (w *Statements) Empty() bool { return w.batch.Len() == 0 }

// Send sends all statements in one round trip. If a statement misses a row that it names, Send returns ErrStale or a *storage.Conflict.
func (w *Statements) Send(ctx context.Context, db lookup.Querier) error {
	results := db.SendBatch(ctx, w.batch)
	var conflict storage.Conflict
	for _, check := range w.checks {
		if err := check(results, &conflict); err != nil {
			_ = results.Close()
			if taken, ok := errors.AsType[*NamesTaken](err); ok {
				taken.Besides = conflict
				return taken
			}
			if conflict.Found() && causedByConflict(err) {
				return &conflict
			}
			return err
		}
	}
	if err := results.Close(); err != nil {
		return err
	}
	if conflict.Found() {
		return &conflict
	}
	return nil
}

// causedByConflict reports whether err follows from an earlier conflict. A deleted claim's rows are gone too, and the same request's first run has
// taken the name. The conflict is more precise, and a retry would not help.
func causedByConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, ErrStale) || (errors.As(err, &pg) && pg.Code == UniqueViolation)
}

// check reads one statement's result and compares it with the expected one.
type check func(results pgx.BatchResults, conflict *storage.Conflict) error

// Statements is a batch with a check for each statement.
type Statements struct {
	batch  *pgx.Batch
	checks []check
	region string
	naming *Naming // nil: no new claims
	moved  []lookup.FenceKey
	err    error

	several bool // the database has several regions
	byKeys  bool // name rows by keys where a statement has that form

	// For statements that are sent with their COMMIT: see OneRoundTrip.
	checked bool
	names   []string // names of the statements that may still be merged
	whole   int      // how many statements are final
}

// hit queues a statement that must affect exactly want rows. Otherwise the plan is stale.
func (w *Statements) hit(name string, want int, args ...any) {
	if w.checked {
		w.hitChecked(name, want, args...)
		return
	}
	w.batch.Queue(query.Get(name), args...)
	w.checks = append(w.checks, func(results pgx.BatchResults, _ *storage.Conflict) error {
		tag, err := results.Exec()
		if err != nil {
			return err
		}
		if got := tag.RowsAffected(); got != int64(want) {
			return fmt.Errorf("%s touched %d rows of %d: %w", name, got, want, ErrStale)
		}
		return nil
	})
}

// hitRow is hit for one row. Its columns follow the other arguments.
func hitRow[V any](w *Statements, name string, kind rows.Kind[V], v V, args ...any) {
	columns, err := kind.Values(name, v)
	w.err = errors.Join(w.err, err)
	w.hit(name, 1, append(args, columns...)...)
}

// hitRows is hit for several rows. It chooses the statement's form.
func hitRows[V any](w *Statements, name string, kind rows.Kind[V], list []V, args ...any) {
	if w.byKeys && len(list) > 1 && query.HasKeys(name) {
		for part := range slices.Chunk(list, query.MostKeys) {
			form, takes := query.ByKeys(name, len(part))
			columns, err := kind.Keys(form, part, takes)
			w.err = errors.Join(w.err, err)
			w.hit(form, len(part), slices.Concat(args, columns)...)
		}
		return
	}
	name, columns, err := kind.Arrays(name, list)
	w.err = errors.Join(w.err, err)
	w.hit(name, len(list), append(args, columns...)...)
}

// any queues a statement that may affect any number of rows.
func (w *Statements) any(name string, args ...any) {
	w.err = errors.Join(w.err, w.refused(name))
	w.batch.Queue(query.Get(name), args...)
	w.checks = append(w.checks, func(results pgx.BatchResults, _ *storage.Conflict) error {
		_, err := results.Exec()
		return err
	})
}

// orElse replaces the last statement's ErrStale by a call to missed.
func (w *Statements) orElse(missed func(*storage.Conflict)) {
	hit := w.checks[len(w.checks)-1]
	w.checks[len(w.checks)-1] = func(results pgx.BatchResults, conflict *storage.Conflict) error {
		err := hit(results, conflict)
		if errors.Is(err, ErrStale) {
			missed(conflict)
			return nil
		}
		return err
	}
}

// answered queues a statement that returns a key for each affected row. missing gets the index of each item in list without an affected row. A
// duplicate counts as missing, because the statement affects one row.
func answered[V any, K comparable](
	w *Statements, name string, kind rows.Kind[V], list []V, region string, scan func(*K) []any, key func(V) K, missing func(*storage.Conflict, int) error,
) {
	name, columns, err := kind.Arrays(name, list)
	w.err = errors.Join(w.err, err)
	if w.checked {
		w.hitChecked(name, len(list), append([]any{region}, columns...)...)
		return
	}
	w.batch.Queue(query.Get(name), append([]any{region}, columns...)...)
	w.checks = append(w.checks, func(results pgx.BatchResults, c *storage.Conflict) error {
		answer, err := results.Query()
		if err != nil {
			return err
		}
		touched := make(map[K]bool, len(list))
		var k K
		if _, err = pgx.ForEachRow(answer, scan(&k), func() error {
			touched[k] = true
			return nil
		}); err != nil {
			return err
		}
		for i, v := range list {
			k := key(v)
			if !touched[k] {
				err = errors.Join(err, missing(c, i))
			}
			touched[k] = false
		}
		return err
	})
}

func claimRef(c ipam.Claim) storage.NameRef {
	return storage.NameRef{ProjectID: c.ProjectID, Name: c.Name}
}
