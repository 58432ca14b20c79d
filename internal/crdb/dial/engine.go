package dial

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
)

// Engine is a database product.
type Engine string

// The engines.
const (
	Cockroach Engine = "cockroachdb"
	Postgres  Engine = "postgresql"
)

// IsState reports whether err is a database error with this SQLSTATE.
func IsState(err error, code string) bool {
	pg, ok := errors.AsType[*pgconn.PgError](err)
	return ok && pg.Code == code
}

// Close closes a connection, even after ctx has ended.
func Close(ctx context.Context, c *pgx.Conn) { _ = c.Close(context.WithoutCancel(ctx)) }

// EngineAt connects to a database and detects its engine.
func EngineAt(ctx context.Context, cfg *pgx.ConnConfig) (Engine, error) {
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return "", fmt.Errorf("cannot connect to the database: %w", err)
	}
	defer Close(ctx, c)
	return EngineOn(ctx, c)
}

// EngineOn detects a connection's engine.
func EngineOn(ctx context.Context, c *pgx.Conn) (Engine, error) {
	var version string
	if err := c.QueryRow(ctx, "SELECT version()").Scan(&version); err != nil {
		return "", fmt.Errorf("cannot ask the database for its version: %w", err)
	}
	switch {
	case strings.HasPrefix(version, "CockroachDB"):
		return Cockroach, nil
	case strings.HasPrefix(version, "PostgreSQL"):
		return Postgres, nil
	default:
		return "", fmt.Errorf("the database is neither CockroachDB nor PostgreSQL: %s", version)
	}
}
