package alloc

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// GetAllocation reads one allocation of a project's pools. Its name is its id.
func (s *Service) GetAllocation(ctx context.Context, project, name string) (ipam.Allocation, error) {
	_, key, err := s.enter(ctx, tenancy.AllocationsRead, project)
	if err != nil {
		return ipam.Allocation{}, err
	}
	id, err := ipam.ParseID(name)
	if err != nil {
		return ipam.Allocation{}, allocationNotFound(key, name)
	}
	return s.store.AllocationGet(ctx, key, id)
}

func allocationNotFound(key ProjectKey, name string) error {
	return ipam.Errorf(ipam.CodeNotFound, "Allocation %q was not found in project %q.", name, key.Name)
}

// DeleteAllocation gives a retained block back. A bound allocation goes with its holder and is refused here.
func (s *Service) DeleteAllocation(ctx context.Context, project, name string, r Request) error {
	_, key, err := s.enter(ctx, tenancy.AllocationsWrite, project)
	if err != nil {
		return err
	}
	id, err := ipam.ParseID(name)
	if err != nil {
		return allocationNotFound(key, name)
	}
	first, err := s.store.AllocationGet(ctx, key, id)
	if err != nil {
		return err
	}
	release, err := s.lanes.acquire(ctx, first.ContainerID)
	if err != nil {
		return err
	}
	defer release()
	_, err = settled(ctx, s, "allocation_delete", r.DryRun, func(ctx context.Context, tx Tx) (struct{}, error) {
		var none struct{}
		a, err := tx.AllocationGet(ctx, key, id)
		if err != nil {
			return none, err
		}
		if err := r.IfMatch.Check(a.Revision); err != nil {
			return none, err
		}
		if a.Phase != ipam.PhaseRetained {
			e := ipam.Errorf(ipam.CodeInUse, "Allocation %s (%s) is bound: delete its %s instead.", a.ID, a.Block, holderWord(a))
			if a.Holder != (ipam.Ref{}) {
				e.Figures.ConflictsWith = []string{a.Holder.String()}
			}
			return none, e
		}
		pool, err := tx.PoolGetByID(ctx, a.ContainerID)
		if err != nil {
			return none, err
		}
		c, freed := PoolContainer(pool), []netip.Prefix{a.Block}
		free, err := tx.FreeRead(ctx, c, reads(c, freed, nil))
		if err != nil {
			return none, err
		}
		k, err := newCarver(c, freed, free)
		if err != nil {
			return none, err
		}
		return none, tx.Write(ctx, Changes{Free: []FreeChange{k.change()}, AllocationDelete: []ipam.Allocation{a}})
	}, func(ctx context.Context) (struct{}, bool, error) {
		_, found, err := ignoreNotFound(s.store.AllocationGet(ctx, key, id))
		return struct{}{}, !found, err
	})
	return err
}

func holderWord(a ipam.Allocation) string {
	switch a.Purpose {
	case ipam.PurposeChildPool, ipam.PurposeRootPool:
		return "pool " + a.Holder.String()
	case ipam.PurposeReservation:
		return "reservation, in the spec of pool " + a.Pool.String() + ","
	case ipam.PurposeClaim:
		return "claim " + a.Holder.String()
	default:
		return "holder"
	}
}
