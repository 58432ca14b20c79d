package backup

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"

	"github.com/jackc/pgx/v5"
)

// load restores a PostgreSQL backup with pg_restore.
func load(ctx context.Context, m Manifest, o RestoreOptions) error {
	file := filepath.Join(o.From, dumpName)
	size, sum, err := digest(file, false)
	if err != nil {
		return errors.Join(ErrDamaged, err)
	}
	if size != m.Size || sum != m.SHA256 {
		return fmt.Errorf("%w: %s does not match its manifest", ErrDamaged, file)
	}
	c, engine, err := connect(ctx, o.DSN)
	if err != nil {
		return err
	}
	defer closeConn(ctx, c)
	if engine != PostgreSQL {
		return fmt.Errorf("%w: a backup of PostgreSQL cannot be restored into %s", ErrUsage, engine)
	}
	here, major, err := describePostgres(ctx, c, Options{})
	if err != nil {
		return err
	}
	if err := checkNoServers(ctx, c, here.Database); err != nil {
		return err
	}
	if err := mayBeReplaced(ctx, c, m, o, here.Database); err != nil {
		return err
	}
	// The pg_dump that made the backup may be newer than the server. An older pg_restore could not read its file.
	pgRestore, err := findTool(ctx, "pg_restore", o.DSN, max(major, majorOf(m.Tool)))
	if err != nil {
		return err
	}
	if err := dropAll(ctx, c); err != nil {
		return fmt.Errorf("cannot drop the contents of the database: %w", err)
	}
	if err := pgRestore.run(ctx, "--single-transaction", "--exit-on-error", "--no-owner", "--no-privileges", file); err != nil {
		return fmt.Errorf("nothing was restored, and the database is empty now: %w", err)
	}
	// PostgreSQL has no statistics before the first ANALYZE. Without them, it would read every claim to delete one.
	_, err = c.Exec(ctx, "ANALYZE")
	return err
}

// mayBeReplaced checks that a restore may replace the database's content.
func mayBeReplaced(ctx context.Context, c *pgx.Conn, m Manifest, o RestoreOptions, database string) error {
	has, err := contentOf(ctx, c)
	if err != nil {
		return err
	}
	return has.checkReplace(m, o, database)
}

// Idle returns an error if a server uses a PostgreSQL database. On CockroachDB it cannot check this, and returns nil.
func Idle(ctx context.Context, dsn string) error {
	c, engine, err := connect(ctx, dsn)
	if err != nil {
		return err
	}
	defer closeConn(ctx, c)
	if engine != PostgreSQL {
		return nil
	}
	return checkNoServers(ctx, c, c.Config().Database)
}

func checkNoServers(ctx context.Context, c *pgx.Conn, database string) error {
	var servers int
	if err := c.QueryRow(ctx, "SELECT count(*) FROM pg_catalog.pg_stat_activity WHERE datname = current_database() AND application_name = 'carve'").Scan(&servers); err != nil {
		return err
	}
	if servers > 0 {
		return fmt.Errorf("%w: %d sessions in database %q. Stop every server on it: their caches would not match the restored data", ErrInUse, servers, database)
	}
	return nil
}

// dropAll drops all of Carve's tables and types in one transaction.
func dropAll(ctx context.Context, c *pgx.Conn) error {
	has, err := contentOf(ctx, c)
	if err != nil {
		return err
	}
	drops := []string{"BEGIN"}
	if len(has.tables) > 0 {
		drops = append(drops, "DROP TABLE "+strings.Join(has.tables, ", ")+" CASCADE")
	}
	drops = append(drops, "DROP TYPE IF EXISTS crdb_internal_region", "COMMIT")
	_, err = c.Exec(ctx, strings.Join(drops, "; "))
	return err
}

// majorOf parses the major version from a program's output: 15 from "pg_dump (PostgreSQL) 15.18 (Debian 15.18-0+deb12u1)".
func majorOf(version string) (major int) {
	_, rest, _ := strings.Cut(version, "(PostgreSQL) ")
	_, _ = fmt.Sscanf(rest, "%d", &major)
	return major
}
