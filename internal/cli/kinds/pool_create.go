package kinds

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// poolFields returns a pool's fields.
func poolFields() []verbs.Field {
	return append(verbs.LabelFields(), []verbs.Field{
		verbs.Description(),
		{Flag: "cidr", Path: "spec.cidr", Value: verbs.Text, Create: "the pool's block, a `CIDR`: of a root, or this very block of the parent"},
		{
			Flag: "parent", Path: "spec.parentRef", Value: verbs.RefOf, Create: "`POOL` to carve from, name or project/name",
			Complete: verbs.CompletePools,
		},
		{Flag: "prefix-length", Path: "spec.prefixLength", Value: verbs.Bits, Create: "a block of this length, chosen by the parent's strategy"},
		{
			Flag: "space", Path: "spec.spaceRef", Value: verbs.RefOf, Complete: verbs.CompleteSpaces,
			Create: "`SPACE` of a root, name or project/name (default: the project's 'default')",
		},
		{Flag: "strategy", Path: "spec.allocation.strategy", Value: verbs.Strategies, Usage: "how places in the pool are chosen"},
		{
			Flag: "min-prefix-length", Path: "spec.allocation.minPrefixLength", Value: verbs.Bits,
			Create: "the largest block that may be carved from it", Set: "the largest block that may be carved from it, or none",
		},
		{
			Flag: "max-prefix-length", Path: "spec.allocation.maxPrefixLength", Value: verbs.Bits,
			Create: "the smallest block that may be carved from it", Set: "the smallest block that may be carved from it, or none",
		},
		{
			Flag: "default-prefix-length", Path: "spec.allocation.defaultPrefixLength", Value: verbs.Bits,
			Create: "what a claim without a length gets", Set: "what a claim without a length gets, or none",
		},
		{
			Flag: "visibility", Path: "spec.visibility", Usage: "which projects may use it",
			Value: verbs.OneOf(client.PoolVisibilityConsumer, client.PoolVisibilityShared, client.PoolVisibilityPlatform),
		},
		{
			Flag: "class", Path: "spec.classNames", Value: verbs.ListOf(false, []string{}, verbs.NamesOf("class")), Complete: verbs.CompleteClasses,
			Create: "back this `CLASS`: what is claimed by it can be carved from here (repeatable)", Set: "back this `CLASS` (repeatable), or none",
		},
		{
			Flag: "reuse-after", Path: "spec.reuseAfter", Value: verbs.Policy,
			Create: "how long nobody gets a released block, unless a class says otherwise: 10m, 72h, 3d",
			Set:    "how long nobody gets a released block, unless a class says otherwise: 10m, 72h, 3d, or none",
		},
		{
			Flag: "drain", Path: "spec.drain", Value: verbs.OneOf(client.PoolDrainKeep, client.PoolDrainDelete),
			Set: "hand out nothing more, and keep or delete the pool when it has become empty",
		},
		{
			Flag: "reserve", Path: "spec.reservations", Value: verbs.ListOf(false, []string{}, parseReservations),
			Create: "withhold a `PART`, see above (repeatable)", Set: "withhold this `PART` (repeatable), or none",
		},
		{
			Flag: "region", Path: "spec.region", Value: verbs.NameOf("region"), Complete: verbs.CompleteRegions,
			Create: "`REGION` where it is at home (default: the first of --regions, or that of the server)",
		},
		{
			Flag: "regions", Path: "spec.regions", Value: verbs.ListOf(true, nil, regionNames), Complete: verbs.CompleteRegions,
			Create: "`REGIONS` where it is served, its home among them: eu,us (default: at home alone)",
			Set:    "serve it in these `REGIONS`, its home among them, or none: at home alone",
		},
	}...)
}

// regionNames checks a flag's regions.
func regionNames(flag string, texts []string) (any, error) {
	if len(texts) == 0 {
		return nil, exit.Usagef("--regions names regions, or none: at home alone")
	}
	return verbs.NamesOf("region")(flag, texts)
}

func poolCreate(p *session.Program) *cobra.Command {
	return Pools(p).CreateVerb(&cobra.Command{
		Use:   "create NAME (--cidr CIDR | --parent POOL (--prefix-length N | --cidr CIDR))",
		Short: "Carve a pool from a space or from another pool",
		Long: `Carves a pool: a root from a space, by its CIDR, or a child from another pool, by a length or by its CIDR.

A part of it can be withheld with --reserve, each with a reason behind '=':
  first:16               the first 16 addresses          last:1=broadcast
  10.0.0.0/28=gateways   a block                         10.0.0.5-10.0.0.9   a range, both ends included
  10.0.0.1               one address`,
		Example: `  ipamctl pool create corp --cidr 10.0.0.0/8
  ipamctl pool create prod-eu --parent corp --prefix-length 16 --reserve first:16='network devices'
  ipamctl pool create vpn --parent prod-eu --cidr 10.0.48.0/20 --default-prefix-length 26
  ipamctl pool create global --cidr 10.128.0.0/12 --regions eu,us
  ipamctl pool create nodes --parent prod-eu --prefix-length 20 --class standard --reuse-after 1d`,
	}, verbs.Creation{Check: checkPool})
}

// checkPool makes some of the server's checks here, so that the errors name flags.
func checkPool(cmd *cobra.Command) error {
	parent, cidr, length := verbs.Said(cmd, "parent"), verbs.Said(cmd, "cidr"), verbs.Said(cmd, "prefix-length")
	switch {
	case parent == "" && cidr == "":
		return exit.Usagef("a pool needs --cidr (a root), or --parent with --prefix-length or --cidr (a child)")
	case parent == "" && length != "":
		return exit.Usagef("--prefix-length needs --parent: a root is a --cidr")
	case parent != "" && verbs.Said(cmd, "space") != "":
		return exit.Usagef("--space is for roots: a child is in the space of its --parent")
	case parent != "" && (cidr == "") == (length == ""):
		return exit.Usagef("a child needs either --prefix-length or --cidr")
	default:
		return nil
	}
}

func poolSet(p *session.Program) *cobra.Command {
	return Pools(p).SetVerb(&cobra.Command{
		Use:   "set NAME [--class CLASS]... [--reuse-after DURATION] ...",
		Short: "Change what is given of a pool: the classes it backs, its bounds, what it withholds",
		Long: `Changes what is given and leaves the rest; 'none' gives a field its default. The classes that are given stand in the place of
those that the pool backs now, and so do the parts that are withheld (--reserve, as 'ipamctl pool create --help' has them) and the
regions that serve it, of which its home is always one; a region that holds blocks cannot be left out. New bounds hold for what is carved from now on; what is held stays. Where the pool was carved never changes.`,
		Example: `  ipamctl pool set prod-eu --class standard --class clusters
  ipamctl pool set prod-eu --class none --reuse-after 1d
  ipamctl pool set old --drain Delete
  ipamctl pool set global --regions eu,us,ap`,
	}, verbs.Creation{})
}
