package schema

import (
	"context"
	"io/fs"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/internal/crdb/dial"
)

// engine is everything that differs between the databases about schemas, regions and roles.
type engine interface {
	// standing reads what the database says of its regions.
	standing(ctx context.Context, c *pgx.Conn) (standing, error)
	// regionSteps are what brings it to the regions and the survival goal that are asked for, or why that cannot be.
	regionSteps(s standing, o MigrateOptions) ([]ddl, error)
	// migrating is what a connection that makes tables asks for; locked is which of ours are locked against changes of their schema.
	migrating() map[string]string
	locked(ctx context.Context, c *pgx.Conn) ([]string, error)
	// files are the numbered files as the engine reads them, and localities what brings each table that is elsewhere to its place, in a database of so
	// many regions.
	files(regions int) fs.FS
	localities(ctx context.Context, c *pgx.Conn, regions int) ([]ddl, error)
	// createRole is the statement that makes a group role; raced tells an error of somebody else's being at the same role at the same moment.
	createRole(role string) string
	raced(code, message string) bool
	// closed is what takes DDL from everybody, and what the user cannot take; privileges are those on a table that a user may have, and more is what he
	// may beside them.
	closed(ctx context.Context, c *pgx.Conn, st roleState) (steps []ddl, problems []string, err error)
	privileges() []string
	more(ctx context.Context, c *pgx.Conn) ([]string, error)
	// gateway is the region that a connection ends in; empty where the database cannot know.
	gateway(ctx context.Context, c *pgx.Conn) (string, error)
}

type (
	cockroach struct{}
	postgres  struct{}
)

// detect asks a connection which engine it is one of.
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
