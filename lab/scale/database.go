package scale

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"github.com/carve-ipam/carve/lab/postgres"
)

// database is the private PostgreSQL for all measurements. Each cell has its own database on it.
type database struct {
	*postgres.Database
	keyed bool // each claim has an idempotency key
}

// errNoStatistics reports that this PostgreSQL cannot count the cost of each statement.
var errNoStatistics = errors.New("this PostgreSQL has no pg_stat_statements, which counts what each statement costs: install PostgreSQL's contrib modules (Debian's package postgresql has them)")

// startDatabase starts PostgreSQL with the module pg_stat_statements, which counts the cost of each statement.
func startDatabase(ctx context.Context, dir string, volatile bool) (*database, error) {
	d, err := postgres.Start(ctx, postgres.Options{Dir: dir, Connections: 50, Volatile: volatile, Prepare: prepare})
	if err != nil {
		return nil, err
	}
	if _, err := d.Admin.Exec(ctx, "CREATE EXTENSION pg_stat_statements"); err != nil {
		return nil, errors.Join(err, d.Close())
	}
	return &database{Database: d}, nil
}

// prepare configures the server before its start. Bulk loads write much log quickly. With the default log limit, they would cause a checkpoint every
// few seconds.
func prepare(ctx context.Context, conn *pgx.Conn) error {
	var there bool
	if err := conn.QueryRow(ctx, "SELECT EXISTS (SELECT 1 FROM pg_available_extensions WHERE name = 'pg_stat_statements')").Scan(&there); err != nil {
		return err
	}
	if !there {
		return errNoStatistics
	}
	for _, sql := range []string{"ALTER SYSTEM SET shared_preload_libraries = 'pg_stat_statements'", "ALTER SYSTEM SET max_wal_size = '4GB'"} {
		if _, err := conn.Exec(ctx, sql); err != nil {
			return err
		}
	}
	return nil
}
