package write

import (
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

// CachedFacts contains the cached facts from which a transaction with claims and releases was planned. Its statements check that these facts are
// still true.
type CachedFacts struct {
	Fences   lookup.Fences        // the pools' version rows
	Projects map[ipam.ID]ipam.ID  // the projects' versions
	Regions  map[ipam.ID][]string // regions in which the projects may have claims
	Several  []storage.Container  // pools in several regions
	Classes  bool                 // whether the projects' versions are also the versions of their classes
}

// OneRoundTrip returns statements for claims and releases that can be sent together with their COMMIT. Each statement fails unless it changes exactly
// the rows that it names. If one fails, the transaction changes nothing.
//
// OneRoundTrip accepts only changes in one region. It accepts a claim only if its name needs no lookup in other regions.
func OneRoundTrip(region string, ch storage.Changes, r CachedFacts, byKeys bool) (*Statements, error) {
	w := &Statements{batch: &pgx.Batch{}, region: region, checked: true, byKeys: byKeys}
	for _, id := range slices.SortedFunc(maps.Keys(r.Projects), rows.CompareIDs) {
		w.checkMark(lookup.FenceKey{Region: region, ID: id}, r.Projects[id])
	}
	for _, c := range r.Several {
		w.guard("epoch_is", c.ID, c.Region, c.Region)
	}
	n := Naming{claims: ch.ClaimInsert, Placed: r.Regions}
	byClass := slices.ContainsFunc(ch.ClaimInsert, func(c ipam.Claim) bool { return !c.Class.ID.IsZero() })
	if n.Unplaced() != nil || len(n.Elsewhere(region)) > 0 || ch.ClaimRebind != nil || ch.Any() || len(ch.ShardInsert) > 0 || byClass && !r.Classes ||
		ch.WebhookChanges != (storage.WebhookChanges{}) || ch.AlertsChange() {
		return nil, ErrNeedsReads
	}
	shards := ch.ShardUpdate
	ch.ShardUpdate = nil
	w.insertStoredResponses(ch.StoredResponses)
	w.writeFences(ch, r.Fences, []string{region})
	for _, at := range inOrder(r.Fences) { // the decision also depends on unchanged containers
		if !slices.Contains(w.Moved, at) {
			w.checkMark(at, r.Fences[at].Mark)
		}
	}
	w.queueDeletes(ch)
	w.queueUpdates(ch)
	for _, u := range sortedByKey(shards) {
		used, spare := u.Now.Used.Add(u.Was.Used.Negative()), u.Now.Spare.Add(u.Was.Spare.Negative())
		w.hit("shard_count", 1, u.Now.Region, u.Now.QuotaID, u.Now.Shard,
			rows.Addresses(used), used.Claims, used.Pools, rows.Addresses(spare), spare.Claims, spare.Pools)
	}
	w.merge()
	w.queueInserts(ch) // last, so that a repeated request finds its stored response before its own names
	w.merge()
	return w, w.err
}

// merge combines the statements that were queued since its last call into as few statements as possible. The database plans each statement separately
// and sends a response for each. On CockroachDB this takes longer than a row's change.
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

// anyOf returns a merged statement's check. It passes the error to each part's check, until one check translates the error.
func anyOf(checks []check) check {
	return func(results pgx.BatchResults, conflict *storage.Conflict) error {
		_, err := results.Exec()
		for _, check := range checks {
			if refined := check(errorOnly{err: err}, conflict); refined != err { //nolint:errorlint // check returns this error itself if it does not apply
				return refined
			}
		}
		return err
	}
}

// errorOnly is a result that contains only an error.
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

// Prepend inserts a statement before the others. The statement's result is ignored unless it is an error.
func (w *Statements) Prepend(sql string) {
	w.batch.QueuedQueries = slices.Insert(w.batch.QueuedQueries, 0, &pgx.QueuedQuery{SQL: sql})
	w.checks = slices.Insert(w.checks, 0, succeeds)
}

// Take reads the statements' results from a batch. The batch may contain other statements before and after them.
func (w *Statements) Take(results pgx.BatchResults) error {
	var conflict storage.Conflict
	for _, check := range w.checks {
		if err := check(results, &conflict); err != nil {
			return err
		}
	}
	return nil
}

// checkMark queues a check that a version row has a certain version.
func (w *Statements) checkMark(at lookup.FenceKey, mark ipam.ID) {
	w.guard("mark_is", at.Region, at.ID, mark)
}

// guard queues a statement that fails unless a cached fact is still true.
func (w *Statements) guard(name string, args ...any) {
	w.queue(name, succeeds, args...)
	w.names = append(w.names, name)
}

// hitChecked works like hit, with a statement that fails by itself. An INSERT already adds all its rows or fails. Any other statement needs its
// checked form.
func (w *Statements) hitChecked(name string, want int, args ...any) {
	if isInsert(name) {
		w.guard(name, args...)
		return
	}
	surely, there := query.CheckedForm(name)
	if !there {
		w.err = errors.Join(w.err, w.refusal(name))
		return
	}
	w.guard(surely, append(args, want)...)
}

// refusal returns the error for a statement that cannot be sent together with its COMMIT.
func (w *Statements) refusal(name string) error {
	if !w.checked {
		return nil
	}
	return fmt.Errorf("%w: %s", ErrNeedsReads, name)
}

// isInsert reports whether a statement adds rows.
func isInsert(name string) bool {
	return strings.HasPrefix(query.Get(name), "INSERT ")
}
