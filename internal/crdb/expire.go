package crdb

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ExpireStoredResponses deletes up to limit stored responses that expired before now. It uses its own transaction, and returns the number of deleted
// responses.
func (s *Store) ExpireStoredResponses(ctx context.Context, now time.Time, limit int) (int64, error) {
	return s.runAlone(ctx, "answer_expire", s.region, now, limit)
}

// ForgetConsumers deletes up to limit tombstones of consumers that ended before cutoff. It uses its own transaction, and returns the number of
// deleted tombstones.
func (s *Store) ForgetConsumers(ctx context.Context, cutoff time.Time, limit int) (int64, error) {
	return s.runAlone(ctx, "consumer_forget", s.region, cutoff, limit)
}

// ExpireDeliveries deletes the webhook deliveries that Carve gave up before cutoff because all attempts had failed. It uses its own transaction, and
// returns the number of deleted deliveries.
func (s *Store) ExpireDeliveries(ctx context.Context, cutoff time.Time) (int64, error) {
	return s.runAlone(ctx, "delivery_expire", s.region, cutoff)
}

// RecordUtilization implements utilization.Store.
func (s *Store) RecordUtilization(ctx context.Context, today, since time.Time, records []utilization.Record) (int64, error) {
	var latest time.Time
	pools, points := make([]ipam.ID, len(records)), make([][]byte, len(records))
	for i, r := range records {
		latest = r.At
		pools[i], points[i] = r.PoolID, rows.AppendPoint(nil, today, r.UsedAt)
	}
	return s.runAlone(ctx, "utilization_record", s.region, today, latest, since, pools, points)
}

// FoldUtilization implements utilization.Store. It deletes daily records and adds them to their month's record, in one transaction. So two servers
// never fold the same days.
func (s *Store) FoldUtilization(ctx context.Context, before time.Time, limit int, kept func([]ipam.UsedAt) []ipam.UsedAt) (int, error) {
	var n int
	err := s.inMaintenanceTx(ctx, "utilization_fold", func(ctx context.Context, c *conn) error {
		records, err := c.Query(ctx, query.Get("utilization_take"), s.region, before, limit)
		if err != nil {
			return err
		}
		taken, err := pgx.CollectRows(records, lookup.ScanUtilization)
		if n = len(taken); err != nil || n == 0 {
			return err
		}
		months := rows.Months(taken, kept)
		_, err = c.execCount(ctx, "utilization_fold", s.region, months.Pools, months.Begin, months.Latest, months.Points)
		return err
	})
	return n, err
}

// ExpireUtilization implements utilization.Store.
func (s *Store) ExpireUtilization(ctx context.Context, before time.Time, limit int) (int64, error) {
	return s.runAlone(ctx, "utilization_expire", s.region, before, limit)
}

// forget deletes the expired responses that are stored under keys, in its own transaction.
func (s *Store) forget(ctx context.Context, keys []storage.NameRef, now time.Time) error {
	return s.inMaintenanceTx(ctx, "answer_replace", func(ctx context.Context, c *conn) error {
		for _, k := range keys {
			if _, err := c.execCount(ctx, "answer_replace", s.region, k.ProjectID, rows.IdempotencyKey(k.Name), now); err != nil {
				return err
			}
		}
		return nil
	})
}

// inMaintenanceTx runs work that the adapter itself needs, in a separate transaction.
func (s *Store) inMaintenanceTx(ctx context.Context, op string, fn func(ctx context.Context, c *conn) error) error {
	return s.repeat(ctx, op, false, func(ctx context.Context) error {
		cn, release, err := s.acquire(ctx, false)
		if err != nil {
			return err
		}
		defer release()
		return s.engine.attempt(ctx, cn, false, func(ctx context.Context) error { return fn(ctx, cn) })
	})
}

// runAlone runs one statement in a separate transaction, and returns the number of affected rows.
func (s *Store) runAlone(ctx context.Context, name string, args ...any) (n int64, err error) {
	err = s.inMaintenanceTx(ctx, name, func(ctx context.Context, c *conn) (err error) {
		n, err = c.execCount(ctx, name, args...)
		return err
	})
	return n, err
}

// execCount runs a statement and returns the number of affected rows.
func (c *conn) execCount(ctx context.Context, name string, args ...any) (int64, error) {
	tag, err := c.Exec(ctx, query.Get(name), args...)
	return tag.RowsAffected(), err
}
