package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// Default retention. The audit trail stays for 90 days. Address holders stay for a year, because questions about them come late. An unlimited
// retention would let the database grow without limit.
const (
	AuditRetention   = 90 * 24 * time.Hour
	HistoryRetention = 365 * 24 * time.Hour
)

// The retention flags' names.
const (
	auditRetention   = "audit-retention"
	historyRetention = "history-retention"

	consumerRetention = "consumer-retention"
)

// Retained counts deleted records.
type Retained struct {
	Events int64 // expired audit trail records
	Holds  int64 // expired holder records
	Purged int64 // event and holder records in deleted projects
}

// Retain deletes the records in deleted projects. It also deletes audit records that are older than eventAge, and holder records that are older than
// holdAge. The age 0 keeps all records. Retain works in all regions, directly in a database with the current schema. It may be interrupted, and it
// may run while servers run, even several times at once.
func Retain(ctx context.Context, dsn string, eventAge, holdAge time.Duration) (done Retained, err error) {
	store, err := openStore(ctx, dsn, "", schema.RetentionRole)
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
		}{{eventAge, store.In(r.Name).ExpireEvents, &done.Events}, {holdAge, store.In(r.Name).ExpireHistory, &done.Holds}} {
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
