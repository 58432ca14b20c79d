package kinds

import (
	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func allocations(p *session.Program) verbs.Kind {
	type T = client.IPAllocation
	return verbs.Kind{
		P: p, In: "allocations", Short: "Records of allocated and cooling blocks", Aliases: []string{"alloc"}, Nameless: true,
		View: show.ViewOf("allocation", `
			CIDR: status.allocatedCIDR
			POOL: spec.poolRef
			PHASE: status.phase
			PURPOSE: spec.purpose
			CLASS: class
			FOR: for
			NAME: metadata.name
			RECLAIM: spec.reclaimPolicy, wide
			OWNER: spec.ownerRef, wide
			REGION: metadata.region, wide`+labelled, show.Cells[T]{
			"class": func(t T) string { return classText(t.Spec.ClassProject, t.Spec.ClassName, t.Metadata.Project) },
			"for":   allocatedFor,
		}),
		Feed: client.ChangeKindIPAllocation,
		Fed: verbs.Fed{
			Needs: "held", OwnText: "the held and retained blocks of the project itself", Own: isHeld,
		},
		ListHelp: `Lists the allocated and the cooling blocks in the project's pools, pool by pool, in order of address. --held lists the blocks
that the project itself holds, in its own and in other projects' pools, in order of name: first the retained blocks, then the
blocks of its claims. A block must match all filters.`,
		Filters: []verbs.Field{
			{
				Flag: "held", Path: "holder", Value: verbs.WordFlag("self"),
				Usage: "only blocks that the project itself holds or has retained, in its own and in other projects' pools",
			},
			{Flag: "phase", Words: "Bound Retained CoolingDown", Usage: "only allocations in this phase"},
			{Flag: "purpose", Words: "Claim ChildPool Reservation", Usage: "only blocks with this purpose"},
			verbs.FamilyFilter("blocks"), verbs.PoolFilter, verbs.ClassFilter("only blocks of claims of this `CLASS`"),
			verbs.WithinFilter, verbs.ContainsFilter,
		},
		Get: true, Show: true,
		Delete: &verbs.Removal{
			Long: "Frees the blocks of retained allocations, and ends the cool-down of released ones. The server refuses a bound allocation:\ndelete its claim or pool.",
		},
	}
}

// isHeld reports whether the project has the block, either through a claim or as a retained block.
func isHeld(s *session.Session, object any) bool {
	a, _ := object.(client.IPAllocation)
	return a.Spec.Purpose == client.IPAllocationPurposeClaim && a.Spec.Consumer == s.Project && a.Status.Phase != client.IPAllocationPhaseCoolingDown
}

// allocatedFor describes a block's holder, which is a claim or a child pool. For a reservation, the text is its reason. For a cooling block, the text
// has the time at which it becomes free.
func allocatedFor(a client.IPAllocation) string {
	switch {
	case a.Status.Phase == client.IPAllocationPhaseCoolingDown:
		return "unused until " + show.TimeText(a.Status.CoolUntil)
	case a.Spec.Purpose == client.IPAllocationPurposeChildPool:
		return show.RefText(a.Spec.ChildPoolRef, a.Metadata.Project)
	case a.Spec.Purpose == client.IPAllocationPurposeReservation:
		return a.Spec.Reason
	case a.Spec.Purpose == client.IPAllocationPurposeClaim && a.Spec.ClaimRef == nil:
		return foreignClaim(a.Spec.Consumer)
	case a.Spec.Purpose == client.IPAllocationPurposeClaim:
		return show.RefText(a.Spec.ClaimRef, a.Metadata.Project)
	default:
		return ""
	}
}

// foreignClaim describes another project's claim for the pool's owner. The owner sees the project but not the claim's name.
func foreignClaim(consumer string) string { return "a claim of " + consumer }

// classText names the class that served an object. If no class served it, classText returns "".
func classText(project, name, from string) string {
	if name == "" {
		return ""
	}
	return show.RefText(&client.ResolvedRef{Project: project, Name: name}, from)
}
