package cli

import (
	"slices"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) allocationCommand() *cobra.Command {
	k := kind[client.IPAllocation]{p: p, view: allocationView(), home: p.homeOf("allocations"), nameless: true}
	filters := []filter{
		{"held", "holder", "what the project itself holds or has retained, in pools of whichever project", marked("self"), nil},
		{
			"phase", "phase", "only allocations in this phase",
			oneOf(client.IPAllocationPhaseBound, client.IPAllocationPhaseRetained, client.IPAllocationPhaseCoolingDown), nil,
		},
		{
			"purpose", "purpose", "only blocks held for this",
			oneOf(client.IPAllocationPurposeClaim, client.IPAllocationPurposeChildPool, client.IPAllocationPurposeReservation), nil,
		},
		familyFilter("blocks"), poolFilter(), classFilter("only blocks of claims that this `CLASS` served"),
	}
	return group("allocation", "The records of what is held", []string{"allocations", "alloc"},
		k.listVerb(`Lists the blocks that are held in the project's pools, and those that cool down, pool by pool, in order of address. With --held
those that the project itself holds, in pools of whichever project: first what it has retained, then what its claims hold, in
order of their names. Filters add up.`, slices.Concat(filters, placeFilters())...),
		k.getVerb(),
		k.showVerb(),
		k.deleteVerb(removal{
			long: "Gives the blocks of retained allocations back, and ends the cool-down of released ones. A bound one is refused: delete what\nholds it.",
		}),
	)
}
