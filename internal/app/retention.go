package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// Default retention: a quarter of a year for the audit trail, and a year for the holders of addresses, because such questions come late. Unlimited
// retention would mean an unbounded database.
const (
	AuditRetention   = 90 * 24 * time.Hour
	HistoryRetention = 365 * 24 * time.Hour
)

// Flags of the retention.
const (
	auditRetention   = "audit-retention"
	historyRetention = "history-retention"

	consumerRetention = "consumer-retention"
)

// Retained counts the deleted records.
type Retained struct {
	Events int64 // expired audit trail records
	Holds  int64 // expired holds
	Purged int64 // records and holds of deleted projects
}

// Retain deletes the records of deleted projects, and the audit trail records and the holds that are older than events and holds (0 deletes
// none). It works in every region, directly in a database with the current schema. It may be interrupted, and may run while servers work and in
// several places at once.
func Retain(ctx context.Context, dsn string, events, holds time.Duration) (done Retained, err error) {
	if _, err := schema.CheckUser(ctx, dsn, schema.RetentionRole); err != nil {
		return done, err
	}
	if err := schema.Check(ctx, dsn); err != nil {
		return done, err
	}
	store, err := crdb.Open(ctx, dsn, crdb.Options{MaxConnections: 2})
	if err != nil {
		return done, err
	}
	defer store.Close()
	if done.Purged, err = store.Purge(ctx, batch); err != nil {
		return done, err
	}
	regions, err := store.Regions(ctx)
	if err != nil {
		return done, err
	}
	now := store.Now()
	for _, r := range regions {
		for _, one := range []struct {
			keep   time.Duration
			expire func(context.Context, time.Time, int) (int64, error)
			n      *int64
		}{{events, store.In(r.Name).ExpireEvents, &done.Events}, {holds, store.In(r.Name).ExpireHistory, &done.Holds}} {
			if one.keep <= 0 {
				continue
			}
			n, err := one.expire(ctx, now.Add(-one.keep), batch)
			if *one.n += n; err != nil {
				return done, err
			}
		}
	}
	return done, nil
}
