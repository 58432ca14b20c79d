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
			Kind: client.ChangeKindIPAllocation, Needs: "held", Told: "what the project itself holds or has retained", Own: isHeld,
		},
	}
	filters := []verbs.Filter{
		verbs.By("held", "holder", "what the project itself holds or has retained, in pools of whichever project", verbs.Marked("self")),
		verbs.By(
			"phase", "phase", "only allocations in this phase",
			verbs.OneOf(client.IPAllocationPhaseBound, client.IPAllocationPhaseRetained, client.IPAllocationPhaseCoolingDown),
		),
		verbs.By(
			"purpose", "purpose", "only blocks held for this",
			verbs.OneOf(client.IPAllocationPurposeClaim, client.IPAllocationPurposeChildPool, client.IPAllocationPurposeReservation),
		),
		verbs.FamilyFilter("blocks"), verbs.PoolFilter(), verbs.ClassFilter("only blocks of claims that this `CLASS` served"),
	}
	return verbs.Group("allocation", "The records of what is held", []string{"allocations", "alloc"},
		k.ListVerb(`Lists the blocks that are held in the project's pools, and those that cool down, pool by pool, in order of address. With --held
those that the project itself holds, in pools of whichever project: first what it has retained, then what its claims hold, in
order of their names. Filters add up.`, slices.Concat(filters, verbs.PlaceFilters())...),
		k.GetVerb(),
		k.ShowVerb(),
		k.DeleteVerb(verbs.Removal{
			Long: "Gives the blocks of retained allocations back, and ends the cool-down of released ones. A bound one is refused: delete what\nholds it.",
		}),
	)
}

// isHeld reports whether the project holds a block by a claim, or retains it.
func isHeld(s *session.Session, a client.IPAllocation) bool {
	return a.Spec.Purpose == client.IPAllocationPurposeClaim && a.Spec.Consumer == s.Project && a.Status.Phase != client.IPAllocationPhaseCoolingDown
}
