package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) allocationCommand() *cobra.Command {
	within := p.inProject
	complete := cobra.NoFileCompletions
	read := func(ctx context.Context, s *session, name string) (*http.Response, error) {
		return s.api.GetAllocation(ctx, s.project, name, nil)
	}
	return group("allocation", "The records of what is held", []string{"allocations", "alloc"},
		p.allocationList(within),
		getVerb(p, allocationView(), within, complete, read),
		showVerb(p, allocationView(), within, complete, read),
		p.deleteVerb(removal{
			kind: "allocation", within: within, complete: complete, read: read,
			long: "Gives the blocks of retained allocations back, and ends the cool-down of released ones. A bound one is refused: delete what\nholds it.",
			send: func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error) {
				return s.api.DeleteAllocation(ctx, s.project, name, &client.DeleteAllocationParams{DryRun: d.dry(), IfMatch: d.match()})
			},
		}),
	)
}

func (p *program) allocationList(within func() (*session, error)) *cobra.Command {
	var phase, purpose, pool, class, inside, contains string
	var fam family
	var held bool
	return listVerb(p, allocationView(), `Lists the blocks that are held in the project's pools, and those that cool down, pool by pool, in order of address. With --held
those that the project itself holds, in pools of whichever project: first what it has retained, then what its claims hold, in
order of their names. Filters add up.`,
		within,
		func(cmd *cobra.Command) {
			cmd.Flags().BoolVar(&held, "held", false, "what the project itself holds or has retained, in pools of whichever project")
			choiceFlag(cmd, &phase, "phase", "only allocations in this phase", client.IPAllocationPhaseBound,
				client.IPAllocationPhaseRetained, client.IPAllocationPhaseCoolingDown)
			choiceFlag(cmd, &purpose, "purpose", "only blocks held for this", client.IPAllocationPurposeClaim,
				client.IPAllocationPurposeChildPool, client.IPAllocationPurposeReservation)
			cmd.Flags().Var(&fam, "family", "only blocks of this address family: IPv4, IPv6")
			cmd.Flags().StringVar(&pool, "pool", "", "only what was carved from this `POOL`, name or project/name")
			classFilter(p, cmd, &class, "only blocks of claims that this `CLASS` served")
			placeFlags(cmd, &inside, &contains)
			completeFlag(cmd, "pool", p.completePools())
		},
		func(s *session) (fetch, error) {
			ref, err := refFilter("pool", pool)
			if err != nil {
				return nil, err
			}
			served, err := classFiltered(class)
			if err != nil {
				return nil, err
			}
			var holder client.AllocationHolder
			if held {
				holder = client.AllocationHolderSelf
			}
			return func(ctx context.Context, ask asking) (*http.Response, error) {
				return s.api.ListAllocations(ctx, s.project, &client.ListAllocationsParams{
					Holder:      optional[client.HolderFilter](holder),
					Phase:       optional[client.AllocationPhaseFilter](phase),
					Purpose:     optional[client.PurposeFilter](purpose),
					IPFamily:    optional[client.FamilyFilter](fam),
					Pool:        ref,
					Class:       served,
					Within:      optional[client.WithinFilter](inside),
					Contains:    optional[client.ContainsFilter](contains),
					Limit:       ask.limit,
					Cursor:      ask.cursor,
					Consistency: ask.consistency,
				})
			}, nil
		})
}
