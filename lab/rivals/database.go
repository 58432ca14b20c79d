package rivals

import (
	"context"

	"github.com/jackc/pgx/v5/pgxpool"

	"github.com/carve-ipam/carve/lab/postgres"
)

// database is the database server for all contestants. Each cell gets a new database on it. On CockroachDB, the cells of Carve share one database.
type database struct {
	*postgres.Database
	seeded map[string]string // databases that cells copy, by their content
	shared int               // number of cells that have used the shared database
}

func startDatabase(ctx context.Context, o options) (*database, error) {
	d, err := postgres.Start(ctx, postgres.Options{URL: o.url, Dir: o.data, Connections: 200})
	return &database{Database: d, seeded: map[string]string{}}, err
}

// fresh makes an empty database with PostgreSQL's own default isolation, read committed, and returns its name. The rivals were written for it and are
// faster with it. The embedded server's default is serializable, which Carve needs.
func (d *database) fresh(ctx context.Context) (string, error) {
	name, err := d.Copy(ctx, "template0")
	if err == nil && !d.Cockroach {
		_, err = d.Admin.Exec(ctx, "ALTER DATABASE "+name+" SET default_transaction_isolation = 'read committed'")
	}
	return name, err
}

// pool opens a connection pool with a connection for each client.
func (d *database) pool(ctx context.Context, name string, clients int) (*pgxpool.Pool, error) {
	config, err := pgxpool.ParseConfig(d.DSN(name))
	if err != nil {
		return nil, err
	}
	config.MaxConns = int32(clients) //nolint:gosec // at most 64
	return pgxpool.NewWithConfig(ctx, config)
}
