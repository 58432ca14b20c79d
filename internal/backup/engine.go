package backup

import (
	"context"
	"fmt"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// connect opens a database session for this package, and returns the engine.
func connect(ctx context.Context, dsn string) (*pgx.Conn, string, error) {
	cfg, err := dial.ParseAny(dsn)
	if err != nil {
		return nil, "", err
	}
	return connectTo(ctx, cfg)
}

func connectTo(ctx context.Context, cfg *pgx.ConnConfig) (*pgx.Conn, string, error) {
	cfg.RuntimeParams["application_name"] = "carve-backup"
	c, err := pgx.ConnectConfig(ctx, cfg)
	if err != nil {
		return nil, "", fmt.Errorf("cannot connect to the database: %w", err)
	}
	engine, err := dial.EngineOn(ctx, c)
	if err == nil {
		err = schema.CheckCompatible(ctx, c)
	}
	if err != nil {
		closeConn(ctx, c)
		return nil, "", err
	}
	return c, string(engine), nil
}

func closeConn(ctx context.Context, c *pgx.Conn) { _ = c.Close(context.WithoutCancel(ctx)) }
