package lookup

import (
	"cmp"
	"context"
	"net/netip"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The largest values that a row can have. A cursor with these values begins at the newest row.
var (
	LastID   = ipam.ID{0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff}
	LastTime = time.Date(9999, 12, 31, 23, 59, 59, 0, time.UTC)
)

func eventsIn(project storage.ProjectKey) pgx.RowToFunc[[]ipam.Event] {
	return func(row pgx.CollectableRow) ([]ipam.Event, error) {
		r, err := rows.Events.Scan(row)
		if err != nil {
			return nil, err
		}
		r.ProjectID = project.ID
		return r.Unpack()
	}
}

// EventList implements storage.Reader. A row contains events with consecutive ids. So the ids of two rows never interleave, and sorting the rows is
// enough.
func (r Reader) EventList(ctx context.Context, project storage.ProjectKey, from, before ipam.ID, limit int) (out []ipam.Event, err error) {
	if before.IsZero() {
		before = LastID
	}
	first := from.Numbered(from.Time(), 0) // the id of the first event in the row that contains the event from
	newestFirst := func(a, b []ipam.Event) int { return rows.CompareIDs(b[0].ID, a[0].ID) }
	found, err := listEverywhere(ctx, r, "event_list", eventsIn(project), r.regions.Everywhere(), newestFirst, limit+1, // one row more than limit, because before may exclude the newest row's events
		project.ID, first, before, limit)
	for _, row := range found {
		for _, e := range slices.Backward(row) {
			if len(out) < limit && rows.CompareIDs(e.ID, from) >= 0 && rows.CompareIDs(e.ID, before) < 0 {
				out = append(out, e)
			}
		}
	}
	return out, err
}

// PoolListCovering implements storage.Reader.
func (r Reader) PoolListCovering(ctx context.Context, project storage.ProjectKey, candidates []netip.Prefix, limit int) ([]ipam.Pool, error) {
	bases, lengths := heldArrays(candidates)
	return List(ctx, r, "pool_list_covering", rows.Pools.Scan, project.ID, bases, lengths, limit)
}

// HeldAt implements storage.Reader. For each candidate block that lies in a pool, it looks up one row.
func (r Reader) HeldAt(ctx context.Context, pools []storage.Container, candidates []netip.Prefix) ([]ipam.Allocation, error) {
	type ask struct {
		projects, containers []ipam.ID
		blocks               []netip.Prefix
	}
	asks := map[string]*ask{}
	owners := make(map[ipam.ID]string, len(pools))
	for _, c := range pools {
		owners[c.ID] = c.Pool.Project
		a := asks[c.Region]
		if a == nil {
			a = &ask{}
			asks[c.Region] = a
		}
		for _, b := range candidates {
			if c.Block.Contains(b.Addr()) && b.Bits() >= c.Block.Bits() {
				a.projects, a.containers, a.blocks = append(a.projects, c.ProjectID), append(a.containers, c.ID), append(a.blocks, b)
			}
		}
	}
	var out []ipam.Allocation
	for region, a := range asks {
		if len(a.blocks) == 0 {
			continue
		}
		bases, lengths := heldArrays(a.blocks)
		found, err := List(ctx, r, "held_at", allocationIn(""), region, a.projects, a.containers, bases, lengths)
		if err != nil {
			return nil, err
		}
		for _, f := range found {
			f.Project = owners[f.ContainerID]
			out = append(out, f)
		}
	}
	return out, nil
}

// HeldElsewhere implements storage.Reader.
func (r Reader) HeldElsewhere(ctx context.Context, holders []ipam.ID, candidates []netip.Prefix, limit int) ([]ipam.Allocation, error) {
	bases, lengths := heldArrays(candidates)
	holders = append([]ipam.ID{}, holders...) // a nil list would be NULL, and a comparison with <> ALL (NULL) excludes every row
	return listEverywhere(ctx, r, "held_elsewhere", allocationOfItsPool, r.regions.Everywhere(), longestFirst, limit, holders, bases, lengths, limit)
}

func longestFirst(a, b ipam.Allocation) int { return cmp.Compare(b.Block.Bits(), a.Block.Bits()) }

func holdIn(project storage.ProjectKey) pgx.RowToFunc[ipam.Hold] {
	return func(row pgx.CollectableRow) (ipam.Hold, error) {
		h, err := rows.Holds.Scan(row)
		h.ProjectID, h.Project = project.ID, project.Name
		return h, err
	}
}

// HistoryAt implements storage.Reader.
func (r Reader) HistoryAt(ctx context.Context, project storage.ProjectKey, candidates []netip.Prefix, at time.Time, limit int) ([]ipam.Hold, error) {
	bases, lengths := heldArrays(candidates)
	return listEverywhere(ctx, r, "history_at", holdIn(project), r.regions.Everywhere(), newestHoldFirst, limit, project.ID, bases, lengths, at, limit)
}

// HistoryList implements storage.Reader.
func (r Reader) HistoryList(ctx context.Context, project storage.ProjectKey, candidates []netip.Prefix, before storage.HistoryCursor, limit int) ([]ipam.Hold, error) {
	if before.Until.IsZero() {
		before = storage.HistoryCursor{Until: LastTime, ID: LastID}
	}
	bases, lengths := heldArrays(candidates)
	return listEverywhere(ctx, r, "history_list", holdIn(project), r.regions.Everywhere(), newestHoldFirst, limit,
		project.ID, bases, lengths, before.Until, before.ID, limit)
}

func newestHoldFirst(a, b ipam.Hold) int {
	return cmp.Or(b.Until.Compare(a.Until), rows.CompareIDs(b.ID, a.ID))
}

// AllocationGetByID implements storage.Reader.
func (r Reader) AllocationGetByID(ctx context.Context, of storage.ProjectKey, id ipam.ID) (ipam.Allocation, error) {
	return r.allocation(ctx, "allocation_get_by_id", allocationOfItsPool, of, id, r.region, id, of.ID)
}

func heldArrays(blocks []netip.Prefix) (bases [][]byte, lengths []int16) {
	bases, lengths = make([][]byte, len(blocks)), make([]int16, len(blocks))
	for i, b := range blocks {
		bases[i], lengths[i] = rows.Base(b), rows.Length(b)
	}
	return bases, lengths
}
