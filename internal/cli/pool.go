package cli

import (
	"slices"
	"strings"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/client"
)

func (p *program) poolCommand() *cobra.Command {
	k := p.pools()
	filters := []filter{
		selectorFilter("pools"),
		{"phase", "phase", "only pools in this phase", oneOf(client.IPPoolPhaseReady, client.IPPoolPhaseExhausted,
			client.IPPoolPhasePending, client.IPPoolPhaseError), nil},
		familyFilter("pools"),
		{"space", "space", "only pools of this `SPACE`, name or project/name", refOf, nil},
		{"parent", "parent", "only children of this `POOL`, name or project/name", refOf, nil},
		classFilter("only pools that list this `CLASS`"),
	}
	return group("pool", "Blocks from which others are carved", []string{"pools"},
		p.poolCreate(),
		p.poolSet(),
		k.listVerb("Lists the pools of the project, in order of name. Filters add up.", slices.Concat(filters, placeFilters())...),
		k.getVerb(),
		k.showVerb(),
		p.poolFree(k.complete()),
		p.poolTree(k.complete()),
		k.deleteVerb(removal{
			long: "Gives the blocks of pools back. Refused while claims, child pools or retained allocations hold\nparts of them; nothing changes then.",
		}),
	)
}

func (p *program) pools() kind[client.IPPool] {
	return kind[client.IPPool]{p: p, view: poolView(), home: p.homeOf("pools"), fields: poolFields()}
}

func poolView() view[client.IPPool] {
	type T = client.IPPool
	return view[T]{
		kind:  "pool",
		name:  func(t T) string { return t.Metadata.Name },
		cidr:  func(t T) string { return t.Status.AllocatedCIDR },
		below: inRegions,
		more: []column[T]{
			{title: "PROJECT", cell: func(t T) string { return t.Metadata.Project }},
			{title: "DESCRIPTION", cell: func(t T) string { return t.Spec.Description }},
			{title: "RESERVATIONS", cell: func(t T) string { return reservationsText(t.Spec.Reservations) }},
			{title: "ANNOTATIONS", cell: func(t T) string { return joinPairs(t.Metadata.Annotations) }},
		},
		columns: append([]column[T]{
			{title: "NAME", cell: func(t T) string { return t.Metadata.Name }},
			{title: "CIDR", cell: func(t T) string { return t.Status.AllocatedCIDR }},
			{title: "PARENT", cell: func(t T) string { return refText(t.Status.ParentRef, t.Metadata.Project) }},
			{title: "PHASE", cell: func(t T) string { return string(t.Status.Phase) }},
			{title: "USED", cell: func(t T) string { return percent(t.Status.UtilizationPercent) }},
			{title: "LARGEST FREE", cell: func(t T) string { return slashed(t.Status.LargestFreePrefixLength) }},
			{title: "SPACE", wide: true, cell: func(t T) string { return refText(&t.Status.SpaceRef, t.Metadata.Project) }},
			{title: "STRATEGY", wide: true, cell: func(t T) string { return strategyText(t.Spec.Allocation) }},
			{title: "LENGTHS", wide: true, cell: func(t T) string { return boundsText(t.Spec.Allocation) }},
			{title: "TOTAL", wide: true, cell: func(t T) string { return t.Status.Capacity.Total }},
			{title: "ALLOCATED", wide: true, cell: func(t T) string { return t.Status.Capacity.Allocated }},
			{title: "RESERVED", wide: true, cell: func(t T) string { return t.Status.Capacity.Reserved }},
			{title: "COOLING DOWN", wide: true, cell: func(t T) string { return t.Status.Capacity.CoolingDown }},
			{title: "AVAILABLE", wide: true, cell: func(t T) string { return t.Status.Capacity.Available }},
			{title: "VISIBILITY", wide: true, cell: func(t T) string { return string(t.Spec.Visibility) }},
			{title: "CLASSES", wide: true, cell: func(t T) string { return strings.Join(t.Spec.ClassNames, ",") }},
			{title: "REUSE AFTER", wide: true, cell: func(t T) string { return t.Spec.ReuseAfter }},
			{title: "FOR SCOPE", wide: true, cell: func(t T) string { return poolScopeText(t.Status.Scope) }},
			{title: "REGIONS", wide: true, cell: poolRegionsText},
		}, metaColumns(func(t T) client.Metadata { return t.Metadata })...),
	}
}
