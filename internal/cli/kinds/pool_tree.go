package kinds

import (
	"context"

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
		RunE: verbs.OnOne(p, func(ctx context.Context, r verbs.Resource) error {
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
	spaces, _, err := verbs.Every[client.Space](ctx, spaces(s.Program), s, nil)
	if err != nil {
		return nil, err
	}
	pools, poolDocs, err := verbs.Every[client.IPPool](ctx, pools(s.Program), s, nil)
	if err != nil {
		return nil, err
	}
	if !withClaims {
		return grow(s.Project, spaces, pools, poolDocs, nil, nil), nil
	}
	held, claimDocs, err := verbs.Every[client.IPClaim](ctx, claims(s.Program), s, nil)
	return grow(s.Project, spaces, pools, poolDocs, held, claimDocs), err
}

func showForest(s *session.Session, f forest) error {
	return s.Report(map[string]forest{"spaces": f}, f.names, func() error {
		return s.Write(show.Table(s.Printer, treeColumns(), f.draw(s.Project)))
	})
}

func treeColumns() []show.Column {
	columns := show.Columns[treeLine](`
		POOL: name
		CIDR: cidr`, nil)
	for _, c := range show.Columns(poolUsage+poolCapacity+poolPolicy, poolCells) {
		columns = append(columns, show.Column{Title: c.Title, Wide: c.Wide, Bar: c.Bar, Cell: show.CellOf(func(l treeLine) string {
			if l.Pool == nil {
				return " " // spaces and claims have no value in this column
			}
			return c.Cell(*l.Pool)
		})})
	}
	return columns
}
