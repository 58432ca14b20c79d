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

// ErrNeedsReads is the error for changes that need more than one round trip.
var ErrNeedsReads = errors.New("these changes do not fit one round trip")

// CachedFacts contains the cached facts on which a plan for claims and releases depends. The statements verify them.
type CachedFacts struct {
	Fences   lookup.Fences        // of the pools
	Projects map[ipam.ID]ipam.ID  // their marks (versions)
	Regions  map[ipam.ID][]string // regions in which the projects may have claims
	Several  []storage.Container  // pools that serve several regions
	Classes  bool                 // the projects' marks cover the classes
}

// OneRoundTrip returns statements for claims and releases that can be sent with their COMMIT. Each one fails unless it hits the rows that it names, and then
// the transaction changes nothing. OneRoundTrip accepts changes in one region only, and only claims with names that need no lookup in other regions.
func OneRoundTrip(region string, ch storage.Changes, r CachedFacts, byKeys bool) (*Statements, error) {
	w := &Statements{batch: &pgx.Batch{}, region: region, checked: true, byKeys: byKeys}
	for _, id := range slices.SortedFunc(maps.Keys(r.Projects), func(a, b ipam.ID) int { return bytes.Compare(a[:], b[:]) }) {
		w.marked(lookup.FenceKey{Region: region, ID: id}, r.Projects[id])
	}
	for _, c := range r.Several {
		w.guard("epoch_is", rows.ID(c.ID), c.Region, c.Region)
	}
	n := Naming{claims: ch.ClaimInsert, regions: r.Regions}
	byClass := slices.ContainsFunc(ch.ClaimInsert, func(c ipam.Claim) bool { return !c.Class.ID.IsZero() })
	if n.Unplaced() != nil || len(n.Elsewhere(region)) > 0 || ch.ClaimRebind != nil || ch.Any() || len(ch.ShardInsert) > 0 || byClass && !r.Classes ||
		ch.WebhookChanges != (storage.WebhookChanges{}) || ch.AlertsChange() {
		return nil, ErrNeedsReads
	}
	shards := ch.ShardUpdate
	ch.ShardUpdate = nil
	w.answers(ch.Answers)
	w.fences(ch, r.Fences, []string{region})
	for _, at := range inOrder(r.Fences) { // unchanged containers: the decision depends on their marks, too
		if !slices.Contains(w.moved, at) {
			w.marked(at, r.Fences[at].Mark)
		}
	}
	w.deletes(ch)
	w.updates(ch)
	for _, u := range sortedByKey(shards) {
		used, spare := u.Now.Used.Add(u.Was.Used.Negative()), u.Now.Spare.Add(u.Was.Spare.Negative())
		w.hit("shard_count", 1, u.Now.Region, rows.ID(u.Now.QuotaID), u.Now.Shard,
			rows.Addresses(used), used.Claims, used.Pools, rows.Addresses(spare), spare.Claims, spare.Pools)
	}
	w.merge()
	w.inserts(ch) // last, so that a repeated request meets its answer before its own names
	w.merge()
	return w, w.err
}

// merge combines the statements that were queued since its last call into as few as it can. The database plans and answers each statement separately,
// which takes CockroachDB longer than changing a row.
func (w *Statements) merge() {
	queued, checks := w.batch.QueuedQueries[w.whole:], w.checks[w.whole:]
	w.batch.QueuedQueries, w.checks = w.batch.QueuedQueries[:w.whole:w.whole], w.checks[:w.whole:w.whole]
	for len(queued) > 0 {
		n := 1
		for n < len(w.names) && !query.MustNotMerge(w.names[n], w.names[:n]) {
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

// anyOf returns a merged statement's check: it passes the error to each check, until one translates it.
func anyOf(checks []check) check {
	return func(results pgx.BatchResults, conflict *storage.Conflict) error {
		_, err := results.Exec()
		for _, check := range checks {
			if said := check(errorOnly{err: err}, conflict); said != err { //nolint:errorlint // check returns this error itself if it does not apply
				return said
			}
		}
		return err
	}
}

// errorOnly is a result in which only the error matters.
type errorOnly struct {
	pgx.BatchResults

	err error
}

// Exec implements pgx.BatchResults.
func (f errorOnly) Exec() (pgconn.CommandTag, error) { return pgconn.CommandTag{}, f.err }

// QueueInto adds the statements to a batch.
func (w *Statements) QueueInto(b *pgx.Batch) {
	b.QueuedQueries = append(b.QueuedQueries, w.batch.QueuedQueries...)
}

// Before inserts a statement before the others. Only its error counts.
func (w *Statements) Before(sql string) {
	w.batch.QueuedQueries = slices.Insert(w.batch.QueuedQueries, 0, &pgx.QueuedQuery{SQL: sql})
	w.checks = slices.Insert(w.checks, 0, func(results pgx.BatchResults, _ *storage.Conflict) error {
		_, err := results.Exec()
		return err
	})
}

// Take reads the statements' results from a batch that also has others.
func (w *Statements) Take(results pgx.BatchResults) error {
	var conflict storage.Conflict
	for _, check := range w.checks {
		if err := check(results, &conflict); err != nil {
			return err
		}
	}
	return nil
}

// marked queues a check that a fence has a mark.
func (w *Statements) marked(at lookup.FenceKey, mark ipam.ID) {
	w.guard("mark_is", at.Region, rows.ID(at.ID), rows.ID(mark))
}

// guard queues a statement that fails unless a cached fact is still true.
func (w *Statements) guard(name string, args ...any) {
	w.batch.Queue(query.Get(name), args...)
	w.names = append(w.names, name)
	w.checks = append(w.checks, func(results pgx.BatchResults, _ *storage.Conflict) error {
		_, err := results.Exec()
		return err
	})
}

// hitChecked is hit for a statement that fails by itself. An insert adds all its rows or fails.
func (w *Statements) hitChecked(name string, want int, args ...any) {
	if inserts(name) {
		w.guard(name, args...)
		return
	}
	surely, there := query.Checked(name)
	if !there {
		w.err = errors.Join(w.err, w.refused(name))
		return
	}
	w.guard(surely, append(args, want)...)
}

// refused returns the error for a statement that cannot be sent with its COMMIT.
func (w *Statements) refused(name string) error {
	if !w.checked {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNeedsReads, name)
}

// inserts reports whether a statement adds rows.
func inserts(name string) bool {
	return strings.HasPrefix(query.Get(name), "INSERT ")
}
