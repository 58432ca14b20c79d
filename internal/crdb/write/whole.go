package write

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ErrNotWhole says that some changes cannot be made by statements that are sent with their COMMIT.
var ErrNotWhole = errors.New("these changes are not made in one round trip")

// Remembered is what the changes of claims and releases were planned from without reading it, and what therefore has to be so.
type Remembered struct {
	Fences   lookup.Fences        // of the pools
	Projects map[ipam.ID]ipam.ID  // their marks
	Regions  map[ipam.ID][]string // those in which the projects may have claims
	Several  []storage.Container  // pools that serve several regions
	Classes  bool                 // what classes are made of is under the marks of the projects
}

// Whole makes the statements of claims and releases so that they can be sent with their COMMIT: each fails by itself unless it hits what it names, and so
// nothing is changed. It is for changes in one region, and for no others; the names of claims must not have to be looked for elsewhere.
func Whole(region string, ch storage.Changes, r Remembered, byKeys bool) (*Statements, error) {
	w := &Statements{batch: &pgx.Batch{}, region: region, sure: true, byKeys: byKeys}
	for _, id := range slices.SortedFunc(maps.Keys(r.Projects), func(a, b ipam.ID) int { return bytes.Compare(a[:], b[:]) }) {
		w.marked(lookup.Place{Region: region, ID: id}, r.Projects[id])
	}
	for _, c := range r.Several {
		w.guard("epoch_is", rows.ID(c.ID), c.Region, c.Region)
	}
	n := Naming{claims: ch.ClaimInsert, regions: r.Regions}
	byClass := slices.ContainsFunc(ch.ClaimInsert, func(c ipam.Claim) bool { return !c.Class.ID.IsZero() })
	if n.Unplaced() != nil || len(n.Elsewhere(region)) > 0 || ch.ClaimRebind != nil || ch.Any() || len(ch.ShardInsert) > 0 || byClass && !r.Classes ||
		ch.WebhookChanges != (storage.WebhookChanges{}) || ch.AlertsChange() {
		return nil, ErrNotWhole
	}
	shards := ch.ShardUpdate
	ch.ShardUpdate = nil
	w.answers(ch.Answers)
	w.fences(ch, r.Fences, []string{region})
	for _, at := range inOrder(r.Fences) { // what stays as it is was decided by the mark, too
		if !slices.Contains(w.moved, at) {
			w.marked(at, r.Fences[at].Mark)
		}
	}
	w.deletes(ch)
	w.updates(ch)
	for _, u := range inOneOrder(shards) {
		used, spare := u.Now.Used.Add(u.Was.Used.Negative()), u.Now.Spare.Add(u.Was.Spare.Negative())
		w.hit("shard_count", 1, u.Now.Region, rows.ID(u.Now.QuotaID), u.Now.Shard,
			rows.Addresses(used), used.Claims, used.Pools, rows.Addresses(spare), spare.Claims, spare.Pools)
	}
	w.merge()
	w.inserts(ch) // after the others, so that a repeat learns that it is one before it meets its own names
	w.merge()
	return w, w.err
}

// merge makes as few statements as it can of those that were queued since it was last called: each of them is planned, sent and answered by itself, on
// CockroachDB for longer than it takes to change a row.
func (w *Statements) merge() {
	queued, checks := w.batch.QueuedQueries[w.whole:], w.checks[w.whole:]
	w.batch.QueuedQueries, w.checks = w.batch.QueuedQueries[:w.whole:w.whole], w.checks[:w.whole:w.whole]
	for len(queued) > 0 {
		n := 1
		for n < len(w.names) && !query.Apart(w.names[n], w.names[:n]) {
			n++
		}
		if n == 1 {
			w.batch.QueuedQueries, w.checks = append(w.batch.QueuedQueries, queued[0]), append(w.checks, checks[0])
		} else {
			var args []any
			for _, q := range queued[:n] {
				args = append(args, q.Arguments...)
			}
			w.batch.Queue(query.Merged(w.names[:n]), args...)
			w.checks = append(w.checks, anyOf(checks[:n]))
		}
		queued, checks, w.names = queued[n:], checks[n:], w.names[n:]
	}
	w.whole = len(w.checks)
}

// anyOf has each of the checks of statements that were merged look at their one result, until one makes something of an error.
func anyOf(checks []check) check {
	return func(results pgx.BatchResults, conflict *storage.Conflict) error {
		_, err := results.Exec()
		for _, check := range checks {
			if said := check(failed{err: err}, conflict); said != err { //nolint:errorlint // or else it is this very error
				return said
			}
		}
		return err
	}
}

// failed is the result of a statement of which nothing matters but whether it failed.
type failed struct {
	pgx.BatchResults

	err error
}

// Exec implements pgx.BatchResults.
func (f failed) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, f.err }

// QueueInto adds the statements to a batch that they are sent with.
func (w *Statements) QueueInto(b *pgx.Batch) {
	b.QueuedQueries = append(b.QueuedQueries, w.batch.QueuedQueries...)
}

// Before puts a statement in front of the others, whose result is of no interest.
func (w *Statements) Before(sql string) {
	w.batch.QueuedQueries = slices.Insert(w.batch.QueuedQueries, 0, &pgx.QueuedQuery{SQL: sql})
	w.checks = slices.Insert(w.checks, 0, func(results pgx.BatchResults, _ *storage.Conflict) error {
		_, err := results.Exec()
		return err
	})
}

// Take takes the results of the statements, which were sent with others.
func (w *Statements) Take(results pgx.BatchResults) error {
	var conflict storage.Conflict
	for _, check := range w.checks {
		if err := check(results, &conflict); err != nil {
			return err
		}
	}
	return nil
}

// marked queues the look whether a fence has a mark.
func (w *Statements) marked(at lookup.Place, mark ipam.ID) {
	w.guard("mark_is", at.Region, rows.ID(at.ID), rows.ID(mark))
}

// guard queues a statement that fails unless something is as it is remembered.
func (w *Statements) guard(name string, args ...any) {
	w.batch.Queue(query.Get(name), args...)
	w.names = append(w.names, name)
	w.checks = append(w.checks, func(results pgx.BatchResults, _ *storage.Conflict) error {
		_, err := results.Exec()
		return err
	})
}

// hitSurely is hit by a statement that fails by itself. One that adds rows adds as many as it is given, or fails.
func (w *Statements) hitSurely(name string, want int, args ...any) {
	if inserts(name) {
		w.guard(name, args...)
		return
	}
	surely, there := query.Sure(name)
	if !there {
		w.err = errors.Join(w.err, w.refused(name))
		return
	}
	w.guard(surely, append(args, want)...)
}

// refused is why a statement is not among those that are sent with their COMMIT.
func (w *Statements) refused(name string) error {
	if !w.sure {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNotWhole, name)
}

// inserts reports whether a statement adds rows.
func inserts(name string) bool {
	return strings.HasPrefix(query.Get(name), "INSERT ")
}
