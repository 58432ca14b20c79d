// Package write makes the statements of changes: each with the check that it hit what it names.
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

// ErrStale says that a row was not as the plan had it.
var ErrStale = errors.New("a row changed since it was read")

// UniqueViolation is the code of a key that is there already.
const UniqueViolation = "23505"

// Plan makes the statements of some changes, for a server in a region. fences are those of the containers that are changed, and become what the changes make
// of them. byKeys is for a database that finds rows of an array by reading others.
func Plan(region string, everywhere []string, ch storage.Changes, fences lookup.Fences, byKeys bool) (*Statements, error) {
	w := &Statements{batch: &pgx.Batch{}, region: region, several: len(everywhere) > 1, byKeys: byKeys}
	w.answers(ch.Answers) // first: a repeat of a request must learn that it is one before it meets its own names
	w.fences(ch, fences, everywhere)
	w.deletes(ch)
	w.updates(ch)
	w.inserts(ch)
	w.consumers(ch.ConsumerChanges)
	w.webhooks(ch.WebhookChanges)
	w.alerts(ch.AlertChanges)
	w.classEpochs(ch) // last: who holds the project's row keeps others waiting
	return w, w.err
}

// Empty reports whether there is nothing to write.
func (w *Statements) Empty() bool { return w.batch.Len() == 0 }

// Send sends all statements in one round trip. A statement that does not hit what it names is ErrStale, or a *storage.Conflict.
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

// causedByConflict reports whether an error behind a conflict is its consequence: the rows of a claim that is gone are
// gone too, and a name is taken by the first run of the same request. The conflict says more, and trying again would not help.
func causedByConflict(err error) bool {
	var pg *pgconn.PgError
	return errors.Is(err, ErrStale) || (errors.As(err, &pg) && pg.Code == UniqueViolation)
}

// check reads one statement's result and compares it with what was expected.
type check func(results pgx.BatchResults, conflict *storage.Conflict) error

// Statements are statements with their checks.
type Statements struct {
	batch  *pgx.Batch
	checks []check
	region string
	naming *Naming // nil: there are no new claims
	moved  []lookup.Place
	err    error

	several bool // there are other regions
	byKeys  bool // rows are named by their keys where a statement can be had so

	// Of those that are sent with their COMMIT: see Whole.
	sure  bool
	names []string // of those that may be merged yet
	whole int      // how many are as they are to be sent
}

// hit queues a statement that must touch exactly want rows; otherwise the plan is out of date.
func (w *Statements) hit(name string, want int, args ...any) {
	if w.sure {
		w.hitSurely(name, want, args...)
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

// hitRow is hit for one row, of which the statement takes columns behind its other arguments.
func hitRow[V any](w *Statements, name string, kind rows.Kind[V], v V, args ...any) {
	columns, err := kind.Values(name, v)
	w.err = errors.Join(w.err, err)
	w.hit(name, 1, append(args, columns...)...)
}

// hitRows is hit for some rows of a kind, in the form of the statement that is for them.
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

// any queues a statement that may touch any number of rows.
func (w *Statements) any(name string, args ...any) {
	w.err = errors.Join(w.err, w.refused(name))
	w.batch.Queue(query.Get(name), args...)
	w.checks = append(w.checks, func(results pgx.BatchResults, _ *storage.Conflict) error {
		_, err := results.Exec()
		return err
	})
}

// orElse makes the last statement one that says what it has not touched.
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

// answered queues a statement that answers what stands for the rows that it touched, once each. missing is told of those of list, by their places, that are
// not among them, and of one that is there twice: only one of the two was touched.
func answered[V any, K comparable](
	w *Statements, name string, kind rows.Kind[V], list []V, region string, scan func(*K) []any, key func(V) K, missing func(*storage.Conflict, int) error,
) {
	name, columns, err := kind.Arrays(name, list)
	w.err = errors.Join(w.err, err)
	if w.sure {
		w.hitSurely(name, len(list), append([]any{region}, columns...)...)
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
