package schema

import (
	"context"
	"errors"
	"fmt"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// What goose keeps account in, and that it has an account at all: the version 0, from which it counts.
const (
	askVersionZero = `SELECT EXISTS (SELECT 1 FROM goose_db_version)`
	beginVersions  = `INSERT INTO goose_db_version (version_id, is_applied) SELECT 0, true WHERE NOT EXISTS (SELECT 1 FROM goose_db_version)`
)

// begin writes the version 0 where a process died between making goose's table and that. It is one transaction for goose; CockroachDB commits
// it at CREATE TABLE (autocommit_before_ddl, on from 25.2 on), and goose refuses a table without a version for ever.
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
