package schema

import (
	"context"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// engine contains all differences between the databases that concern schemas, regions and roles.
type engine interface {
	// standing reads the database's regions.
	standing(ctx context.Context, c *pgx.Conn) (standing, error)
	// regionSteps returns the statements that establish the requested regions and survival goal, or an error if they cannot.
	regionSteps(s standing, o MigrateOptions) ([]ddl, error)
	// migrating returns session parameters for a connection that creates tables. locked returns the Carve tables that are locked against schema
	// changes.
	migrating() map[string]string
	locked(ctx context.Context, c *pgx.Conn) ([]string, error)
	// files returns the numbered files for the engine. localities returns the statements that move misplaced tables to their locality, in a database
	// with so many regions.
	files(regions int) fs.FS
	localities(ctx context.Context, c *pgx.Conn, regions int) ([]ddl, error)
	// createRole returns the statement that creates a group role. raced reports whether an error comes from a concurrent change to the same role.
	createRole(role string) string
	raced(code, message string) bool
	// closed returns the statements that revoke DDL from PUBLIC, and those that the user may not run. privileges lists the possible privileges on a
	// table. more returns the user's other privileges.
	closed(ctx context.Context, c *pgx.Conn, st roleState) (steps []ddl, problems []string, err error)
	privileges() []string
	more(ctx context.Context, c *pgx.Conn) ([]string, error)
	// gateway returns the region in which the connection's node is, or "" if the database does not know it.
	gateway(ctx context.Context, c *pgx.Conn) (string, error)
}

type (
	cockroach struct{}
	postgres  struct{}
)

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
