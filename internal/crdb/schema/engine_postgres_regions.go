package schema

import (
	"context"
	"io/fs"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/migrations"
)

// PostgreSQL has no regions. In CockroachDB, the columns for regions have the type crdb_internal_region. On PostgreSQL, Carve creates an enum with
// this name, so that the same schema and the same statements work.
const (
	askEnum = `SELECT e.enumlabel FROM pg_catalog.pg_enum AS e JOIN pg_catalog.pg_type AS t ON t.oid = e.enumtypid
WHERE t.typname = 'crdb_internal_region' AND pg_catalog.pg_type_is_visible(t.oid) ORDER BY e.enumsortorder`
	enum = "crdb_internal_region"
)

func createEnum(regions []string) string {
	literals := make([]string, len(regions))
	for i, r := range regions {
		literals[i] = quoteLiteral(r)
	}
	return "CREATE TYPE " + enum + " AS ENUM (" + strings.Join(literals, ", ") + ")"
}

// addValue returns the statement that adds a region to the enum. The statement must not run in the same transaction as a statement that uses the new
// value.
func addValue(region string) string {
	return "ALTER TYPE " + enum + " ADD VALUE IF NOT EXISTS " + quoteLiteral(region)
}

func (postgres) readRegions(ctx context.Context, c *pgx.Conn) (s regionState, err error) {
	rows, err := c.Query(ctx, askEnum)
	if err != nil {
		return s, err
	}
	s.there, err = pgx.CollectRows(rows, pgx.RowTo[string])
	s.order = s.there
	return s, err
}

func (postgres) regionSteps(s regionState, o MigrateOptions) (steps []ddl, err error) {
	if len(s.there) == 0 {
		steps = append(steps, ddl{createEnum(o.Regions), "regions of the database: " + strings.Join(o.Regions, ", ")})
	}
	for _, region := range o.Regions {
		if len(s.there) > 0 && !slices.Contains(s.there, region) {
			steps = append(steps, ddl{addValue(region), "the database has the region " + region})
		}
	}
	if o.Survive != "" {
		steps = append(steps, ddl{"", "PostgreSQL stores all regions together: --survive " + o.Survive + " has no effect"})
	}
	return steps, nil
}

// migrationSettings returns nil, because PostgreSQL needs no settings.
func (postgres) migrationSettings() map[string]string { return nil }

// lockedTables returns no tables, because PostgreSQL has no schema locks.
func (postgres) lockedTables(context.Context, *pgx.Conn) ([]string, error) { return nil, nil }

// files returns the numbered migration files unchanged.
func (postgres) files(int) fs.FS { return migrations.FS }

// localities returns no statements, because PostgreSQL keeps all rows in one place.
func (postgres) localities(context.Context, *pgx.Conn, int) ([]ddl, error) { return nil, nil }

// gateway returns "", because PostgreSQL does not know a server's region.
func (postgres) gateway(context.Context, *pgx.Conn) (string, error) { return "", nil }
