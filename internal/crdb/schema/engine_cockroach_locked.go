package schema

import (
	"context"
	"slices"

	"github.com/jackc/pgx/v5"
)

// From CockroachDB 26.1 on a new table is schema-locked, for the good of changefeeds, of which there are none here. What its declarative schema changer
// does takes the lock away for as long as it takes; SET LOCALITY does not, and is refused; and where sql.schema.auto_unlock.enabled is off, so is the rest.
const askLocked = `SELECT c.relname::TEXT FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = 'public' AND 'schema_locked=true' = ANY (c.reloptions) ORDER BY c.relname`

func setLocked(table string, to bool) string {
	value := "false"
	if to {
		value = "true"
	}
	return "ALTER TABLE " + name(table) + " SET (schema_locked = " + value + ")" // the only one in its statement, and outside of a transaction
}

// migrating: a version that does not know a setting of a connection's beginning writes a warning into its log. Were it to commit before each
// statement of a message that makes many tables, it would run a job for each of them.
func (cockroach) migrating() map[string]string {
	return map[string]string{"create_table_with_schema_locked": "off", "autocommit_before_ddl": "off"}
}

// locked is which of the tables of the migrations are.
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
