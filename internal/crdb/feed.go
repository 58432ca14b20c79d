package crdb

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

const (
	// longestTransaction limits the duration of a transaction that records events. A request's deadline is a third of it. If a server is cut off
	// inside a transaction, the session's timeouts end the transaction.
	longestTransaction = 30 * time.Second

	stateMaxAge = 5 * time.Second // the cached position's maximum age
	feedSeenMax = 64
	logWait     = 20 * time.Millisecond // pause before the next read, while PostgreSQL flushes its log
	flushEvery  = 10                    // number of reads with such a pause between two requests to flush the log
)

// feedSeen describes the transactions at one moment. oldest is the oldest running transaction, and next is the first transaction that has not begun.
// On CockroachDB oldest is the moment's timestamp.
type feedSeen struct {
	at             time.Time
	oldest, next   string
	wrote, flushed int64  // the log's insert and flush positions at that moment; both are 0 on CockroachDB, where a crash takes no position back
	checkpoint     string // the last checkpoint; if it differs from an earlier one, the database may have crashed in between
}

// feedClock caches the store's knowledge about the commit order.
type feedClock struct {
	mu   sync.Mutex
	seen []feedSeen // earlier moments, the oldest first
	mark storage.FeedState
	read time.Time // time of the last reading, by the process's own clock; zero: no reading yet

	durable      string   // each transaction before this position survives a crash; "": no such position is known
	secret       string   // the database's secret for which durable is valid
	pendingFlush feedSeen // when the log is flushed up to pendingFlush.wrote, durable becomes pendingFlush.oldest

	reading sync.Mutex // held while a request reads the current position
}

// RecentFeedState implements storage.Store.
func (s *Store) RecentFeedState(ctx context.Context) (storage.FeedState, error) {
	if m, fresh := s.feed.last(s.clock.local()); fresh {
		return m, nil
	}
	s.feed.reading.Lock()
	defer s.feed.reading.Unlock()
	if m, fresh := s.feed.last(s.clock.local()); fresh {
		return m, nil
	}
	page, err := s.FeedRead(ctx, storage.ProjectKey{}, storage.FeedPosition{}, ipam.ID{}, 0)
	return page.Now, err
}

func (f *feedClock) last(now time.Time) (storage.FeedState, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mark, !f.read.IsZero() && now.Sub(f.read) < stateMaxAge
}

// errNoFeed means that the feed's row does not exist, because no client has asked this database for changes yet.
var errNoFeed = errors.New("the database has no row for the feed")

// FeedRead implements storage.Store. It reads the position first and the rows afterwards. So no row before that position is missing from the page.
func (s *Store) FeedRead(ctx context.Context, project storage.ProjectKey, from storage.FeedPosition, after ipam.ID, limit int) (storage.FeedPage, error) {
	page, err := s.feedRead(ctx, project, from, after, limit)
	if !errors.Is(err, errNoFeed) {
		return page, err
	}
	secret := ipam.NewID()
	if _, err := s.runAlone(ctx, "feed_begin", secret, time.Unix(0, 0)); err != nil {
		return page, err
	}
	return s.feedRead(ctx, project, from, after, limit)
}

func (s *Store) feedRead(ctx context.Context, project storage.ProjectKey, from storage.FeedPosition, after ipam.ID, limit int) (storage.FeedPage, error) {
	if after.IsZero() {
		after = ipam.FirstTimeID(from.Since)
	}
	for n := 0; ; n++ {
		page, isDurable, err := s.feedReadOnce(ctx, project, from, after, limit)
		if err == nil && !isDurable && n%flushEvery == 0 {
			err = s.forceFlush(ctx)
		}
		if err != nil || isDurable {
			return page, err
		}
		select {
		case <-ctx.Done():
			return page, context.Cause(ctx)
		case <-time.After(logWait):
		}
	}
}

// forceFlush makes PostgreSQL flush its log: it ends a transaction that has a number.
func (s *Store) forceFlush(ctx context.Context) error {
	_, _, flush := s.engine.feed()
	return s.readNow(ctx, "feed_ending", func(q lookup.Querier) error {
		found, err := q.Query(ctx, flush)
		if err != nil {
			return err
		}
		found.Close()
		return found.Err()
	})
}

// feedReadOnce reads one page. It returns isDurable=false while no position that survives a crash is known. This happens only soon after the store
// opens.
func (s *Store) feedReadOnce(
	ctx context.Context, project storage.ProjectKey, from storage.FeedPosition, after ipam.ID, limit int,
) (page storage.FeedPage, isDurable bool, err error) {
	position, trail, _ := s.engine.feed()
	var seen feedSeen
	asked := s.clock.local()
	err = s.readNow(ctx, "feed_read", func(q lookup.Querier) error {
		page = storage.FeedPage{}
		b := &pgx.Batch{}
		b.Queue(position)
		if limit > 0 {
			b.Queue(trail, s.regions.Everywhere(), project.ID, after, from.Commit, limit)
		}
		results := q.SendBatch(ctx, b)
		err := results.QueryRow().Scan(&seen.oldest, &seen.next, &seen.at, &page.Now.Secret, &page.Now.KeptFrom,
			&seen.wrote, &seen.flushed, &seen.checkpoint)
		if errors.Is(err, pgx.ErrNoRows) {
			err = errNoFeed
		}
		if limit > 0 && err == nil {
			page.Rows, err = lookup.ReadRows(results, feedRowOf(project))
		}
		return errors.Join(err, results.Close())
	})
	if err != nil {
		return page, false, err
	}
	page.Read, page.More = seen.oldest, limit > 0 && len(page.Rows) == limit
	page.Now.FeedPosition, isDurable = s.feed.observe(s.engine, seen, page, asked)
	return page, isDurable, nil
}

func feedRowOf(project storage.ProjectKey) pgx.RowToFunc[storage.FeedRow] {
	return func(row pgx.CollectableRow) (storage.FeedRow, error) {
		r, commit := rows.EventRow{ProjectID: project.ID}, ""
		if err := row.Scan(&r.ID, &r.Count, &r.Events, &commit); err != nil {
			return storage.FeedRow{}, err
		}
		events, err := r.Unpack()
		return storage.FeedRow{ID: r.ID, Commit: commit, Events: events}, err
	}
}

// observe records the moment in current. It returns the last known position, no later than current, that survives a crash. It returns isDurable=false
// if no such position is known.
func (f *feedClock) observe(e engine, current feedSeen, page storage.FeedPage, asked time.Time) (position storage.FeedPosition, isDurable bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if current.oldest, isDurable = f.durableUntil(current, page); !isDurable {
		return position, false
	}
	mark := page.Now
	mark.FeedPosition = storage.FeedPosition{Commit: current.oldest, Since: e.beganAfter(f.seen, current).Add(-storage.LatestRecord).UTC()}
	if n := len(f.seen); n == 0 || current.at.Sub(f.seen[n-1].at) >= time.Second {
		f.seen = append(f.seen, current)
	}
	for len(f.seen) > 1 && !storage.CommitBefore(current.oldest, f.seen[1].next) { // the next moment gives the same lower bound or a better one
		f.seen = f.seen[1:]
	}
	if len(f.seen) > feedSeenMax { // the first moment stays, because it is the lower bound
		f.seen = append(f.seen[:1], f.seen[2:]...)
	}
	if asked.After(f.read) {
		f.mark, f.read = mark, asked
	}
	return mark.FeedPosition, true
}

// durableUntil returns the last known position, no later than current, that survives a crash. A row in page was committed, so the log on disk
// contains it.
func (f *feedClock) durableUntil(current feedSeen, page storage.FeedPage) (commit string, known bool) {
	if f.secret != page.Now.Secret {
		f.secret, f.durable, f.pendingFlush = page.Now.Secret, "", feedSeen{}
	}
	switch pending := f.pendingFlush; {
	case current.wrote <= current.flushed:
		f.setDurable(current.oldest)
		f.pendingFlush = feedSeen{}
	case pending.oldest == "" || current.checkpoint != pending.checkpoint:
		f.pendingFlush = current
	case pending.wrote <= current.flushed:
		f.setDurable(pending.oldest)
		f.pendingFlush = current
	}
	for _, row := range page.Rows { // a visible row is on disk, so its transaction's number and all earlier numbers are never assigned again
		if number, err := strconv.ParseUint(row.Commit, 10, 64); err == nil {
			f.setDurable(strconv.FormatUint(number+1, 10))
		}
	}
	if f.durable != "" && storage.CommitBefore(f.durable, current.oldest) {
		return f.durable, true
	}
	return current.oldest, f.durable != ""
}

func (f *feedClock) setDurable(commit string) {
	if f.durable == "" || storage.CommitBefore(f.durable, commit) {
		f.durable = commit
	}
}
