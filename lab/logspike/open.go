package logspike

import (
	"context"
	"fmt"
	"net/netip"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// Open opens a connection pool for an engine.
func Open(ctx context.Context, dsn string, connections int32) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(dsn)
	if err != nil {
		return nil, err
	}
	config.MaxConns = connections
	engine, err := dial.EngineAt(ctx, config.ConnConfig)
	if err != nil {
		return nil, err
	}
	if engine != dial.Cockroach { // the product's settings
		for _, setting := range []string{"enable_seqscan", "enable_hashjoin", "enable_mergejoin"} {
			config.ConnConfig.RuntimeParams[setting] = "off"
		}
		config.ConnConfig.RuntimeParams["plan_cache_mode"] = "force_generic_plan"
		// The keys of the log rows order the groups. So each statement only needs a snapshot of its own.
		config.ConnConfig.RuntimeParams["default_transaction_isolation"] = "read committed"
	}
	return pgxpool.NewWithConfig(ctx, config)
}

// Create creates the tables, and other indexes if there are any.
func Create(ctx context.Context, db *pgxpool.Pool, indexes ...string) error {
	var version string
	if err := db.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return err
	}
	statements := slices.Concat(Schema, indexes)
	if !strings.Contains(version, "CockroachDB") {
		statements = append(statements, PostgresSchema)
	}
	for _, sql := range statements {
		if _, err := db.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}

// CreatePool writes the first root page of a pool.
func CreatePool(ctx context.Context, db *pgxpool.Pool, pool ID, block netip.Prefix) error {
	if block != block.Masked() {
		return fmt.Errorf("%s has host bits", block)
	}
	pages, _ := newTree(block, nil).snapshot(1, 0)
	return (&store{db: db}).saveSnapshot(ctx, pool, pages, nil, 0)
}
