package cli

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
)

// placedPool is a pool in one of the regions that serve it.
type placedPool struct {
	pool string
	client.PoolInRegion
}

// inRegions says of pools that are served in several regions what each region was lent, how much of it is available, and for how long that
// will last at the pace of late; nothing of others.
func inRegions(p *program, pools []client.IPPool) []byte {
	var rows []placedPool
	for _, pool := range pools {
		for _, r := range pool.Status.Regions {
			rows = append(rows, placedPool{pool.Metadata.Name, r})
		}
	}
	if len(rows) == 0 {
		return nil
	}
	type T = placedPool
	return tableOf(p, []column[T]{
		{title: "POOL", cell: func(t T) string { return t.pool }},
		{title: "REGION", cell: func(t T) string { return t.Region }},
		{title: "HOME", cell: func(t T) string { return yes(t.Home) }},
		{title: "TOTAL", cell: func(t T) string { return t.Capacity.Total }},
		{title: "AVAILABLE", cell: func(t T) string { return t.Capacity.Available }},
		{title: "COOLING DOWN", wide: true, cell: func(t T) string { return t.Capacity.CoolingDown }},
		{title: "LENT BLOCKS", cell: func(t T) string { return strconv.FormatInt(t.Loans, 10) }},
		{title: "LAST LOAN", cell: func(t T) string { return slashed(t.LastLoanPrefixLength) }},
		{title: "LENT AT", wide: true, cell: func(t T) string { return timeText(t.LastLoanAt) }},
		{title: "LASTS FOR", cell: func(t T) string { return t.Runway }},
	}, rows)
}

// poolRegionsText is where a pool is served: its home first, then the others.
func poolRegionsText(p client.IPPool) string {
	home := firstOf(p.Spec.Region, p.Metadata.Region)
	others := slices.DeleteFunc(slices.Clone(p.Spec.Regions), func(r string) bool { return r == home })
	return strings.TrimPrefix(strings.Join(append([]string{home}, others...), ","), ",")
}

// served compares where a pool of a plan is at home and served.
func (d *differences) served(p planPool, got client.IPPool) {
	home := firstOf(got.Spec.Region, got.Metadata.Region)
	d.field("region", p.Region, home)
	if p.Regions == nil {
		return
	}
	is := got.Spec.Regions
	if len(is) == 0 {
		is = []client.Name{home}
	}
	d.field("regions", strings.Join(slices.Sorted(slices.Values(p.Regions)), ","), strings.Join(slices.Sorted(slices.Values(is)), ","))
}
