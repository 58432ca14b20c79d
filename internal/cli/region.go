package cli

import (
	"context"
	"encoding/json"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) regionCommand() *cobra.Command {
	return group("region", "Where servers are, and pools can be served", []string{"regions"}, p.regionList(), p.regionReconcile())
}

func (p *program) regionList() *cobra.Command {
	return &cobra.Command{
		Use:   "list",
		Short: "List regions",
		Long: `Lists the regions of the installation, in the order in which they were added. A pool is at home in one, and may be served in
others: 'ipamctl pool create --help'.`,
		Aliases: []string{"ls"},
		RunE: p.verb(func(ctx context.Context, _ []string) error {
			s, err := p.session()
			if err != nil {
				return err
			}
			found, err := s.regions(ctx)
			if err != nil {
				return err
			}
			return list(p, regionView(), found)
		}),
	}
}

// regions asks for all regions; there is no second page of them.
func (s *session) regions(ctx context.Context) (page, error) {
	a, err := s.ask(ctx, get("regions"))
	if err != nil {
		return page{}, err
	}
	var all page
	err = json.Unmarshal(a.body, &all)
	return all, err
}

func regionView() view[client.Region] {
	type T = client.Region
	return view[T]{
		kind: "region",
		name: func(t T) string { return t.Name },
		columns: []column[T]{
			{title: "NAME", cell: func(t T) string { return t.Name }},
			{title: "PRIMARY", cell: func(t T) string { return yes(t.Primary) }},
			{title: "HERE", cell: func(t T) string { return yes(t.Here) }},
			{title: "CREATED", wide: true, cell: func(t T) string { at := t.CreatedAt; return timeText(&at) }},
		},
	}
}
