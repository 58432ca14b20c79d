package kinds

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func poolCommand(p *session.Program) *cobra.Command {
	k := pools(p)
	return k.Group(
		putVerb(k, " (--cidr CIDR | --parent POOL (--prefix-length N | --cidr CIDR))", `  ipamctl pool put corp --cidr 10.0.0.0/8
  ipamctl pool put prod-eu --parent corp --prefix-length 16`),
		poolFree(p, k.Complete()), poolUtilization(p, k.Complete()), poolTree(p, k.Complete()),
	)
}

// pools returns the kind for pools.
func pools(p *session.Program) verbs.Kind {
	return verbs.Kind{
		P: p, In: "pools", Short: "Blocks from which claims and child pools are carved",
		View: poolView(), Fields: poolFields(),
		Feed:     client.ChangeKindIPPool,
		ListHelp: "Lists the pools of the project, in order of name. A pool must match all filters.",
		Filters: []verbs.Field{
			verbs.SelectorFilter("pools"),
			{Flag: "phase", Words: "Ready Exhausted Draining Pending Error", Usage: "only pools in this phase"},
			verbs.FamilyFilter("pools"),
			{Flag: "space", Value: verbs.RefOf, Usage: "only pools of this `SPACE`, name or project/name"},
			{Flag: "parent", Value: verbs.RefOf, Usage: "only children of this `POOL`, name or project/name"},
			verbs.ClassFilter("only pools that list this `CLASS`"), verbs.WithinFilter, verbs.ContainsFilter,
		},
		Get: true, Show: true,
		Create: &verbs.Writer{
			Use:   "create NAME (--cidr CIDR | --parent POOL (--prefix-length N | --cidr CIDR))",
			Short: "Carve a pool from a space or from another pool",
			Long: `Carves a pool: a root from a space, by its CIDR, or a child from another pool, by a length or by its CIDR.

--reserve reserves a part of it, with an optional reason after '=':
  first:16               the first 16 addresses          last:1=broadcast
  10.0.0.0/28=gateways   a block                         10.0.0.5-10.0.0.9   a range, both ends included
  10.0.0.1               one address`,
			Example: `  ipamctl pool create corp --cidr 10.0.0.0/8
  ipamctl pool create prod-eu --parent corp --prefix-length 16 --reserve first:16='network devices'
  ipamctl pool create vpn --parent prod-eu --cidr 10.0.48.0/20 --default-prefix-length 26
  ipamctl pool create global --cidr 10.128.0.0/12 --regions eu,us
  ipamctl pool create nodes --parent prod-eu --prefix-length 20 --class standard --reuse-after 1d`,
			Check: checkPool,
		},
		Set: &verbs.Writer{
			Use:   "set NAME [--class CLASS]... [--reuse-after DURATION] ...",
			Short: "Change the given fields of a pool, such as its classes, limits and reservations",
			Long: `Changes the given fields only; 'none' restores a default. --class, --reserve (see 'ipamctl pool create --help') and --regions replace
the whole current list. The regions must include the home region, and every region that holds blocks. New limits apply to later
blocks; allocated blocks stay. The block and the parent of a pool never change.`,
			Example: `  ipamctl pool set prod-eu --class standard --class clusters
  ipamctl pool set prod-eu --class none --reuse-after 1d
  ipamctl pool set old --drain Delete
  ipamctl pool set global --regions eu,us,ap`,
		},
		Delete: &verbs.Removal{
			Many: verbs.ByLabels,
			Long: "Deletes pools and frees their blocks. The server refuses while claims, child pools or retained allocations\nhold parts of them; then nothing changes.",
		},
	}
}

// checkPool repeats some server checks before the request, so that the errors name flags.
func checkPool(cmd *cobra.Command) error {
	parent, cidr, length := verbs.FlagText(cmd, "parent"), verbs.FlagText(cmd, "cidr"), verbs.FlagText(cmd, "prefix-length")
	switch {
	case parent == "" && cidr == "":
		return exit.Usagef("a pool needs --cidr (a root), or --parent with --prefix-length or --cidr (a child)")
	case parent == "" && length != "":
		return exit.Usagef("--prefix-length needs --parent: a root needs a --cidr")
	case parent != "" && verbs.FlagText(cmd, "space") != "":
		return exit.Usagef("--space is for roots only: a child is in the space of its --parent")
	case parent != "" && (cidr == "") == (length == ""):
		return exit.Usagef("a child needs either --prefix-length or --cidr")
	default:
		return nil
	}
}
