package codec

import (
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// AllocationOf converts an allocation into its wire form.
func AllocationOf(a ipam.Allocation) gen.IPAllocation {
	out := gen.IPAllocation{
		Metadata: metadataOf(a.Meta()),
		Spec: gen.IPAllocationSpec{
			Purpose: gen.IPAllocationPurpose(a.Purpose), PoolRef: resolvedRefOf(a.Pool), OwnerRef: (*gen.OwnerRef)(a.OwnerRef),
			ReclaimPolicy: gen.ReclaimPolicy(a.ReclaimPolicy), Reason: a.Reason,
		},
		Status: gen.IPAllocationStatus{AllocatedCIDR: a.Block.String(), Phase: gen.IPAllocationPhase(a.Phase), CoolUntil: OptionalTime(a.CoolUntil)},
	}
	switch a.Purpose {
	case ipam.PurposeClaim:
		out.Spec.Consumer = a.Holder.Project
		out.Spec.ClaimRef = optionalRefOf(a.Holder)
		out.Spec.ClassProject, out.Spec.ClassName = a.Class.Ref.Project, a.Class.Ref.Name
	case ipam.PurposeChildPool:
		out.Spec.ChildPoolRef = optionalRefOf(a.Holder)
	case ipam.PurposeReservation, ipam.PurposeRootPool: // no other resource holds such blocks
	}
	return out
}
