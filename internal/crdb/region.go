package crdb

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
)

// ErrRegion says that a database belongs to another region than the one that was given.
var ErrRegion = errors.New("the database belongs to another region")

// CheckRegion answers ErrRegion unless the database is this region's. Names and idempotency keys are unique in a region: a server
// of another region on the same database would see none of them and give each a second life.
func CheckRegion(ctx context.Context, dsn, region string) error {
	cfg, err := parseDSN(dsn)
	if err != nil {
		return err
	}
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return fmt.Errorf("cannot connect to the database: %w", err)
	}
	defer func() { _ = c.Close(context.WithoutCancel(ctx)) }()
	return checkRegion(ctx, c, region)
}

func checkRegion(ctx context.Context, c *pgx.Conn, region string) error {
	rows, err := c.Query(ctx, "SELECT unnest(enum_range(NULL::crdb_internal_region))::TEXT")
	if err != nil {
		return fmt.Errorf("cannot read the database's regions: %w", err)
	}
	regions, err := pgx.CollectRows(rows, pgx.RowTo[string])
	if err != nil {
		return fmt.Errorf("cannot read the database's regions: %w", err)
	}
	if !slices.Equal(regions, []string{region}) {
		return fmt.Errorf("%w: it has %q, and --region is %q; start with the region that the database was migrated with", ErrRegion, strings.Join(regions, ", "), region)
	}
	return nil
}

// parseDSN reads a database URL. The reason is not passed on: it may repeat a password.
func parseDSN(dsn string) (*pgx.ConnConfig, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return nil, errors.New("the database URL is not valid; it is not repeated here, because it may hold a password. It looks like postgresql://user@host:26257/carve?sslmode=verify-full")
	}
	return cfg, nil
}
