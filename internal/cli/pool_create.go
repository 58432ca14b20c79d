package cli

import (
	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

// poolFields are what a pool is made of, and what can change about it.
func poolFields() []field {
	return append(labelFields(), []field{
		description(),
		{flag: "cidr", path: "spec.cidr", value: text, create: "the pool's block, a `CIDR`: of a root, or this very block of the parent"},
		{
			flag: "parent", path: "spec.parentRef", value: refOf, create: "`POOL` to carve from, name or project/name",
			complete: (*program).completePools,
		},
		{flag: "prefix-length", path: "spec.prefixLength", value: bits, create: "a block of this length, chosen by the parent's strategy"},
		{
			flag: "space", path: "spec.spaceRef", value: refOf, complete: (*program).completeSpaces,
			create: "`SPACE` of a root, name or project/name (default: the project's 'default')",
		},
		{flag: "strategy", path: "spec.allocation.strategy", value: strategies, usage: "how places in the pool are chosen"},
		{
			flag: "min-prefix-length", path: "spec.allocation.minPrefixLength", value: bits,
			create: "the largest block that may be carved from it", set: "the largest block that may be carved from it, or none",
		},
		{
			flag: "max-prefix-length", path: "spec.allocation.maxPrefixLength", value: bits,
			create: "the smallest block that may be carved from it", set: "the smallest block that may be carved from it, or none",
		},
		{
			flag: "default-prefix-length", path: "spec.allocation.defaultPrefixLength", value: bits,
			create: "what a claim without a length gets", set: "what a claim without a length gets, or none",
		},
		{
			flag: "visibility", path: "spec.visibility", usage: "which projects may use it",
			value: oneOf(client.PoolVisibilityConsumer, client.PoolVisibilityShared, client.PoolVisibilityPlatform),
		},
		{
			flag: "class", path: "spec.classNames", value: listOf(false, []string{}, namesOf("class")), complete: (*program).completeClasses,
			create: "back this `CLASS`: what is claimed by it can be carved from here (repeatable)", set: "back this `CLASS` (repeatable), or none",
		},
		{
			flag: "reuse-after", path: "spec.reuseAfter", value: policy,
			create: "how long nobody gets a released block, unless a class says otherwise: 10m, 72h, 3d",
			set:    "how long nobody gets a released block, unless a class says otherwise: 10m, 72h, 3d, or none",
		},
		{
			flag: "reserve", path: "spec.reservations", value: listOf(false, []string{}, parseReservations),
			create: "withhold a `PART`, see above (repeatable)", set: "withhold this `PART` (repeatable), or none",
		},
		{
			flag: "region", path: "spec.region", value: nameOf("region"), complete: (*program).completeRegions,
			create: "`REGION` where it is at home (default: the first of --regions, or that of the server)",
		},
		{
			flag: "regions", path: "spec.regions", value: listOf(true, nil, regionNames), complete: (*program).completeRegions,
			create: "`REGIONS` where it is served, its home among them: eu,us (default: at home alone)",
			set:    "serve it in these `REGIONS`, its home among them, or none: at home alone",
		},
	}...)
}

// regionNames checks the regions of a flag.
func regionNames(flag string, texts []string) (any, error) {
	if len(texts) == 0 {
		return nil, usagef("--regions names regions, or none: at home alone")
	}
	return namesOf("region")(flag, texts)
}

func (p *program) poolCreate() *cobra.Command {
	return p.pools().createVerb(&cobra.Command{
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
	}, creation{check: checkPool})
}

// checkPool judges what flags mean together here as well as on the server, to answer in terms of flags.
func checkPool(cmd *cobra.Command) error {
	parent, cidr, length := said(cmd, "parent"), said(cmd, "cidr"), said(cmd, "prefix-length")
	switch {
	case parent == "" && cidr == "":
		return usagef("a pool needs --cidr (a root), or --parent with --prefix-length or --cidr (a child)")
	case parent == "" && length != "":
		return usagef("--prefix-length needs --parent: a root is a --cidr")
	case parent != "" && said(cmd, "space") != "":
		return usagef("--space is for roots: a child is in the space of its --parent")
	case parent != "" && (cidr == "") == (length == ""):
		return usagef("a child needs either --prefix-length or --cidr")
	default:
		return nil
	}
}

func (p *program) poolSet() *cobra.Command {
	return p.pools().setVerb(&cobra.Command{
		Use:   "set NAME [--class CLASS]... [--reuse-after DURATION] ...",
		Short: "Change what is given of a pool: the classes it backs, its bounds, what it withholds",
		Long: `Changes what is given and leaves the rest; 'none' gives a field its default. The classes that are given stand in the place of
those that the pool backs now, and so do the parts that are withheld (--reserve, as 'ipamctl pool create --help' has them) and the
regions that serve it, of which its home is always one; a region that holds blocks cannot be left out. New bounds hold for what is carved from now on; what is held stays. Where the pool was carved never changes.`,
		Example: `  ipamctl pool set prod-eu --class standard --class clusters
  ipamctl pool set prod-eu --class none --reuse-after 1d
  ipamctl pool set global --regions eu,us,ap`,
	}, creation{})
}
