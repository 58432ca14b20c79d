package lookup

import (
	"bytes"
	"cmp"
	"context"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func allocationIn(project string) func(pgx.CollectableRow) (ipam.Allocation, error) {
	return func(row pgx.CollectableRow) (ipam.Allocation, error) {
		a, err := rows.Allocations.Scan(row)
		a.Project = project
		return a, err
	}
}

// AllocationGet implements storage.Reader.
func (r Reader) AllocationGet(ctx context.Context, project storage.ProjectKey, id ipam.ID) (ipam.Allocation, error) {
	a, err := one(ctx, r, "allocation_get", allocationIn(project.Name),
		NotFound("Allocation %q was not found in project %q.", id, project.Name), r.region, rows.ID(project.ID), rows.ID(id))
	if found := r.allocationElsewhere(ctx, project, id, &err); found != nil && found.ProjectID == project.ID {
		found.Project = project.Name
		return *found, nil
	}
	return a, err
}

// allocationElsewhere looks in the other regions for a project's allocation. Its caller has looked in the store's own region and passes the resulting
// error in err. allocationElsewhere does nothing unless that error is not_found. It returns nil if no region has the allocation. If its own read
// fails, its error replaces the one in err.
func (r Reader) allocationElsewhere(ctx context.Context, of storage.ProjectKey, id ipam.ID, err *error) *ipam.Allocation {
	if !r.regions.Several() || !ipam.IsCode(*err, ipam.CodeNotFound) {
		return nil
	}
	found, failed := List(ctx, r, "allocation_get_elsewhere", allocationIn(""), r.regions.Others(), rows.ID(id), rows.ID(of.ID))
	if failed != nil {
		*err = failed
	}
	if failed != nil || len(found) == 0 {
		return nil
	}
	return &found[0]
}

// AllocationList implements storage.Reader.
func (r Reader) AllocationList(ctx context.Context, project storage.ProjectKey, from storage.AllocationCursor, limit int) ([]ipam.Allocation, error) {
	byAddress := func(a, b ipam.Allocation) int {
		return cmp.Or(bytes.Compare(a.ContainerID[:], b.ContainerID[:]), a.Block.Addr().Compare(b.Block.Addr()))
	}
	return everywhere(ctx, r, "allocation_list", allocationIn(project.Name), r.regions.Everywhere(), byAddress, limit,
		rows.ID(project.ID), rows.ID(from.ContainerID), rows.After(from.Base), limit)
}

// AllocationListInPool implements storage.Reader.
func (r Reader) AllocationListInPool(ctx context.Context, pool storage.Container, within netip.Prefix, from netip.Addr, limit int) ([]ipam.Allocation, error) {
	return List(ctx, r, "allocation_list_in_pool", allocationIn(pool.Pool.Project),
		pool.Region, rows.ID(pool.ProjectID), rows.ID(pool.ID), rows.After(from), rows.Base(within), rows.Last(within), limit)
}

// AllocationListRetained implements storage.Reader.
func (r Reader) AllocationListRetained(ctx context.Context, holder storage.ProjectKey, from storage.RetainedCursor, limit int) ([]ipam.Allocation, error) {
	return List(ctx, r, "allocation_list_retained", allocationOfItsPool, r.regions.Everywhere(), rows.ID(holder.ID),
		rows.ID(from.ProjectID), rows.ID(from.ContainerID), rows.After(from.Base), limit)
}

// allocationOfItsPool reads an allocation in the pool of any project. The project that owns the pool also owns the allocation.
func allocationOfItsPool(row pgx.CollectableRow) (ipam.Allocation, error) {
	a, err := allocationIn("")(row)
	a.Project = a.Pool.Project
	return a, err
}

// HeldBefore implements storage.Reader.
func (r Reader) HeldBefore(ctx context.Context, c storage.Container, at netip.Addr) (netip.Addr, bool, error) {
	found, err := List(ctx, r, "held_before", func(row pgx.CollectableRow) (netip.Addr, error) {
		var base []byte
		if err := row.Scan(&base); err != nil {
			return netip.Addr{}, err
		}
		p, err := rows.Block(base, 0)
		return p.Addr(), err
	}, c.Region, rows.ID(c.ProjectID), rows.ID(c.ID), at.AsSlice())
	if err != nil || len(found) == 0 {
		return netip.Addr{}, false, err
	}
	return found[0], true, nil
}

// HeldUpTo implements storage.Reader.
func (r Reader) HeldUpTo(ctx context.Context, pool ipam.Pool, blocks []netip.Prefix) ([]ipam.Allocation, error) {
	if len(blocks) == 0 {
		return nil, nil
	}
	var regions []string
	for _, c := range storage.PoolContainers(pool) {
		regions = append(regions, c.Region)
	}
	first, last := make([][]byte, len(blocks)), make([][]byte, len(blocks))
	for i, b := range blocks {
		first[i], last[i] = rows.Base(b), rows.Last(b)
	}
	return List(ctx, r, "held_up_to", allocationIn(pool.Project), regions, rows.ID(pool.ProjectID), rows.ID(pool.UID), first, last, first[0])
}

// HeldCount implements storage.Reader.
func (r Reader) HeldCount(ctx context.Context, c storage.Container) (storage.Held, error) {
	var held storage.Held
	err := r.run(ctx, "held_count", func(q Querier) error {
		held = storage.Held{}
		answer, err := q.Query(ctx, query.Get("held_count"), c.Region, rows.ID(c.ProjectID), rows.ID(c.ID))
		if err != nil {
			return err
		}
		var purpose ipam.Purpose
		var phase ipam.Phase
		var n int64
		_, err = pgx.ForEachRow(answer, []any{&purpose, &phase, &n}, func() error {
			switch purpose {
			case ipam.PurposeClaim:
				switch phase {
				case ipam.PhaseRetained:
					held.Retained += n
				case ipam.PhaseCoolingDown:
					held.CoolingDown += n
				default:
					held.Claims += n
				}
			case ipam.PurposeChildPool:
				held.ChildPools += n
			case ipam.PurposeReservation:
				held.Reservations += n
			case ipam.PurposeRootPool:
				held.RootPools += n
			}
			return nil
		})
		return err
	})
	return held, err
}
