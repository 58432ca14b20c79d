// Package write plans the statements for changes. Each statement has a check that it changes exactly the rows that it names.
package write

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ErrStale is the error if a row has changed since the transaction read it.
var ErrStale = errors.New("a row changed since it was read")

// UniqueViolation is the SQLSTATE for a violated unique key.
const UniqueViolation = "23505"

// Plan returns the statements for ch, for a server in a region. fences contains the changed containers' version rows, and Plan updates them.
// everywhere lists all regions. byKeys is true for an engine whose plan for an array of keys may read the rows between them.
func Plan(region string, everywhere []string, ch storage.Changes, fences lookup.Fences, byKeys bool) (*Statements, error) {
	w := &Statements{batch: &pgx.Batch{}, region: region, several: len(everywhere) > 1, byKeys: byKeys}
	w.insertStoredResponses(ch.StoredResponses) // first, so that a repeated request finds its stored response before its own names
	w.writeFences(ch, fences, everywhere)
	w.queueDeletes(ch)
	w.queueUpdates(ch)
	w.queueInserts(ch)
	w.changeConsumers(ch.ConsumerChanges)
	w.changeWebhooks(ch.WebhookChanges)
	w.changeAlerts(ch.AlertChanges)
	w.changeClassEpochs(ch) // last, because this locks the project's row, for which other transactions wait
	return w, w.err
}

// Empty reports whether there are no statements.
func (w *Statements) Empty() bool { return w.batch.Len() == 0 }

// Send sends all statements in one round trip. If a statement does not find a row that it names, Send returns ErrStale or a *storage.Conflict.
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

// causedByConflict reports whether err follows from a conflict that was found before it. Two examples: if a claim was deleted, its other rows are
// missing, too. If an earlier attempt at the same request has committed, it has taken the claim's name. The conflict is the more precise error, and a
// retry would not help.
func causedByConflict(err error) bool {
	return errors.Is(err, ErrStale) || dial.IsState(err, UniqueViolation)
}

// check compares a statement's result with the expected result.
type check func(results pgx.BatchResults, conflict *storage.Conflict) error

// Statements is a batch of statements, with a check for each one.
type Statements struct {
	batch  *pgx.Batch
	checks []check
	region string
	err    error

	Naming *Naming           // nil: there are no new claims
	Moved  []lookup.FenceKey // the keys of the version rows that have a new version

	several bool // the database has several regions
	byKeys  bool // whether to list row keys one by one, if the statement has such a form

	// The fields below are for statements that are sent together with their COMMIT: see OneRoundTrip.
	checked bool
	names   []string // statements that merge may still combine
	whole   int      // number of statements that merge does not combine any more
}

// hit queues a statement that must change exactly want rows. If it changes another number of rows, the check returns ErrStale.
func (w *Statements) hit(name string, want int, args ...any) {
	if w.checked {
		w.hitChecked(name, want, args...)
		return
	}
	w.queue(name, func(results pgx.BatchResults, _ *storage.Conflict) error {
		tag, err := results.Exec()
		if err != nil {
			return err
		}
		if got := tag.RowsAffected(); got != int64(want) {
			return fmt.Errorf("%s touched %d rows of %d: %w", name, got, want, ErrStale)
		}
		return nil
	}, args...)
}

// queue queues a statement and its check.
func (w *Statements) queue(name string, c check, args ...any) {
	w.batch.Queue(query.Get(name), args...)
	w.checks = append(w.checks, c)
}

// succeeds is the check of a statement that may change any number of rows.
func succeeds(results pgx.BatchResults, _ *storage.Conflict) error {
	_, err := results.Exec()
	return err
}

// hitRow queues a statement that must change one row. The arguments for the row's columns follow args.
func hitRow[V any](w *Statements, name string, kind rows.Kind[V], v V, args ...any) {
	columns, err := kind.Values(name, v)
	w.err = errors.Join(w.err, err)
	w.hit(name, 1, append(args, columns...)...)
}

// hitRows queues a statement that must change several rows. It chooses the statement's form.
func hitRows[V any](w *Statements, name string, kind rows.Kind[V], list []V, args ...any) {
	if w.byKeys && len(list) > 1 && query.HasKeys(name) {
		for part := range slices.Chunk(list, query.MostKeys) {
			form, takes := query.KeyedForm(name, len(part))
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

// unchecked queues a statement without a check on the row count.
func (w *Statements) unchecked(name string, args ...any) {
	w.err = errors.Join(w.err, w.refusal(name))
	w.queue(name, succeeds, args...)
}

// onStale changes the last statement's check. If that check would return ErrStale, it calls missed instead.
func (w *Statements) onStale(missed func(*storage.Conflict)) {
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

func claimRef(c ipam.Claim) storage.NameRef {
	return storage.NameRef{ProjectID: c.ProjectID, Name: c.Name}
}
