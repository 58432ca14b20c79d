package schema

import (
	"context"
	"fmt"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// engine contains all differences between the two databases in schemas, regions and roles.
type engine interface {
	// readRegions reads the database's regions.
	readRegions(ctx context.Context, c *pgx.Conn) (regionState, error)
	// regionSteps returns the statements that add the requested regions and set the survival goal. If the database cannot satisfy the request, it
	// returns an error.
	regionSteps(s regionState, o MigrateOptions) ([]ddl, error)
	// migrationSettings returns session parameters for a connection that creates tables. lockedTables returns Carve's tables that are locked against
	// schema changes.
	migrationSettings() map[string]string
	lockedTables(ctx context.Context, c *pgx.Conn) ([]string, error)
	// files returns the numbered migration files for the engine. localities returns the statements that move each table to its locality if the table has
	// another one. The files and the localities depend on the number of regions.
	files(regions int) fs.FS
	localities(ctx context.Context, c *pgx.Conn, regions int) ([]ddl, error)
	// createRole returns the statement that creates a group role. isRace reports whether an error comes from a concurrent change to the same role.
	createRole(role string) string
	isRace(code, message string) bool
	// revokePublic returns the statements that revoke PUBLIC's right to create tables. problems contains the statements that the user may not run.
	// privileges lists all possible privileges on a table. otherPrivileges lists the user's privileges that are not on a table.
	revokePublic(ctx context.Context, c *pgx.Conn, st roleState) (steps []ddl, problems []string, err error)
	privileges() []string
	otherPrivileges(ctx context.Context, c *pgx.Conn) ([]string, error)
	// gateway returns the region in which the connection's node is, or "" if the database does not know the region.
	gateway(ctx context.Context, c *pgx.Conn) (string, error)
}

type (
	cockroach struct{}
	postgres  struct{}
)

// connect connects to a database and detects its engine.
func connect(ctx context.Context, cfg *pgx.ConnConfig) (*pgx.Conn, engine, error) {
	c, err := pgx.ConnectConfig(ctx, cfg.Copy())
	if err != nil {
		return nil, nil, fmt.Errorf("cannot connect to the database: %w", err)
	}
	eng, err := detect(ctx, c)
	if err != nil {
		dial.Close(ctx, c)
	}
	return c, eng, err
}

// detect detects a connection's engine.
func detect(ctx context.Context, c *pgx.Conn) (engine, error) {
	is, err := dial.EngineOn(ctx, c)
	if err != nil {
		return nil, err
	}
	if is == dial.Cockroach {
		return cockroach{}, nil
	}
	return postgres{}, nil
}
