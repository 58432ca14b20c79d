package lookup

import (
	"cmp"
	"context"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/ipam"
)

// byName orders objects by their names.
func byName[T interface{ Meta() ipam.Metadata }](a, b T) int {
	return cmp.Compare(a.Meta().Name, b.Meta().Name)
}

// listEverywhere reads one page from several regions in one round trip. It runs the statement once for each region, with the region as the first
// argument. Then it sorts the rows with order and returns the first limit rows. A single statement for all regions would be slower, because
// CockroachDB would read all rows of each region.
func listEverywhere[T any](
	ctx context.Context, r Reader, name string, scan pgx.RowToFunc[T], regions []string, order func(a, b T) int, limit int, args ...any,
) ([]T, error) {
	asks := make([][]any, len(regions))
	for i, region := range regions {
		asks[i] = append([]any{region}, args...)
	}
	if len(asks) == 1 {
		return List(ctx, r, name, scan, asks[0]...)
	}
	found, err := runEach(ctx, r, name, scan, asks)
	slices.SortStableFunc(found, order)
	return found[:min(limit, len(found))], err
}
