package kinds

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// poolFields returns the fields of a pool.
func poolFields() []verbs.Field {
	return append(verbs.LabelFields(), []verbs.Field{
		verbs.Description(),
		{Flag: "cidr", Path: "spec.cidr", Value: verbs.Text, Create: "the pool's block, a `CIDR`: the block of a root, or exactly this block of the parent"},
		{
			Flag: "parent", Path: "spec.parentRef", Value: verbs.RefOf, Create: "`POOL` to carve from, name or project/name",
			Complete: verbs.CompletePools,
		},
		{Flag: "prefix-length", Path: "spec.prefixLength", Value: verbs.Bits, Create: "prefix length of a block that the parent's strategy chooses"},
		{
			Flag: "space", Path: "spec.spaceRef", Value: verbs.RefOf, Complete: verbs.CompleteSpaces,
			Create: "`SPACE` of a root, name or project/name (default: the project's 'default')",
		},
		{Flag: "strategy", Path: "spec.allocation.strategy", Value: verbs.Strategies, Usage: "strategy that chooses blocks in the pool"},
		{
			Flag: "min-prefix-length", Path: "spec.allocation.minPrefixLength", Value: verbs.Bits,
			Create: "prefix length of the largest block that may be carved from it", Set: "prefix length of the largest block that may be carved from it, or none",
		},
		{
			Flag: "max-prefix-length", Path: "spec.allocation.maxPrefixLength", Value: verbs.Bits,
			Create: "prefix length of the smallest block that may be carved from it", Set: "prefix length of the smallest block that may be carved from it, or none",
		},
		{
			Flag: "default-prefix-length", Path: "spec.allocation.defaultPrefixLength", Value: verbs.Bits,
			Create: "prefix length for claims without one", Set: "prefix length for claims without one, or none",
		},
		{
			Flag: "visibility", Path: "spec.visibility", Usage: "projects that may use it",
			Value: verbs.OneOf(client.PoolVisibilityConsumer, client.PoolVisibilityShared, client.PoolVisibilityPlatform),
		},
		{
			Flag: "class", Path: "spec.classNames", Value: verbs.ListOf(false, []string{}, verbs.NamesOf("class")), Complete: verbs.CompleteClasses,
			Create: "back this `CLASS`: its claims can get blocks of this pool (repeatable)", Set: "back this `CLASS` (repeatable), or none",
		},
		{
			Flag: "reuse-after", Path: "spec.reuseAfter", Value: verbs.Policy,
			Create: "cool-down of a released block before reuse, unless a class sets one: 10m, 72h, 3d",
			Set:    "cool-down of a released block before reuse, unless a class sets one: 10m, 72h, 3d, or none",
		},
		{
			Flag: "drain", Path: "spec.drain", Value: verbs.OneOf(client.PoolDrainKeep, client.PoolDrainDelete),
			Set: "allocate no more blocks, and keep or delete the pool when it is empty",
		},
		{
			Flag: "reserve", Path: "spec.reservations", Value: verbs.ListOf(false, []string{}, parseReservations),
			Create: "reserve a `PART`, see above (repeatable)", Set: "reserve this `PART` (repeatable), or none",
		},
		{
			Flag: "region", Path: "spec.region", Value: verbs.NameOf("region"), Complete: verbs.CompleteRegions,
			Create: "home `REGION` (default: the first of --regions, or the server's region)",
		},
		{
			Flag: "regions", Path: "spec.regions", Value: verbs.ListOf(true, nil, regionNames), Complete: verbs.CompleteRegions,
			Create: "`REGIONS` that serve it, including its home: eu,us (default: only its home)",
			Set:    "`REGIONS` that serve it, including its home, or none for only its home",
		},
	}...)
}

// regionNames checks the regions in a flag.
func regionNames(flag string, texts []string) (any, error) {
	if len(texts) == 0 {
		return nil, exit.Usagef("--regions needs names of regions, or none for only the home region")
	}
	return verbs.NamesOf("region")(flag, texts)
}

func poolCreate(p *session.Program) *cobra.Command {
	return Pools(p).CreateVerb(&cobra.Command{
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
	}, verbs.Creation{Check: checkPool})
}

// checkPool makes some of the server's checks before the request, so that the errors name flags.
func checkPool(cmd *cobra.Command) error {
	parent, cidr, length := verbs.Said(cmd, "parent"), verbs.Said(cmd, "cidr"), verbs.Said(cmd, "prefix-length")
	switch {
	case parent == "" && cidr == "":
		return exit.Usagef("a pool needs --cidr (a root), or --parent with --prefix-length or --cidr (a child)")
	case parent == "" && length != "":
		return exit.Usagef("--prefix-length needs --parent: a root needs a --cidr")
	case parent != "" && verbs.Said(cmd, "space") != "":
		return exit.Usagef("--space is for roots only: a child is in the space of its --parent")
	case parent != "" && (cidr == "") == (length == ""):
		return exit.Usagef("a child needs either --prefix-length or --cidr")
	default:
		return nil
	}
}

func poolSet(p *session.Program) *cobra.Command {
	return Pools(p).SetVerb(&cobra.Command{
		Use:   "set NAME [--class CLASS]... [--reuse-after DURATION] ...",
		Short: "Change the given fields of a pool, such as its classes, limits and reservations",
		Long: `Changes the given fields only; 'none' restores a default. --class, --reserve (see 'ipamctl pool create --help') and --regions replace
the whole current list. The regions must include the home region, and every region that holds blocks. New limits apply to later
blocks; allocated blocks stay. The block and the parent of a pool never change.`,
		Example: `  ipamctl pool set prod-eu --class standard --class clusters
  ipamctl pool set prod-eu --class none --reuse-after 1d
  ipamctl pool set old --drain Delete
  ipamctl pool set global --regions eu,us,ap`,
	}, verbs.Creation{})
}
