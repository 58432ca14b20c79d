package kinds

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
)

func poolCommand(p *session.Program) *cobra.Command {
	k := Pools(p)
	filters := []verbs.Filter{
		verbs.SelectorFilter("pools"),
		verbs.By("phase", "phase", "only pools in this phase", verbs.OneOf(client.IPPoolPhaseReady, client.IPPoolPhaseExhausted, client.IPPoolPhaseDraining,
			client.IPPoolPhasePending, client.IPPoolPhaseError)),
		verbs.FamilyFilter("pools"),
		verbs.By("space", "space", "only pools of this `SPACE`, name or project/name", verbs.RefOf),
		verbs.By("parent", "parent", "only children of this `POOL`, name or project/name", verbs.RefOf),
		verbs.ClassFilter("only pools that list this `CLASS`"),
	}
	return verbs.Group("pool", "Blocks from which claims and child pools get theirs", []string{"pools"},
		poolCreate(p),
		putVerb(k, func(t client.IPPool) client.Metadata { return t.Metadata }, &cobra.Command{
			Use: "put NAME (--cidr CIDR | --parent POOL (--prefix-length N | --cidr CIDR))",
			Example: `  ipamctl pool put corp --cidr 10.0.0.0/8
  ipamctl pool put prod-eu --parent corp --prefix-length 16`,
		}, verbs.Creation{Check: checkPool}),
		poolSet(p),
		k.ListVerb("Lists the pools of the project, in order of name. A pool must match all filters.", slices.Concat(filters, verbs.PlaceFilters())...),
		k.GetVerb(),
		k.ShowVerb(),
		poolFree(p, k.Complete()),
		poolUtilization(p, k.Complete()),
		poolTree(p, k.Complete()),
		k.DeleteVerb(verbs.Removal{
			Many: verbs.ByLabels,
			Long: "Deletes pools and frees their blocks. The server refuses while claims, child pools or retained allocations\nhold parts of them; then nothing changes.",
		}),
	)
}

// Pools returns the kind for pools.
func Pools(p *session.Program) verbs.Kind[client.IPPool] {
	return verbs.Kind[client.IPPool]{
		P: p, View: poolView(), Home: verbs.HomeOf(p, "pools"), Fields: poolFields(),
		Fed: &verbs.Fed[client.IPPool]{Kind: client.ChangeKindIPPool},
	}
}

func poolView() show.View[client.IPPool] {
	type T = client.IPPool
	return show.View[T]{
		Kind:  "pool",
		Name:  func(t T) string { return t.Metadata.Name },
		Cidr:  func(t T) string { return t.Status.AllocatedCIDR },
		Below: inRegions,
		More: []show.Column[T]{
			{Title: "PROJECT", Cell: func(t T) string { return t.Metadata.Project }},
			{Title: "DESCRIPTION", Cell: func(t T) string { return t.Spec.Description }},
			{Title: "RESERVATIONS", Cell: func(t T) string { return reservationsText(t.Spec.Reservations) }},
			{Title: "ANNOTATIONS", Cell: func(t T) string { return show.JoinPairs(t.Metadata.Annotations) }},
		},
		Columns: append([]show.Column[T]{
			{Title: "NAME", Cell: func(t T) string { return t.Metadata.Name }},
			{Title: "CIDR", Cell: func(t T) string { return t.Status.AllocatedCIDR }},
			{Title: "PARENT", Cell: func(t T) string { return show.RefText(t.Status.ParentRef, t.Metadata.Project) }},
			{Title: "PHASE", Cell: func(t T) string { return string(t.Status.Phase) }},
			{Title: "USED", Bar: true, Cell: func(t T) string { return show.Percent(t.Status.UtilizationPercent) }},
			{Title: "LARGEST FREE", Cell: func(t T) string { return show.PrefixLengthText(t.Status.LargestFreePrefixLength) }},
			{Title: "SPACE", Wide: true, Cell: func(t T) string { return show.RefText(&t.Status.SpaceRef, t.Metadata.Project) }},
			{Title: "STRATEGY", Wide: true, Cell: func(t T) string { return strategyText(t.Spec.Allocation) }},
			{Title: "LENGTHS", Wide: true, Cell: func(t T) string { return boundsText(t.Spec.Allocation) }},
			{Title: "TOTAL", Wide: true, Cell: func(t T) string { return t.Status.Capacity.Total }},
			{Title: "ALLOCATED", Wide: true, Cell: func(t T) string { return t.Status.Capacity.Allocated }},
			{Title: "RESERVED", Wide: true, Cell: func(t T) string { return t.Status.Capacity.Reserved }},
			{Title: "COOLING DOWN", Wide: true, Cell: func(t T) string { return t.Status.Capacity.CoolingDown }},
			{Title: "AVAILABLE", Wide: true, Cell: func(t T) string { return t.Status.Capacity.Available }},
			{Title: "VISIBILITY", Wide: true, Cell: func(t T) string { return string(t.Spec.Visibility) }},
			{Title: "CLASSES", Wide: true, Cell: func(t T) string { return strings.Join(t.Spec.ClassNames, ",") }},
			{Title: "REUSE AFTER", Wide: true, Cell: func(t T) string { return t.Spec.ReuseAfter }},
			{Title: "DRAIN", Wide: true, Cell: func(t T) string { return string(t.Spec.Drain) }},
			{Title: "FOR SCOPE", Wide: true, Cell: func(t T) string { return poolScopeText(t.Status.Scope) }},
			{Title: "REGIONS", Wide: true, Cell: poolRegionsText},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}
