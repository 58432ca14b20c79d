package kinds

import (
	"context"
	"net/netip"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func historyCommand(p *session.Program) *cobra.Command {
	at := verbs.Moment(p.Clock)("at", false)
	var l session.Paging
	cmd := &cobra.Command{
		Use:   "history ADDRESS [--at TIME]",
		Short: "Show the holders of an address, with their times",
		Long: `Shows the claims and child pools with a block that contains this address, from pools of the project, now and in the past, newest
first. With --at, it shows the holders at that moment, the most specific block first. For another project's claim, it shows only
the project.`,
		Example: `  ipamctl history 10.20.65.9 --at 2026-03-03T12:00:00Z
  ipamctl history 10.20.65.9 --at 3d          three days ago`,
		Args:              verbs.Arguments("an address", 1, 1, checkAddress),
		ValidArgsFunction: cobra.NoFileCompletions,
		RunE: p.Verb(func(ctx context.Context, args []string) error {
			s, err := p.InProject()
			if err != nil {
				return err
			}
			h := verbs.Home{Path: func(s *session.Session) []string { return s.In("history") }}
			found, err := s.Pages(ctx, l, h.Fetch(s, session.Query{}.With("address", args[0]).With("at", at.String())))
			if err != nil {
				return err
			}
			return show.List(p.Printer, historyView(s.Project), found)
		}),
	}
	cmd.Flags().Var(at, "at", "only the holders at this time: 2026-03-03T12:00:00Z, or an age like 90m or 3d")
	verbs.AddPaging(&l, cmd)
	return cmd
}

func checkAddress(s string) error {
	if a, err := netip.ParseAddr(s); err != nil || a.Zone() != "" {
		return exit.Usagef("%q is not an address", s)
	}
	return nil
}

// historyView returns the view of the holders of an address, as seen from a project.
func historyView(project string) show.View[client.HistoryEntry] {
	type T = client.HistoryEntry
	holder := func(t T) string {
		switch {
		case t.ClaimRef != nil:
			return "claim " + show.RefText(t.ClaimRef, project)
		case t.ChildPoolRef != nil:
			return "pool " + show.RefText(t.ChildPoolRef, project)
		default:
			return foreignClaim(t.Consumer)
		}
	}
	return show.View[T]{
		Kind: "holder",
		Name: holder,
		Columns: []show.Column[T]{
			{Title: "CIDR", Cell: func(t T) string { return t.AllocatedCIDR }},
			{Title: "HOLDER", Cell: holder},
			{Title: "PHASE", Cell: func(t T) string { return string(t.Phase) }},
			{Title: "SINCE", Cell: func(t T) string { return t.Since.UTC().Format(time.RFC3339) }},
			{Title: "UNTIL", Cell: func(t T) string { return show.FirstOf(show.TimeText(t.Until), "now") }},
			{Title: "POOL", Wide: true, Cell: func(t T) string { return show.RefText(&t.PoolRef, project) }},
			{Title: "PROJECT", Wide: true, Cell: func(t T) string { return t.Consumer }},
			{Title: "ALLOCATION", Wide: true, Cell: func(t T) string { return t.Allocation }},
		},
	}
}
