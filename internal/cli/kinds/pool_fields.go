package kinds

import (
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

// poolFields returns a pool's fields.
func poolFields() []verbs.Field {
	return append(verbs.Described[:3:3], []verbs.Field{
		{Flag: "cidr", Create: "the pool's block, a `CIDR`: the block of a root, or exactly this block of the parent"},
		{Flag: "parent", Path: "spec.parentRef", Complete: verbs.CompletePools, Create: "`POOL` to carve from, name or project/name"},
		{Flag: "prefix-length", Create: "prefix length of a block that the parent's strategy chooses"},
		{
			Flag: "space", Path: "spec.spaceRef", Complete: verbs.CompleteSpaces,
			Create: "`SPACE` of a root, name or project/name (default: the project's 'default')",
		},
		{Flag: "strategy", Path: "spec.allocation.strategy", Words: strategies, Usage: "strategy that chooses blocks in the pool"},
		{
			Flag: "min-prefix-length", Path: "spec.allocation.minPrefixLength",
			Create: "prefix length of the largest block that may be carved from it", Set: "prefix length of the largest block that may be carved from it, or none",
		},
		{
			Flag: "max-prefix-length", Path: "spec.allocation.maxPrefixLength",
			Create: "prefix length of the smallest block that may be carved from it", Set: "prefix length of the smallest block that may be carved from it, or none",
		},
		{
			Flag: "default-prefix-length", Path: "spec.allocation.defaultPrefixLength",
			Create: "prefix length for claims without one", Set: "prefix length for claims without one, or none",
		},
		{Flag: "visibility", Words: "consumer shared platform", Usage: "projects that may use it"},
		{
			Flag: "class", Path: "spec.classNames", Value: verbs.ListOf(false, []string{}, verbs.NamesOf("class")), Complete: verbs.CompleteClasses,
			Create: "back this `CLASS`: its claims can get blocks of this pool (repeatable)", Set: "back this `CLASS` (repeatable), or none",
		},
		{
			Flag: "reuse-after", Value: verbs.Policy,
			Create: "cool-down of a released block before reuse, unless a class sets one: 10m, 72h, 3d",
			Set:    "cool-down of a released block before reuse, unless a class sets one: 10m, 72h, 3d, or none",
		},
		{Flag: "drain", Words: "Keep Delete", Set: "allocate no more blocks, and keep or delete the pool when it is empty"},
		{
			Flag: "reserve", Path: "spec.reservations", Value: verbs.ListOf(false, []string{}, parseReservations),
			Create: "reserve a `PART`, see above (repeatable)", Set: "reserve this `PART` (repeatable), or none",
		},
		{
			Flag: "region", Value: verbs.NameOf("region"), Complete: verbs.CompleteRegions,
			Create: "home `REGION` (default: the first of --regions, or the server's region)",
		},
		{
			Flag: "regions", Value: verbs.ListOf(true, nil, regionNames), Complete: verbs.CompleteRegions,
			Create: "`REGIONS` that serve it, including its home: eu,us (default: only its home)",
			Set:    "`REGIONS` that serve it, including its home, or none for only its home",
		},
	}...)
}

// Several kinds have flags with these words.
const (
	strategies = "BestFit FirstFit Random Sparse"
	reclaims   = "Delete Retain"
	roles      = "viewer consumer provider admin" // the role with the fewest rights is first
)

// regionNames checks the regions in a flag.
func regionNames(flag string, texts []string) (any, error) {
	if len(texts) == 0 {
		return nil, exit.Usagef("--regions needs names of regions, or none for only the home region")
	}
	return verbs.NamesOf("region")(flag, texts)
}
