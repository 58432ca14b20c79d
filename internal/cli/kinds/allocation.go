package kinds

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func allocationCommand(p *session.Program) *cobra.Command {
	k := verbs.Kind[client.IPAllocation]{
		P: p, View: allocationView(), Home: verbs.HomeOf(p, "allocations"), Nameless: true,
		Fed: &verbs.Fed[client.IPAllocation]{
			Kind: client.ChangeKindIPAllocation, Needs: "held", OwnText: "the held and retained blocks of the project itself", Own: isHeld,
		},
	}
	filters := []verbs.Filter{
		verbs.By("held", "holder", "only blocks that the project itself holds or has retained, in its own and in other projects' pools", verbs.Marked("self")),
		verbs.By(
			"phase", "phase", "only allocations in this phase",
			verbs.OneOf(client.IPAllocationPhaseBound, client.IPAllocationPhaseRetained, client.IPAllocationPhaseCoolingDown),
		),
		verbs.By(
			"purpose", "purpose", "only blocks with this purpose",
			verbs.OneOf(client.IPAllocationPurposeClaim, client.IPAllocationPurposeChildPool, client.IPAllocationPurposeReservation),
		),
		verbs.FamilyFilter("blocks"), verbs.PoolFilter(), verbs.ClassFilter("only blocks of claims of this `CLASS`"),
	}
	return verbs.Group("allocation", "Records of allocated and cooling blocks", []string{"allocations", "alloc"},
		k.ListVerb(`Lists the allocated and the cooling blocks in the project's pools, pool by pool, in order of address. --held lists the blocks
that the project itself holds, in its own and in other projects' pools, in order of name: first the retained blocks, then the
blocks of its claims. A block must match all filters.`, slices.Concat(filters, verbs.PlaceFilters())...),
		k.GetVerb(),
		k.ShowVerb(),
		k.DeleteVerb(verbs.Removal{
			Long: "Frees the blocks of retained allocations, and ends the cool-down of released ones. The server refuses a bound allocation:\ndelete its claim or pool.",
		}),
	)
}

// isHeld reports whether the project has the block, either through a claim or as a retained block.
func isHeld(s *session.Session, a client.IPAllocation) bool {
	return a.Spec.Purpose == client.IPAllocationPurposeClaim && a.Spec.Consumer == s.Project && a.Status.Phase != client.IPAllocationPhaseCoolingDown
}
