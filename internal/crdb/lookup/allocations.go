package lookup

import (
	"cmp"
	"context"
	"net/netip"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/ipam"
)

func allocationIn(project string) pgx.RowToFunc[ipam.Allocation] {
	return func(row pgx.CollectableRow) (ipam.Allocation, error) {
		a, err := rows.Allocations.Scan(row)
		a.Project = project
		return a, err
	}
}

// AllocationGet implements storage.Reader.
func (r Reader) AllocationGet(ctx context.Context, project storage.ProjectKey, id ipam.ID) (ipam.Allocation, error) {
	a, err := r.allocation(ctx, "allocation_get", allocationIn(project.Name), project, id, r.region, project.ID, id)
	if err == nil && a.ProjectID != project.ID {
		return ipam.Allocation{}, allocationMissing(project, id)()
	}
	return a, err
}

func allocationMissing(project storage.ProjectKey, id ipam.ID) func() error {
	return NotFound("Allocation %q was not found in project %q.", id, project.Name)
}

// allocation reads a project's allocation with a statement for the store's own region. If that region lacks the allocation, it reads the other
// regions.
func (r Reader) allocation(
	ctx context.Context, statement string, scan pgx.RowToFunc[ipam.Allocation], project storage.ProjectKey, id ipam.ID, args ...any,
) (ipam.Allocation, error) {
	a, err := readOne(ctx, r, statement, scan, allocationMissing(project, id), args...)
	if !r.regions.Several() || !ipam.IsCode(err, ipam.CodeNotFound) {
		return a, err
	}
	if found, there, failed := First(ctx, r, "allocation_get_elsewhere", scan, r.regions.Others(), id, project.ID); there || failed != nil {
		return found, failed
	}
	return a, err
}

// AllocationList implements storage.Reader.
func (r Reader) AllocationList(ctx context.Context, project storage.ProjectKey, from storage.AllocationCursor, limit int) ([]ipam.Allocation, error) {
	byAddress := func(a, b ipam.Allocation) int {
		return cmp.Or(rows.CompareIDs(a.ContainerID, b.ContainerID), a.Block.Addr().Compare(b.Block.Addr()))
	}
	return listEverywhere(ctx, r, "allocation_list", allocationIn(project.Name), r.regions.Everywhere(), byAddress, limit,
		project.ID, from.ContainerID, rows.After(from.Base), limit)
}

// AllocationListInPool implements storage.Reader.
func (r Reader) AllocationListInPool(ctx context.Context, pool storage.Container, within netip.Prefix, from netip.Addr, limit int) ([]ipam.Allocation, error) {
	return List(ctx, r, "allocation_list_in_pool", allocationIn(pool.Pool.Project),
		pool.Region, pool.ProjectID, pool.ID, rows.After(from), rows.Base(within), rows.Last(within), limit)
}

// AllocationListRetained implements storage.Reader.
func (r Reader) AllocationListRetained(ctx context.Context, holder storage.ProjectKey, from storage.RetainedCursor, limit int) ([]ipam.Allocation, error) {
	return List(ctx, r, "allocation_list_retained", allocationOfItsPool, r.regions.Everywhere(), holder.ID,
		from.ProjectID, from.ContainerID, rows.After(from.Base), limit)
}

// allocationOfItsPool reads an allocation in any pool. The project that owns the pool also owns the allocation.
func allocationOfItsPool(row pgx.CollectableRow) (ipam.Allocation, error) {
	a, err := allocationIn("")(row)
	a.Project = a.Pool.Project
	return a, err
}

// HeldBefore implements storage.Reader.
func (r Reader) HeldBefore(ctx context.Context, c storage.Container, at netip.Addr) (netip.Addr, bool, error) {
	return First(ctx, r, "held_before", func(row pgx.CollectableRow) (netip.Addr, error) {
		var base []byte
		if err := row.Scan(&base); err != nil {
			return netip.Addr{}, err
		}
		p, err := rows.Block(base, 0)
		return p.Addr(), err
	}, c.Region, c.ProjectID, c.ID, at.AsSlice())
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
	return List(ctx, r, "held_up_to", allocationIn(pool.Project), regions, pool.ProjectID, pool.UID, first, last, first[0])
}

// HeldCount implements storage.Reader.
func (r Reader) HeldCount(ctx context.Context, c storage.Container) (held storage.Held, err error) {
	type count struct {
		purpose ipam.Purpose
		phase   ipam.Phase
		n       int64
	}
	counts, err := List(ctx, r, "held_count", func(row pgx.CollectableRow) (c count, err error) {
		err = row.Scan(&c.purpose, &c.phase, &c.n)
		return c, err
	}, c.Region, c.ProjectID, c.ID)
	for _, c := range counts {
		switch {
		case c.purpose == ipam.PurposeChildPool:
			held.ChildPools += c.n
		case c.purpose == ipam.PurposeReservation:
			held.Reservations += c.n
		case c.purpose == ipam.PurposeRootPool:
			held.RootPools += c.n
		case c.purpose != ipam.PurposeClaim:
		case c.phase == ipam.PhaseRetained:
			held.Retained += c.n
		case c.phase == ipam.PhaseCoolingDown:
			held.CoolingDown += c.n
		default:
			held.Claims += c.n
		}
	}
	return held, err
}
