package backup

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// connect opens a database session for this package, and returns the engine.
func connect(ctx context.Context, dsn string) (*pgx.Conn, string, error) {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil { // the error does not contain the parser's reason, because the reason may repeat a password
		return nil, "", errors.New("the database URL is not valid; this message does not repeat it, because it may contain a password. A valid URL looks like postgresql://user@host:26257/carve?sslmode=verify-full")
	}
	return connectTo(ctx, cfg)
}

func connectTo(ctx context.Context, cfg *pgx.ConnConfig) (*pgx.Conn, string, error) {
	cfg.RuntimeParams["application_name"] = "carve-backup"
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, "", fmt.Errorf("cannot connect to the database: %w", err)
	}
	var version string
	if err := c.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		closeConn(ctx, c)
		return nil, "", fmt.Errorf("cannot ask the database for its version: %w", err)
	}
	if err := schema.CheckCompatible(ctx, c); err != nil {
		closeConn(ctx, c)
		return nil, "", err
	}
	switch {
	case strings.HasPrefix(version, "CockroachDB"):
		return c, CockroachDB, nil
	case strings.HasPrefix(version, "PostgreSQL"):
		return c, PostgreSQL, nil
	default:
		closeConn(ctx, c)
		return nil, "", fmt.Errorf("the database is neither CockroachDB nor PostgreSQL: %s", version)
	}
}

func closeConn(ctx context.Context, c *pgx.Conn) { _ = c.Close(context.WithoutCancel(ctx)) }
