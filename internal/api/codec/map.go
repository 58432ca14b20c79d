package codec

import (
	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// PoolMapOf converts a pool's map into its wire form.
func PoolMapOf(m allocations.Map) gen.PoolMap {
	return gen.PoolMap{
		Within: m.Within.String(), CellPrefixLength: m.Bits,
		Cells: Each(m.Runs, func(r allocations.Run) gen.PoolMapCells {
			return gen.PoolMapCells{First: r.First, Count: r.Count, State: stateOf(r), By: mapHolderOf(r.By)}
		}),
	}
}

// stateOf returns the state that a run's cells share.
func stateOf(r allocations.Run) gen.PoolMapState {
	switch {
	case r.Mixed:
		return gen.PoolMapStateMixed
	case r.By == nil:
		return gen.PoolMapStateFree
	case r.By.Purpose == ipam.PurposeChildPool:
		return gen.PoolMapStateChildPool
	case r.By.Purpose == ipam.PurposeReservation:
		return gen.PoolMapStateReserved
	case r.By.Phase == ipam.PhaseRetained:
		return gen.PoolMapStateRetained
	case r.By.Phase == ipam.PhaseCoolingDown:
		return gen.PoolMapStateCoolingDown
	default:
		return gen.PoolMapStateHeld
	}
}

func mapHolderOf(a *ipam.Allocation) *gen.PoolMapHolder {
	if a == nil {
		return nil
	}
	return &gen.PoolMapHolder{
		Kind: gen.IPAllocationPurpose(a.Purpose), Project: a.Holder.Project, Name: a.Holder.Name, CIDR: a.Block.String(), Reason: a.Reason,
		Class: a.Class.Ref.Name, ClassProject: a.Class.Ref.Project, Allocation: a.ID.String(), Since: a.Since, CoolUntil: OptionalTime(a.CoolUntil),
	}
}
