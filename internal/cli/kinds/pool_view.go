package kinds

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// The tree also has the columns with a pool's figures.
const (
	poolUsage = `
		USED: status.utilizationPercent, bar
		LARGEST FREE: status.largestFreePrefixLength`
	poolCapacity = `
		TOTAL: status.capacity.total, wide
		ALLOCATED: status.capacity.allocated, wide
		RESERVED: status.capacity.reserved, wide
		COOLING DOWN: status.capacity.coolingDown, wide
		AVAILABLE: status.capacity.available, wide`
	poolPolicy = `
		STRATEGY: spec.allocation.strategy, wide
		LENGTHS: lengths, wide`
)

var poolCells = show.Cells[client.IPPool]{
	"lengths":      func(t client.IPPool) string { return boundsText(t.Spec.Allocation) },
	"scope":        func(t client.IPPool) string { return poolScopeText(t.Status.Scope) },
	"regions":      poolRegionsText,
	"reservations": func(t client.IPPool) string { return reservationsText(t.Spec.Reservations) },
}

func poolView() show.View {
	v := show.ViewOf("pool", `
		NAME: metadata.name
		CIDR: status.allocatedCIDR
		PARENT: status.parentRef
		PHASE: status.phase`+poolUsage+`
		SPACE: status.spaceRef, wide`+poolPolicy+poolCapacity+`
		VISIBILITY: spec.visibility, wide
		CLASSES: spec.classNames, wide
		REUSE AFTER: spec.reuseAfter, wide
		DRAIN: spec.drain, wide
		FOR SCOPE: scope, wide
		REGIONS: regions, wide`+labelled+`
		PROJECT: metadata.project, more
		DESCRIPTION: spec.description, more
		RESERVATIONS: reservations, more
		ANNOTATIONS: metadata.annotations, more`, poolCells).Blocks()
	v.Below = inRegions
	return v
}

// placedPool has a pool's figures in one region.
type placedPool struct {
	Pool string
	client.PoolInRegion
}

// inRegions returns a table for pools that several regions serve. Each row has the blocks that the home region lent to a region, their available part,
// and the expected time until none is left. For all other pools, it returns nothing.
func inRegions(p *show.Printer, pools []any) []byte {
	var rows []placedPool
	for _, object := range pools {
		pool, _ := object.(client.IPPool)
		for _, r := range pool.Status.Regions {
			rows = append(rows, placedPool{pool.Metadata.Name, r})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	return show.Table(p, show.Columns[placedPool](`
		POOL: pool
		REGION: region
		HOME: home
		TOTAL: capacity.total
		AVAILABLE: capacity.available
		COOLING DOWN: capacity.coolingDown, wide
		LENT BLOCKS: loans
		LAST LOAN: lastLoanPrefixLength
		LENT AT: lastLoanAt, wide
		LASTS FOR: runway`, nil), rows)
}

// poolRegionsText lists the regions that serve a pool. The home region is first.
func poolRegionsText(p client.IPPool) string {
	home := show.FirstOf(p.Spec.Region, p.Metadata.Region)
	others := slices.DeleteFunc(slices.Clone(p.Spec.Regions), func(r string) bool { return r == home })
	return strings.TrimPrefix(strings.Join(append([]string{home}, others...), ","), ",")
}

// poolScopeText describes the scope that a pool was carved for, such as "platform/clusters of team-a: cluster=web-eu".
func poolScopeText(s *client.PoolScope) string {
	if s == nil {
		return ""
	}
	text := s.ClassProject + "/" + s.ClassName + " of " + s.Project
	if len(s.Values) > 0 {
		text += ": " + show.JoinPairs(s.Values)
	}
	return text
}

// boundsText describes a pool's prefix lengths, such as "/18../28 (/24)" or "any (/24)". The length in parentheses is the default.
func boundsText(a *client.PoolAllocation) string {
	if a == nil || a.MinPrefixLength == nil && a.MaxPrefixLength == nil && a.DefaultPrefixLength == nil {
		return ""
	}
	text := "any"
	if a.MinPrefixLength != nil || a.MaxPrefixLength != nil {
		text = show.PrefixLengthText(a.MinPrefixLength) + ".." + show.PrefixLengthText(a.MaxPrefixLength)
	}
	if a.DefaultPrefixLength != nil {
		text += " (" + show.PrefixLengthText(a.DefaultPrefixLength) + ")"
	}
	return text
}

// reservationsText lists a pool's reservations as --reserve takes them.
func reservationsText(list []client.Reservation) string {
	out := make([]string, len(list))
	for i, r := range list {
		switch {
		case r.First != 0:
			out[i] = "first:" + strconv.Itoa(r.First)
		case r.Last != 0:
			out[i] = "last:" + strconv.Itoa(r.Last)
		case r.From != "":
			out[i] = r.From + "-" + r.To
		default:
			out[i] = r.CIDR
		}
		if r.Reason != "" {
			out[i] += "=" + r.Reason
		}
	}
	return strings.Join(out, "; ")
}
