package schema

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/lookup"
	"github.com/carve-ipam/carve/internal/crdb/query"
	"github.com/carve-ipam/carve/internal/ipam"
)

// ErrRegion is the error if a database's regions are not the requested ones.
var ErrRegion = errors.New("the regions do not fit the database")

// CheckRegion returns ErrRegion unless the database has the region and the connection leads to a node in the region. A server searches names and
// idempotency keys only in its region. With the wrong region it would not find them, and would accept them a second time.
func CheckRegion(ctx context.Context, dsn, region string) error {
	cfg, err := dial.Parse(dsn)
	if err != nil {
		return err
	}
	c, eng, err := connect(ctx, cfg)
	if err != nil {
		return err
	}
	defer dial.Close(ctx, c)
	written, err := Regions(ctx, c)
	if err != nil {
		return err
	}
	names := namesOf(written)
	switch {
	case len(names) == 0:
		return fmt.Errorf("%w: the database lists no regions; run `ipamctl migrate` with all of them", ErrRegion)
	case !slices.Contains(names, region):
		return fmt.Errorf("%w: the database has %s, and --region is %q; start with one of these regions, or add the region with `ipamctl migrate --regions %s`",
			ErrRegion, quoted(names), region, strings.Join(append(names, region), ","))
	}
	gateway, err := eng.gateway(ctx, c)
	if err != nil {
		return fmt.Errorf("cannot read the region of the database node: %w", err)
	}
	if gateway != "" && gateway != region {
		return fmt.Errorf("%w: the database was reached through a node in the region %q, and --region is %q; start with --region=%s, or with the --database-url of nodes in %s",
			ErrRegion, gateway, region, gateway, region)
	}
	return nil
}

// Regions returns the regions that migrations have recorded in the database, in order. Before the first migration there are none.
func Regions(ctx context.Context, c *pgx.Conn) ([]ipam.Region, error) {
	var found []ipam.Region
	rows, err := c.Query(ctx, query.Get("region_list"))
	if err == nil {
		found, err = pgx.CollectRows(rows, lookup.ScanRegion)
	}
	switch {
	case dial.IsState(err, undefinedTable):
		return nil, nil
	case err != nil:
		return nil, fmt.Errorf("cannot read the database's regions: %w", err)
	}
	return found, nil
}

const undefinedTable = "42P01"

func namesOf(regions []ipam.Region) []string {
	names := make([]string, len(regions))
	for i, r := range regions {
		names[i] = r.Name
	}
	return names
}

func quoted(names []string) string { return `"` + strings.Join(names, `", "`) + `"` }
