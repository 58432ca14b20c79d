package cli

import (
	"context"
	"net/http"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) poolCommand() *cobra.Command {
	within := p.inProject
	complete := p.completePools()
	read := func(ctx context.Context, s *session, name string) (*http.Response, error) {
		return s.api.GetPool(ctx, s.project, name, nil)
	}
	return group("pool", "Blocks from which others are carved", []string{"pools"},
		p.poolCreate(),
		p.poolSet(complete),
		p.poolList(within),
		getVerb(p, poolView(), within, complete, read),
		showVerb(p, poolView(), within, complete, read),
		p.poolFree(complete),
		p.poolTree(complete),
		p.deleteVerb(removal{
			kind: "pool", within: within, complete: complete, read: read,
			long: "Gives the blocks of pools back. Refused while claims, child pools or retained allocations hold\nparts of them; nothing changes then.",
			send: func(ctx context.Context, s *session, name string, d deleting) (*http.Response, error) {
				return s.api.DeletePool(ctx, s.project, name, &client.DeletePoolParams{DryRun: d.dry(), IfMatch: d.match()})
			},
		}),
	)
}

// poolFilters are the filters of a list of pools.
type poolFilters struct {
	selector, phase, space, parent, class, within, contains string
	family                                                  family
}

func (p *program) poolList(within func() (*session, error)) *cobra.Command {
	var f poolFilters
	return listVerb(p, poolView(), "Lists the pools of the project, in order of name. Filters add up.", within,
		func(cmd *cobra.Command) {
			selectorFlag(cmd, &f.selector, "pools")
			choiceFlag(cmd, &f.phase, "phase", "only pools in this phase", client.IPPoolPhaseReady, client.IPPoolPhaseExhausted,
				client.IPPoolPhasePending, client.IPPoolPhaseError)
			cmd.Flags().Var(&f.family, "family", "only pools of this address family: IPv4, IPv6")
			cmd.Flags().StringVar(&f.space, "space", "", "only pools of this `SPACE`, name or project/name")
			cmd.Flags().StringVar(&f.parent, "parent", "", "only children of this `POOL`, name or project/name")
			classFilter(p, cmd, &f.class, "only pools that list this `CLASS`")
			placeFlags(cmd, &f.within, &f.contains)
		},
		func(s *session) (fetch, error) { return s.fetchPools(f) })
}

// placeFlags adds the filters by place.
func placeFlags(cmd *cobra.Command, within, contains *string) {
	cmd.Flags().StringVar(within, "within", "", "only blocks inside this `CIDR`")
	cmd.Flags().StringVar(contains, "contains", "", "only blocks that contain this `ADDRESS`")
}

func (s *session) fetchPools(f poolFilters) (fetch, error) {
	space, err := refFilter("space", f.space)
	if err != nil {
		return nil, err
	}
	parent, err := refFilter("parent", f.parent)
	if err != nil {
		return nil, err
	}
	class, err := classFiltered(f.class)
	if err != nil {
		return nil, err
	}
	return func(ctx context.Context, ask asking) (*http.Response, error) {
		return s.api.ListPools(ctx, s.project, &client.ListPoolsParams{
			LabelSelector: optional[client.LabelSelectorFilter](f.selector),
			Phase:         optional[client.PoolPhaseFilter](f.phase),
			IPFamily:      optional[client.FamilyFilter](f.family),
			Space:         space,
			Parent:        parent,
			Class:         class,
			Within:        optional[client.WithinFilter](f.within),
			Contains:      optional[client.ContainsFilter](f.contains),
			Limit:         ask.limit,
			Cursor:        ask.cursor,
			Consistency:   ask.consistency,
		})
	}, nil
}
