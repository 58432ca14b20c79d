package crdb

import (
	"context"
	"errors"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

const (
	// longestTransaction is what a transaction of ours that records something lasts at most: its request has a deadline of a third of that, and a server
	// that is cut off is cut off in the middle of it for as long as the session's timeouts say.
	longestTransaction = 30 * time.Second

	markLasts   = 5 * time.Second // a mark is read anew after
	feedSeenMax = 64
)

// feedSeen is the transactions of a moment: the oldest that had not ended, and the first that had not begun. On CockroachDB oldest is the moment.
type feedSeen struct {
	at           time.Time
	oldest, next string
}

// feedClock is what a store knows of the order of commits.
type feedClock struct {
	mu   sync.Mutex
	seen []feedSeen // earlier moments, the oldest first
	mark storage.Mark
	read time.Time // when, by the process's own clock; zero: never

	reading sync.Mutex // by whoever reads a mark
}

// FeedMark implements storage.Store.
func (s *Store) FeedMark(ctx context.Context) (storage.Mark, error) {
	if m, fresh := s.feed.last(s.clock.local()); fresh {
		return m, nil
	}
	s.feed.reading.Lock()
	defer s.feed.reading.Unlock()
	if m, fresh := s.feed.last(s.clock.local()); fresh {
		return m, nil
	}
	page, err := s.FeedRead(ctx, storage.ProjectKey{}, storage.Place{}, ipam.ID{}, 0)
	return page.Now, err
}

func (f *feedClock) last(now time.Time) (storage.Mark, bool) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.mark, !f.read.IsZero() && now.Sub(f.read) < markLasts
}

// errNoFeed says that nobody has asked this database yet what has changed.
var errNoFeed = errors.New("there is no row of the feed")

// FeedRead implements storage.Store: the place is read before the rows, so that of what is missing in them nothing is before it.
func (s *Store) FeedRead(ctx context.Context, project storage.ProjectKey, from storage.Place, after ipam.ID, limit int) (storage.FeedPage, error) {
	page, err := s.feedRead(ctx, project, from, after, limit)
	if !errors.Is(err, errNoFeed) {
		return page, err
	}
	secret := ipam.NewID()
	if err := s.alone(ctx, "feed_begin", func(ctx context.Context, c *conn) error {
		_, err := c.Exec(ctx, query.Get("feed_begin"), rows.ID(secret), time.Unix(0, 0))
		return err
	}); err != nil {
		return page, err
	}
	return s.feedRead(ctx, project, from, after, limit)
}

func (s *Store) feedRead(ctx context.Context, project storage.ProjectKey, from storage.Place, after ipam.ID, limit int) (storage.FeedPage, error) {
	place, trail := s.engine.feed()
	if after.IsZero() {
		after = ipam.FirstTimeID(from.Since)
	}
	var page storage.FeedPage
	var seen feedSeen
	asked := s.clock.local()
	err := s.readNow(ctx, "feed_read", func(q lookup.Querier) error {
		page = storage.FeedPage{}
		b := &pgx.Batch{}
		b.Queue(place)
		if limit > 0 {
			b.Queue(trail, s.places.Everywhere(), rows.ID(project.ID), rows.ID(after), from.Commit, limit)
		}
		results := q.SendBatch(ctx, b)
		err := results.QueryRow().Scan(&seen.oldest, &seen.next, &seen.at, &page.Now.Secret, &page.Now.KeptFrom)
		if errors.Is(err, pgx.ErrNoRows) {
			err = errNoFeed
		}
		if limit > 0 && err == nil {
			page.Rows, err = lookup.Rest(results, feedRowOf(project))
		}
		return errors.Join(err, results.Close())
	})
	if err != nil {
		return page, err
	}
	page.Now.Place = s.feed.saw(s.engine, seen, page.Now, asked)
	page.More = limit > 0 && len(page.Rows) == limit
	return page, nil
}

func feedRowOf(project storage.ProjectKey) func(pgx.CollectableRow) (storage.FeedRow, error) {
	return func(row pgx.CollectableRow) (storage.FeedRow, error) {
		r, commit := rows.EventRow{ProjectID: project.ID}, ""
		if err := row.Scan((*[16]byte)(&r.ID), &r.Count, &r.Events, &commit); err != nil {
			return storage.FeedRow{}, err
		}
		events, err := r.Unpack()
		return storage.FeedRow{ID: r.ID, Commit: commit, Events: events}, err
	}
}

// saw keeps a moment, and answers the place that it is.
func (f *feedClock) saw(e engine, now feedSeen, mark storage.Mark, asked time.Time) storage.Place {
	f.mu.Lock()
	defer f.mu.Unlock()
	mark.Place = storage.Place{Commit: now.oldest, Since: e.since(f.seen, now).Add(-storage.LatestRecord).UTC()}
	if n := len(f.seen); n == 0 || now.at.Sub(f.seen[n-1].at) >= time.Second {
		f.seen = append(f.seen, now)
	}
	if len(f.seen) > feedSeenMax { // the first one stays: it is the least that is known
		f.seen = append(f.seen[:1], f.seen[2:]...)
	}
	if asked.After(f.read) {
		f.mark, f.read = mark, asked
	}
	return mark.Place
}
