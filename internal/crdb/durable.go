package crdb

import (
	"context"
	"sync"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/twin"
)

// durableLimit bounds what leads up to the COMMIT that Durable waits for. The COMMIT itself is waited for as long as it takes.
const durableLimit = 10 * time.Second

// Durable implements alloc.Store. Those who wait share one look at the database: the next that begins.
func (s *Store) Durable(ctx context.Context) error {
	if ask, _ := s.engine.durable(); ask == "" || twin.NoBarrier {
		return nil
	}
	return s.looks.next(ctx, func() error { return s.look(s.life) })
}

// look asks whether the database waits for other servers before it acknowledges a COMMIT. If so it makes one that has something to wait for: when that
// is acknowledged, so is all that could be seen when it began.
func (s *Store) look(ctx context.Context) error {
	ask, write := s.engine.durable()
	waits, err := s.waits(ctx, ask)
	if err != nil || !waits {
		return err
	}
	return s.repeat(ctx, "durable_write", false, func(ctx context.Context) error {
		begin, cancel := context.WithTimeout(ctx, durableLimit)
		defer cancel()
		c, err := s.pool.Acquire(begin) // not one of the writers' places, which are those of COMMITs that wait
		if err != nil {
			return err
		}
		cn := &conn{pool: c, writers: s.writers}
		defer cn.release(func() {})
		b := &pgx.Batch{}
		b.Queue(write)
		if err := cn.SendBatch(begin, b).Close(); err != nil {
			return err
		}
		return cn.commit(ctx)
	})
}

func (s *Store) waits(ctx context.Context, ask string) (yes bool, err error) {
	ctx, cancel := context.WithTimeout(ctx, durableLimit)
	defer cancel()
	err = s.readNow(ctx, "durable_ask", func(q querier) error {
		rows, err := q.Query(ctx, ask)
		if err != nil {
			return err
		}
		yes, err = pgx.CollectExactlyOneRow(rows, pgx.RowTo[bool])
		return err
	})
	return yes, err
}

// looks runs one look after another, each for all who came before it began.
type looks struct {
	mu      sync.Mutex
	coming  *look // has not begun; nil: nobody waits for one
	running bool
}

type look struct {
	done chan struct{}
	err  error
}

// next waits for a look that begins after this was called.
func (l *looks) next(ctx context.Context, run func() error) error {
	l.mu.Lock()
	mine := l.coming
	if mine == nil {
		mine = &look{done: make(chan struct{})}
		l.coming = mine
		if !l.running {
			l.running = true
			go l.work(run)
		}
	}
	l.mu.Unlock()
	select {
	case <-mine.done:
		return mine.err
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (l *looks) work(run func() error) {
	for {
		l.mu.Lock()
		now := l.coming
		l.coming, l.running = nil, now != nil
		l.mu.Unlock()
		if now == nil {
			return
		}
		now.err = run()
		close(now.done)
	}
}
