package kinds

import (
	"slices"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// placedPool has the figures of a pool in one of the regions that serve it.
type placedPool struct {
	pool string
	client.PoolInRegion
}

// inRegions returns a table for pools that several regions serve. Each row has the blocks that the home region lent to a region, the available part
// of them, and the expected time until none is left. For all other pools, it returns nothing.
func inRegions(p *show.Printer, pools []client.IPPool) []byte {
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
	return show.Table(p, []show.Column[T]{
		{Title: "POOL", Cell: func(t T) string { return t.pool }},
		{Title: "REGION", Cell: func(t T) string { return t.Region }},
		{Title: "HOME", Cell: func(t T) string { return show.YesOrEmpty(t.Home) }},
		{Title: "TOTAL", Cell: func(t T) string { return t.Capacity.Total }},
		{Title: "AVAILABLE", Cell: func(t T) string { return t.Capacity.Available }},
		{Title: "COOLING DOWN", Wide: true, Cell: func(t T) string { return t.Capacity.CoolingDown }},
		{Title: "LENT BLOCKS", Cell: func(t T) string { return strconv.FormatInt(t.Loans, 10) }},
		{Title: "LAST LOAN", Cell: func(t T) string { return show.PrefixLengthText(t.LastLoanPrefixLength) }},
		{Title: "LENT AT", Wide: true, Cell: func(t T) string { return show.TimeText(t.LastLoanAt) }},
		{Title: "LASTS FOR", Cell: func(t T) string { return t.Runway }},
	}, rows)
}

// poolRegionsText lists the regions that serve a pool. The home region is first.
func poolRegionsText(p client.IPPool) string {
	home := show.FirstOf(p.Spec.Region, p.Metadata.Region)
	others := slices.DeleteFunc(slices.Clone(p.Spec.Regions), func(r string) bool { return r == home })
	return strings.TrimPrefix(strings.Join(append([]string{home}, others...), ","), ",")
}
