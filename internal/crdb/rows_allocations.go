package crdb

import (
	"context"
	"net/netip"
	"time"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

func allocationIn(project string) func(pgx.Row) (ipam.Allocation, error) {
	return func(row pgx.Row) (ipam.Allocation, error) {
		var a ipam.Allocation
		var at []byte
		var length int16
		var class *[16]byte
		var coolUntil *time.Time
		err := row.Scan(&a.Region, (*[16]byte)(&a.ProjectID), (*[16]byte)(&a.ContainerID), &at, &length, (*[16]byte)(&a.ID), &a.Purpose, &a.Phase,
			&a.Pool.Project, &a.Pool.Name, (*[16]byte)(&a.HolderProjectID), &a.Holder.Project, &a.Holder.Name, &a.ReclaimPolicy, &a.OwnerRef,
			&a.Reason, &a.Since, (*[16]byte)(&a.Revision), &a.CreatedAt, &a.UpdatedAt, &a.CreatedBy,
			&class, &a.Class.Ref.Project, &a.Class.Ref.Name, &coolUntil)
		if err != nil {
			return a, err
		}
		a.Project, a.Class.ID, a.CoolUntil = project, idOf(class), sometime(coolUntil)
		a.Since, a.CreatedAt, a.UpdatedAt = a.Since.UTC(), a.CreatedAt.UTC(), a.UpdatedAt.UTC()
		a.Block, err = block(at, int(length))
		return a, err
	}
}

// AllocationGet implements storage.Reader.
func (r reader) AllocationGet(ctx context.Context, project storage.ProjectKey, id ipam.ID) (ipam.Allocation, error) {
	a, err := one(ctx, r, "allocation_get", allocationIn(project.Name),
		notFound("Allocation %q was not found in project %q.", id, project.Name), r.region, uuid(project.ID), uuid(id))
	if found := r.allocationElsewhere(ctx, project, id, &err); found != nil && found.ProjectID == project.ID {
		found.Project = project.Name
		return *found, nil
	}
	return a, err
}

// allocationElsewhere looks in the other regions for an allocation of a project that was not found in the store's own; nil: it is not there. An error of looking
// takes the place of not_found.
func (r reader) allocationElsewhere(ctx context.Context, of storage.ProjectKey, id ipam.ID, err *error) *ipam.Allocation {
	if !r.places.several() || !ipam.IsCode(*err, ipam.CodeNotFound) {
		return nil
	}
	found, failed := list(ctx, r, "allocation_get_elsewhere", allocationIn(""), r.places.others(), uuid(id), uuid(of.ID))
	if failed != nil {
		*err = failed
	}
	if failed != nil || len(found) == 0 {
		return nil
	}
	return &found[0]
}

// AllocationList implements storage.Reader.
func (r reader) AllocationList(ctx context.Context, project storage.ProjectKey, from storage.AllocationCursor, limit int) ([]ipam.Allocation, error) {
	if r.places.several() {
		return list(ctx, r, "allocation_list_everywhere", allocationIn(project.Name),
			r.places.everywhere(), uuid(project.ID), uuid(from.ContainerID), after(from.Base), limit)
	}
	return list(ctx, r, "allocation_list", allocationIn(project.Name), r.region, uuid(project.ID), uuid(from.ContainerID), after(from.Base), limit)
}

// AllocationListInPool implements storage.Reader.
func (r reader) AllocationListInPool(ctx context.Context, pool storage.Container, within netip.Prefix, from netip.Addr, limit int) ([]ipam.Allocation, error) {
	return list(ctx, r, "allocation_list_in_pool", allocationIn(pool.Pool.Project),
		pool.Region, uuid(pool.ProjectID), uuid(pool.ID), after(from), base(within), last(within), limit)
}

// AllocationListRetained implements storage.Reader.
func (r reader) AllocationListRetained(ctx context.Context, holder storage.ProjectKey, from storage.RetainedCursor, limit int) ([]ipam.Allocation, error) {
	return list(ctx, r, "allocation_list_retained", allocationOfItsPool, r.places.everywhere(), uuid(holder.ID),
		uuid(from.ProjectID), uuid(from.ContainerID), after(from.Base), limit)
}

// AllocationsNamed implements storage.Reader.
func (r reader) AllocationsNamed(ctx context.Context, keys []storage.AllocationKey) (map[ipam.ID]ipam.Allocation, error) {
	regions, ids := make([]string, len(keys)), make([]ipam.ID, len(keys))
	for i, k := range keys {
		regions[i], ids[i] = k.Region, k.ID
	}
	found, err := list(ctx, r, "allocations_named", allocationOfItsPool, regions, uuids(ids))
	out := make(map[ipam.ID]ipam.Allocation, len(found))
	for _, a := range found {
		out[a.ID] = a
	}
	return out, err
}

// allocationOfItsPool reads an allocation in whichever project's pool it is: that one owns it.
func allocationOfItsPool(row pgx.Row) (ipam.Allocation, error) {
	a, err := allocationIn("")(row)
	a.Project = a.Pool.Project
	return a, err
}

// HeldBefore implements storage.Reader.
func (r reader) HeldBefore(ctx context.Context, c storage.Container, at netip.Addr) (netip.Addr, bool, error) {
	found, err := list(ctx, r, "held_before", func(row pgx.Row) (netip.Addr, error) {
		var base []byte
		if err := row.Scan(&base); err != nil {
			return netip.Addr{}, err
		}
		p, err := block(base, 0)
		return p.Addr(), err
	}, c.Region, uuid(c.ProjectID), uuid(c.ID), at.AsSlice())
	if err != nil || len(found) == 0 {
		return netip.Addr{}, false, err
	}
	return found[0], true, nil
}

// HeldCount implements storage.Reader.
func (r reader) HeldCount(ctx context.Context, c storage.Container) (storage.Held, error) {
	var held storage.Held
	err := r.run(ctx, "held_count", func(q querier) error {
		held = storage.Held{}
		rows, err := q.Query(ctx, query.Get("held_count"), c.Region, uuid(c.ProjectID), uuid(c.ID))
		if err != nil {
			return err
		}
		var purpose ipam.Purpose
		var phase ipam.Phase
		var n int64
		_, err = pgx.ForEachRow(rows, []any{&purpose, &phase, &n}, func() error {
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
