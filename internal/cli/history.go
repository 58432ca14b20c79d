package cli

import (
	"context"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) historyCommand() *cobra.Command {
	at := moment{now: p.now}
	var l paging
	cmd := &cobra.Command{
		Use:   "history ADDRESS [--at TIME]",
		Short: "Show who held an address, and when",
		Long: `Shows the claims and child pools that hold or held a block with this address, carved from pools of the project: all of
them, newest first, or with --at those that held it at that moment, the most specific block first. Of another project's
claim it shows the project alone.`,
		Example: `  ipamctl history 10.20.65.9 --at 2026-03-03T12:00:00Z
  ipamctl history 10.20.65.9 --at 3d          three days ago`,
		Args:              arguments("an address", 1, 1, checkAddress),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.verb(func(ctx context.Context, args []string) error {
			s, err := p.inProject()
			if err != nil {
				return err
			}
			h := home{path: func(s *session) []string { return s.in("history") }}
			found, err := s.pages(ctx, l, h.fetch(s, query{}.with("address", args[0]).with("at", at.String())))
			if err != nil {
				return err
			}
			return list(p, historyView(s.project), found)
		}),
	}
	cmd.Flags().Var(&at, "at", "only who held it at this time: 2026-03-03T12:00:00Z, or how long ago: 90m, 3d")
	l.add(cmd)
	return cmd
}

func checkAddress(s string) error {
	if a, err := netip.ParseAddr(s); err != nil || a.Zone() != "" {
		return usagef("%q is not an address", s)
	}
	return nil
}

// historyView is who held an address, as seen from a project.
func historyView(project string) view[client.HistoryEntry] {
	type T = client.HistoryEntry
	holder := func(t T) string {
		switch {
		case t.ClaimRef != nil:
			return "claim " + refText(t.ClaimRef, project)
		case t.ChildPoolRef != nil:
			return "pool " + refText(t.ChildPoolRef, project)
		default:
			return foreignClaim(t.Consumer)
		}
	}
	return view[T]{
		kind: "holder",
		name: holder,
		columns: []column[T]{
			{title: "CIDR", cell: func(t T) string { return t.AllocatedCIDR }},
			{title: "HOLDER", cell: holder},
			{title: "PHASE", cell: func(t T) string { return string(t.Phase) }},
			{title: "SINCE", cell: func(t T) string { return t.Since.UTC().Format(time.RFC3339) }},
			{title: "UNTIL", cell: func(t T) string { return firstOf(timeText(t.Until), "now") }},
			{title: "POOL", wide: true, cell: func(t T) string { return refText(&t.PoolRef, project) }},
			{title: "PROJECT", wide: true, cell: func(t T) string { return t.Consumer }},
			{title: "ALLOCATION", wide: true, cell: func(t T) string { return t.Allocation }},
		},
	}
}
