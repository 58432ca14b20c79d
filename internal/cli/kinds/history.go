package kinds

import (
	"net/netip"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func historyCommand(p *session.Program) *cobra.Command {
	at := verbs.Moment(p.Clock)("at", false)
	project := "" // names in this project have no prefix
	cmd := verbs.Kind{P: p, View: historyView(&project)}.SubListVerb(&cobra.Command{
		Use:   "history ADDRESS [--at TIME]",
		Short: "Show the holders of an address, with their times",
		Long: `Shows the claims and child pools with a block that contains this address, from pools of the project, now and in the past, newest
first. With --at, it shows the holders at that moment, the most specific block first. For another project's claim, it shows only
the project.`,
		Example: `  ipamctl history 10.20.65.9 --at 2026-03-03T12:00:00Z
  ipamctl history 10.20.65.9 --at 3d          three days ago`,
		Args:              verbs.Arguments("an address", 1, 1, checkAddress),
		ValidArgsFunction: cobra.NoFileCompletions,
	}, func(s *session.Session, args []string) ([]string, session.Query) {
		project = s.Project
		return s.In("history"), session.Query{}.With("address", args[0]).With("at", at.String())
	})
	cmd.Flags().Var(at, "at", "only the holders at this time: 2026-03-03T12:00:00Z, or an age like 90m or 3d")
	return cmd
}

func checkAddress(s string) error {
	if a, err := netip.ParseAddr(s); err != nil || a.Zone() != "" {
		return exit.Usagef("%q is not an address", s)
	}
	return nil
}

// historyView returns the view for an address's holders, as seen from a project.
func historyView(project *string) show.View {
	type T = client.HistoryEntry
	holder := func(t T) string {
		switch {
		case t.ClaimRef != nil:
			return "claim " + show.RefText(t.ClaimRef, *project)
		case t.ChildPoolRef != nil:
			return "pool " + show.RefText(t.ChildPoolRef, *project)
		default:
			return foreignClaim(t.Consumer)
		}
	}
	v := show.ViewOf("holder", `
		CIDR: allocatedCIDR
		HOLDER: holder
		PHASE: phase
		SINCE: since
		UNTIL: until, or now
		POOL: pool, wide
		PROJECT: consumer, wide
		ALLOCATION: allocation, wide`, show.Cells[T]{
		"holder": holder,
		"pool":   func(t T) string { return show.RefText(&t.PoolRef, *project) },
	})
	v.Name = show.CellOf(holder)
	return v
}
