package schema

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// askLocked returns the tables that are schema-locked. Since CockroachDB 26.1, every new table is schema-locked, which helps changefeeds. Carve does
// not use changefeeds. For most schema changes, CockroachDB itself unlocks the table while it works. SET LOCALITY does not, and fails. If the setting
// sql.schema.auto_unlock.enabled is off, every schema change fails.
const askLocked = `SELECT c.relname::TEXT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND 'schema_locked=true' = ANY (c.reloptions) ORDER BY c.relname`

func setLocked(table string, to bool) string {
	value := "false"
	if to {
		value = "true"
	}
	return "ALTER TABLE " + name(table) + " SET (schema_locked = " + value + ")" // CockroachDB requires that this is the only setting in its statement, outside a transaction
}

// migrationSettings returns session parameters. They are set when the connection starts, because there an older CockroachDB only warns about an
// unknown parameter. autocommit_before_ddl is off, because otherwise CockroachDB commits before each DDL statement, and runs one job for each new
// table.
func (cockroach) migrationSettings() map[string]string {
	return map[string]string{"create_table_with_schema_locked": "off", "autocommit_before_ddl": "off"}
}

// lockedTables returns Carve's schema-locked tables.
func (cockroach) lockedTables(ctx context.Context, c *pgx.Conn) ([]string, error) {
	rows, err := c.Query(ctx, askLocked)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return slices.DeleteFunc(tables, func(table string) bool { return !IsTable(table) }), err
}
