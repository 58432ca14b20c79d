package kinds

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func poolTree(p *session.Program, complete verbs.Completion) *cobra.Command {
	var claims bool
	cmd := &cobra.Command{
		Use:   "tree [NAME]",
		Short: "Show the pools of the project as a tree, or the tree below one pool",
		Long: `Shows each pool of the project below its parent, space by space, in order of address.
-o json and yaml have the server's document of each pool, with its children in it.`,
		Args:              verbs.Refs("pool", 0, 1),
		ValidArgsFunction: complete,
		RunE: p.Verb(func(ctx context.Context, args []string) error {
			things, err := verbs.Resources(p, p.InProject, append(args, "")[:1])
			if err != nil {
				return err
			}
			r := things[0]
			all, err := readForest(ctx, r.Session, claims)
			if err == nil && r.Name != "" {
				all, err = all.below(r.Project, r.Name)
			}
			if err != nil {
				return err
			}
			return showForest(r.Session, all)
		}),
	}
	cmd.Flags().BoolVar(&claims, "claims", false, "show the claims in each pool too")
	return cmd
}

// readForest reads all spaces and pools. If withClaims is true, it also reads the claims.
func readForest(ctx context.Context, s *session.Session, withClaims bool) (forest, error) {
	spaces, _, err := Spaces(s.Program).Every(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	pools, poolDocs, err := Pools(s.Program).Every(ctx, s, nil)
	if err != nil {
		return nil, err
	}
	var claims []client.IPClaim
	var claimDocs []json.RawMessage
	if withClaims {
		if claims, claimDocs, err = claimKind(s.Program).Every(ctx, s, nil); err != nil {
			return nil, err
		}
	}
	return grow(s.Project, spaces, pools, poolDocs, claims, claimDocs), nil
}

func showForest(s *session.Session, f forest) error {
	if s.Structured() {
		return s.DocumentOf(map[string]forest{"spaces": f})
	}
	if s.Quiet || s.Output == show.FormatName {
		return s.Lines(f.names())
	}
	return s.Write(show.Table(s.Printer, treeColumns(), f.draw(s.Project)))
}

func treeColumns() []show.Column[treeLine] {
	pool := func(title string, wide bool, cell func(client.IPPool) string) show.Column[treeLine] {
		return show.Column[treeLine]{Title: title, Wide: wide, Cell: func(l treeLine) string {
			if l.pool == nil {
				return " " // spaces and claims have no value in this column
			}
			return cell(*l.pool)
		}}
	}
	used := pool("USED", false, func(t client.IPPool) string { return show.Percent(t.Status.UtilizationPercent) })
	used.Bar = true
	return []show.Column[treeLine]{
		{Title: "POOL", Cell: func(l treeLine) string { return l.drawn }},
		{Title: "CIDR", Cell: func(l treeLine) string { return l.cidr }},
		used,
		pool("LARGEST FREE", false, func(t client.IPPool) string { return show.PrefixLengthText(t.Status.LargestFreePrefixLength) }),
		pool("TOTAL", true, func(t client.IPPool) string { return t.Status.Capacity.Total }),
		pool("ALLOCATED", true, func(t client.IPPool) string { return t.Status.Capacity.Allocated }),
		pool("RESERVED", true, func(t client.IPPool) string { return t.Status.Capacity.Reserved }),
		pool("COOLING DOWN", true, func(t client.IPPool) string { return t.Status.Capacity.CoolingDown }),
		pool("AVAILABLE", true, func(t client.IPPool) string { return t.Status.Capacity.Available }),
		pool("STRATEGY", true, func(t client.IPPool) string { return strategyText(t.Spec.Allocation) }),
		pool("LENGTHS", true, func(t client.IPPool) string { return boundsText(t.Spec.Allocation) }),
	}
}
