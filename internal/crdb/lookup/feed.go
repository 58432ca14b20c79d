package lookup

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ClaimsNamed implements storage.Reader.
func (r Reader) ClaimsNamed(ctx context.Context, project storage.ProjectKey, names []string) ([]ipam.Claim, error) {
	return List(ctx, r, "claim_list_named", claimIn(project), r.places.Everywhere(), rows.ID(project.ID), names)
}

// PoolsNamed implements storage.Reader.
func (r Reader) PoolsNamed(ctx context.Context, project storage.ProjectKey, names []string) ([]ipam.Pool, error) {
	return List(ctx, r, "pool_list_named", rows.Pools.Scan, rows.ID(project.ID), names)
}

// HoldingsNamed implements storage.Reader.
func (r Reader) HoldingsNamed(ctx context.Context, project storage.ProjectKey, ids []ipam.ID) ([]ipam.Allocation, error) {
	return List(ctx, r, "holding_list_named", allocationOfItsPool, r.places.Everywhere(), rows.ID(project.ID), rows.IDs(ids))
}

// endedWithin is how long before its release was recorded a hold has ended at most. It ends after it only when two servers' clocks differ.
const endedWithin = time.Minute

// AllocationsEnded implements storage.Reader.
func (r Reader) AllocationsEnded(ctx context.Context, project storage.ProjectKey, claims []storage.Released) ([][]ipam.ID, error) {
	var projects, names []string
	var bases [][]byte
	var lengths []int16
	var since, until []time.Time
	var numbers []int64
	for i, c := range claims {
		numbers = append(numbers, int64(i))
		projects, names = append(projects, c.Pool), append(names, c.Name)
		bases, lengths = append(bases, rows.Base(c.Block)), append(lengths, rows.Length(c.Block))
		since, until = append(since, c.At.Add(-endedWithin)), append(until, c.At)
	}
	type ended struct {
		number int64
		id     ipam.ID
	}
	found, err := List(ctx, r, "history_list_ended", func(row pgx.CollectableRow) (e ended, err error) {
		err = row.Scan(&e.number, (*[16]byte)(&e.id))
		return e, err
	}, r.places.Everywhere(), project.Name, projects, bases, lengths, since, until, names, numbers)
	ids := make([][]ipam.ID, len(claims))
	for _, e := range found {
		ids[e.number] = append(ids[e.number], e.id)
	}
	return ids, err
}
