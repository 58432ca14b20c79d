package backup

import (
	"context"
	"fmt"
	"slices"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
)

// querier is a session or a transaction.
type querier interface {
	Query(ctx context.Context, sql string, args ...any) (pgx.Rows, error)
	QueryRow(ctx context.Context, sql string, args ...any) pgx.Row
}

// content describes a database's content, as far as a backup or restore depends on it.
type content struct {
	tables  []string // Carve's tables
	foreign []string // other tables
	filled  string   // a Carve table with user data; "": none
	regions []string // in the order in which they were added; nil: none
	schema  int64    // the last migration's number; 0: none
}

// bookkeeping lists the tables that have rows even if nobody has used the service yet. The rows are the service's internal state and the platform
// project.
var bookkeeping = []string{"goose_db_version", "goose_lock", "regions", "projects", "spaces", "project_regions", "compatibility", "feed", "audit_events", "removals"}

func contentOf(ctx context.Context, c querier) (content, error) {
	var has content
	all, err := list(ctx, c, "SELECT tablename::TEXT FROM pg_catalog.pg_tables WHERE schemaname = 'public' ORDER BY 1")
	if err != nil {
		return has, err
	}
	for _, table := range all {
		if schema.IsTable(table) {
			has.tables = append(has.tables, table)
		} else {
			has.foreign = append(has.foreign, table)
		}
	}
	for _, table := range has.tables {
		found, err := holdsData(ctx, c, table)
		if err != nil {
			return has, err
		}
		if found {
			has.filled = table
			break
		}
	}
	if slices.Contains(has.tables, "goose_db_version") {
		if err := c.QueryRow(ctx, "SELECT coalesce(max(version_id), 0) FROM goose_db_version WHERE is_applied").Scan(&has.schema); err != nil {
			return has, fmt.Errorf("cannot read the schema's version: %w", err)
		}
	}
	has.regions, err = regionsOf(ctx, c, slices.Contains(has.tables, "regions"))
	return has, err
}

func holdsData(ctx context.Context, c querier, table string) (found bool, err error) {
	switch {
	case table == "projects":
		err = c.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM projects WHERE name <> $1)", ipam.PlatformProject).Scan(&found)
	case !slices.Contains(bookkeeping, table):
		err = c.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM "+pgx.Identifier{table}.Sanitize()+")").Scan(&found)
	}
	return found, err
}

// regionsOf reads the regions in the order in which they were added. `ipamctl migrate` writes them to a table. A database with an older schema has
// only the enum type, with one region.
func regionsOf(ctx context.Context, c querier, written bool) ([]string, error) {
	if written {
		if names, err := list(ctx, c, "SELECT name::TEXT FROM regions ORDER BY ordinal"); err != nil || len(names) > 0 {
			return names, err
		}
	}
	return list(ctx, c, `SELECT e.enumlabel::TEXT FROM pg_catalog.pg_enum AS e JOIN pg_catalog.pg_type AS t ON t.oid = e.enumtypid
		WHERE t.typname = 'crdb_internal_region' ORDER BY e.enumsortorder`)
}

// list runs a query that returns one column with texts.
func list(ctx context.Context, c querier, sql string) ([]string, error) {
	rows, err := c.Query(ctx, sql)
	if err != nil {
		return nil, err
	}
	return pgx.CollectRows(rows, pgx.RowTo[string])
}
