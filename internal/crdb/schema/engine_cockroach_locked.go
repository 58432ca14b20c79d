package schema

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// Since CockroachDB 26.1 a new table is schema-locked, for the benefit of changefeeds, which Carve does not use. The declarative schema changer
// unlocks the table while it works. SET LOCALITY does not, and fails. With sql.schema.auto_unlock.enabled off, every schema change fails.
const askLocked = `SELECT c.relname::TEXT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND 'schema_locked=true' = ANY (c.reloptions) ORDER BY c.relname`

func setLocked(table string, to bool) string {
	value := "false"
	if to {
		value = "true"
	}
	return "ALTER TABLE " + name(table) + " SET (schema_locked = " + value + ")" // must be the only setting in its statement, outside of a transaction
}

// migrating returns session parameters for the startup of a connection. At startup, an older CockroachDB version only logs a warning about an unknown
// parameter. Without autocommit_before_ddl=off, CockroachDB would commit before each DDL statement, and run one job for each new table in a message.
func (cockroach) migrating() map[string]string {
	return map[string]string{"create_table_with_schema_locked": "off", "autocommit_before_ddl": "off"}
}

// locked returns the schema-locked tables that Carve owns.
func (cockroach) locked(ctx context.Context, c *pgx.Conn) ([]string, error) {
	rows, err := c.Query(ctx, askLocked)
	if err != nil {
		return nil, err
	}
	tables, err := pgx.CollectRows(rows, pgx.RowTo[string])
	return slices.DeleteFunc(tables, func(table string) bool {
		return !slices.ContainsFunc(Localities(), func(l TableLocality) bool { return l.Table == table })
	}), err
}
