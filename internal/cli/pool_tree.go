package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) poolTree(complete completion) *cobra.Command {
	var claims bool
	cmd := &cobra.Command{
		Use:   "tree [NAME]",
		Short: "Show the pools of the project as a tree, or what is below one of them",
		Long: `Shows every pool of the project below the pool it was carved from, space by space, in order of address.
-o json and yaml hold each pool as the server described it, with its children in it.`,
		Args:              refs("pool", 0, 1),
		ValidArgsFunction: complete,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			things, err := p.resources(p.inProject, append(args, "")[:1])
			if err != nil {
				return err
			}
			r := things[0]
			all, err := r.forest(ctx, claims)
			if err == nil && r.name != "" {
				all, err = all.below(r.project, r.name)
			}
			if err != nil {
				return err
			}
			return r.showForest(all)
		}),
	}
	cmd.Flags().BoolVar(&claims, "claims", false, "show the claims in each pool too")
	return cmd
}

// forest reads everything the tree is made of: all spaces, all pools, and the claims where they are wanted.
func (s *session) forest(ctx context.Context, withClaims bool) (forest, error) {
	spaces, _, err := s.spaces().every(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	pools, poolDocs, err := s.pools().every(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	var claims []client.IPClaim
	var claimDocs []json.RawMessage
	if withClaims {
		if claims, claimDocs, err = s.claims().every(ctx, s, nil); err != nil {
			return nil, err
		}
	}
	return grow(s.project, spaces, pools, poolDocs, claims, claimDocs), nil
}

func (s *session) showForest(f forest) error {
	switch s.flags.output {
	case formatJSON, formatYAML:
		doc, err := marshal(map[string]forest{"spaces": f})
		if err != nil {
			return err
		}
		return s.document(doc)
	}
	if s.flags.quiet || s.flags.output == formatName {
		return s.lines(f.names())
	}
	return s.write(tableOf(s.program, treeColumns(), f.draw(s.project)))
}

func treeColumns() []column[treeLine] {
	pool := func(title string, wide bool, cell func(client.IPPool) string) column[treeLine] {
		return column[treeLine]{title: title, wide: wide, cell: func(l treeLine) string {
			if l.pool == nil {
				return " " // a space or a claim has none of this
			}
			return cell(*l.pool)
		}}
	}
	return []column[treeLine]{
		{title: "POOL", cell: func(l treeLine) string { return l.drawn }},
		{title: "CIDR", cell: func(l treeLine) string { return l.cidr }},
		pool("USED", false, func(t client.IPPool) string { return percent(t.Status.UtilizationPercent) }),
		pool("LARGEST FREE", false, func(t client.IPPool) string { return slashed(t.Status.LargestFreePrefixLength) }),
		pool("TOTAL", true, func(t client.IPPool) string { return t.Status.Capacity.Total }),
		pool("ALLOCATED", true, func(t client.IPPool) string { return t.Status.Capacity.Allocated }),
		pool("RESERVED", true, func(t client.IPPool) string { return t.Status.Capacity.Reserved }),
		pool("COOLING DOWN", true, func(t client.IPPool) string { return t.Status.Capacity.CoolingDown }),
		pool("AVAILABLE", true, func(t client.IPPool) string { return t.Status.Capacity.Available }),
		pool("STRATEGY", true, func(t client.IPPool) string { return strategyText(t.Spec.Allocation) }),
		pool("LENGTHS", true, func(t client.IPPool) string { return boundsText(t.Spec.Allocation) }),
	}
}
