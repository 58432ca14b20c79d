package app

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/crdb"
)

// Retained says what retention deleted.
type Retained struct {
	Events int64 // records of the audit trail that were too old
	Purged int64 // records and holds of deleted projects
}

// Retain deletes what deleted projects left behind, and the records of the audit trail that are older than keep (0: none), in every region, directly in
// a database whose schema is current. It can be cut off, and run while servers work and from several places at once.
func Retain(ctx context.Context, dsn string, keep time.Duration) (done Retained, err error) {
	if _, err := crdb.CheckUser(ctx, dsn, crdb.RetentionRole); err != nil {
		return done, err
	}
	if err := crdb.CheckSchema(ctx, dsn); err != nil {
		return done, err
	}
	store, err := crdb.Open(ctx, dsn, crdb.Options{MaxConnections: 2})
	if err != nil {
		return done, err
	}
	defer store.Close()
	if done.Purged, err = store.Purge(ctx, batch); err != nil || keep <= 0 {
		return done, err
	}
	regions, err := store.Regions(ctx)
	if err != nil {
		return done, err
	}
	before := store.Now().Add(-keep)
	for _, r := range regions {
		n, err := store.In(r.Name).ExpireEvents(ctx, before, batch)
		if done.Events += n; err != nil {
			return done, err
		}
	}
	return done, nil
}
