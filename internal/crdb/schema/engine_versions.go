package schema

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// Queries on the version table that goose, the migration tool, creates. goose counts from version 0, so the first row has version 0.
const (
	askVersionZero = `SELECT EXISTS (SELECT 1 FROM goose_db_version)`
	beginVersions  = `INSERT INTO goose_db_version (version_id, is_applied) SELECT 0, true WHERE NOT EXISTS (SELECT 1 FROM goose_db_version)`
)

// insertVersionZero inserts version 0 if it is missing. goose creates its table and inserts version 0 in one transaction. But CockroachDB commits at
// CREATE TABLE (autocommit_before_ddl, on since 25.2). If the process dies then, the table has no version, and goose refuses it for ever.
func insertVersionZero(ctx context.Context, c *pgx.Conn) error {
	var begun bool
	err := c.QueryRow(ctx, askVersionZero).Scan(&begun)
	if dial.IsState(err, undefinedTable) {
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
