package crdb

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/crdb/query"
)

// ExpireAnswers deletes up to limit idempotency answers that expired before now, in a transaction of their own, and says how many.
func (s *Store) ExpireAnswers(ctx context.Context, now time.Time, limit int) (int64, error) {
	var n int64
	err := s.repeat(ctx, "answer_expire", func() error {
		c, err := s.pool.Acquire(ctx)
		if err != nil {
			return err
		}
		defer c.Release()
		cn := &conn{pool: c}
		return s.engine.attempt(ctx, cn, false, func(ctx context.Context) error {
			tag, err := cn.Exec(ctx, query.Get("answer_expire"), s.region, now, limit)
			n = tag.RowsAffected()
			return err
		})
	})
	return n, err
}
