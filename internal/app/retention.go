package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// How long records are kept unless somebody says otherwise: the trail for a quarter of a year, for those who look what happened; who held an address for
// a year, since that is asked late. For ever is an unbounded database.
const (
	AuditRetention   = 90 * 24 * time.Hour
	HistoryRetention = 365 * 24 * time.Hour
)

// The flags for that.
const (
	auditRetention   = "audit-retention"
	historyRetention = "history-retention"

	consumerRetention = "consumer-retention"
)

// Retained says what retention deleted.
type Retained struct {
	Events int64 // records of the audit trail that were too old
	Holds  int64 // holds that ended too long ago
	Purged int64 // records and holds of deleted projects
}

// Retain deletes what deleted projects left behind, and the records of the audit trail and the holds that are older than they are kept (0: none), in every region, directly in
// a database whose schema is current. It can be cut off, and run while servers work and from several places at once.
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
