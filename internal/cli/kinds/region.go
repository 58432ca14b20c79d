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
	view := show.ViewOf[client.Region]("region", `
		NAME: name
		PRIMARY: primary
		HERE: here
		CREATED: createdAt, wide`, nil)
	return verbs.Group("region", "Regions of the installation", []string{"regions"}, append(more, &cobra.Command{
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
			return show.List(p.Printer, view, found)
		}),
	})...)
}
