package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Queries on the version table of goose, the migration tool. goose counts from version 0, so the first row has version 0.
const (
	askVersionZero = `SELECT EXISTS (SELECT 1 FROM goose_db_version)`
	beginVersions  = `INSERT INTO goose_db_version (version_id, is_applied) SELECT 0, true WHERE NOT EXISTS (SELECT 1 FROM goose_db_version)`
)

// begin inserts version 0 if it is missing. goose creates its table and inserts version 0 in one transaction. But CockroachDB commits at CREATE TABLE
// (autocommit_before_ddl, on since 25.2). If the process dies then, the table has no version, and goose refuses it for ever.
func begin(ctx context.Context, c *pgx.Conn) error {
	var begun bool
	err := c.QueryRow(ctx, askVersionZero).Scan(&begun)
	var pg *pgconn.PgError
	if errors.As(err, &pg) && pg.Code == undefinedTable {
		return nil
	}
	if err == nil && !begun {
		err = alter(ctx, c, beginVersions)
	}
	if err != nil {
		return fmt.Errorf("cannot read the schema's version: %w", err)
	}
	return nil
}
