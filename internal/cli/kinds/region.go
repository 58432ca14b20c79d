package kinds

import (
	"context"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func regionCommand(p *session.Program, more ...*cobra.Command) *cobra.Command {
	return verbs.Group("region", "Regions of the installation", []string{"regions"}, append([]*cobra.Command{regionList(p)}, more...)...)
}

func regionList(p *session.Program) *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List regions",
		Long: `Lists the regions of the installation, in the order of their addition. A pool has one home region, and other regions can serve it
too: see 'ipamctl pool create --help'.`,
		Aliases: []string{"ls"},
		RunE: p.Verb(func(ctx context.Context, _ []string) error {
			s, err := p.Session()
			if err != nil {
				return err
			}
			found, err := verbs.Regions(ctx, s)
			if err != nil {
				return err
			}
			return show.List(p.Printer, regionView(), found)
		}),
	}
}

func regionView() show.View[client.Region] {
	type T = client.Region
	return show.View[T]{
		Kind: "region",
		Name: func(t T) string { return t.Name },
		Columns: []show.Column[T]{
			{Title: "NAME", Cell: func(t T) string { return t.Name }},
			{Title: "PRIMARY", Cell: func(t T) string { return show.YesOrEmpty(t.Primary) }},
			{Title: "HERE", Cell: func(t T) string { return show.YesOrEmpty(t.Here) }},
			{Title: "CREATED", Wide: true, Cell: func(t T) string { at := t.CreatedAt; return show.TimeText(&at) }},
		},
	}
}
