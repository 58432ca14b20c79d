package backup

import (
	"cmp"
	"context"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
)

// CockroachDB's parser has accepted all statements in this file, but no CockroachDB has run them. See docs/cockroachdb.md.

// stateAge is the age of the state that a backup contains. The state is old enough that no transaction must wait for the backup.
const stateAge = 10 * time.Second

// BackupStatement returns the statement that backs up a database into a collection. The backup contains the revisions since the previous backup, so
// that a restore can choose any time between the two.
func BackupStatement(database, collection string) string {
	return fmt.Sprintf("BACKUP DATABASE %s INTO %s AS OF SYSTEM TIME '-%ds' WITH revision_history",
		pgx.Identifier{database}.Sanitize(), literal(collection), int(stateAge.Seconds()))
}

// BackupsStatement returns the statement that lists the backups in a collection, oldest first.
func BackupsStatement(collection string) string { return "SHOW BACKUPS IN " + literal(collection) }

// RestoreStatement returns the statement that restores a database from a collection, under a new name.
func RestoreStatement(database, subdirectory, collection, newName string) string {
	return fmt.Sprintf("RESTORE DATABASE %s FROM %s IN %s WITH new_db_name = %s",
		pgx.Identifier{database}.Sanitize(), literal(subdirectory), literal(collection), literal(newName))
}

// DropStatement returns the statement that drops a database with its content.
func DropStatement(database string) string {
	return "DROP DATABASE IF EXISTS " + pgx.Identifier{database}.Sanitize() + " CASCADE"
}

// Queries that a restore sends to the cluster.
const (
	databasesStatement      = "SELECT count(*) FROM [SHOW DATABASES] WHERE database_name = $1"
	clusterRegionsStatement = "SELECT region FROM [SHOW REGIONS FROM CLUSTER] ORDER BY region"
)

func literal(s string) string { return "'" + strings.ReplaceAll(s, "'", "''") + "'" }

var secretName = regexp.MustCompile(`(?i)secret|password|token|credential|_key$|sas`)

// checkNoSecret returns an error if a URI contains a secret, because other users can read command lines and job descriptions.
func checkNoSecret(collection string) error {
	u, err := url.Parse(collection)
	if err != nil {
		return fmt.Errorf("%w: the URI of the collection cannot be read", ErrUsage)
	}
	_, password := u.User.Password()
	for name := range u.Query() {
		password = password || secretName.MatchString(name)
	}
	if password {
		return fmt.Errorf("%w: the URI of the collection contains a secret, which other users can read on a command line. Run CREATE EXTERNAL CONNECTION backups AS '…' on the cluster and use external://backups", ErrUsage)
	}
	return nil
}

// collect makes a backup with CockroachDB's BACKUP.
func collect(ctx context.Context, c *pgx.Conn, o Options) (Manifest, error) {
	m := Manifest{Format: manifestFormat, Carve: o.Carve, Engine: CockroachDB, Tool: "BACKUP", Database: c.Config().Database, Collection: o.To}
	if err := checkNoSecret(o.To); err != nil {
		return m, err
	}
	if err := c.QueryRow(ctx, "SHOW crdb_version").Scan(&m.EngineVersion); err != nil {
		return m, err
	}
	if err := m.read(ctx, c); err != nil {
		return m, err
	}
	var now time.Time
	if err := c.QueryRow(ctx, "SELECT now()").Scan(&now); err != nil {
		return m, err
	}
	m.TakenAt = now.Add(-stateAge).UTC()
	if _, err := c.Exec(ctx, BackupStatement(m.Database, o.To)); err != nil {
		return m, fmt.Errorf("BACKUP: %w", err)
	}
	there, err := list(ctx, c, BackupsStatement(o.To))
	if err != nil || len(there) == 0 {
		return m, fmt.Errorf("cannot read the contents of the collection: %w", err)
	}
	m.Subdirectory = there[len(there)-1]
	was := m
	if err := m.read(ctx, c); err != nil {
		return m, err
	}
	if m.Schema != was.Schema || !slices.Equal(m.Regions, was.Regions) {
		return m, fmt.Errorf("%w: the database was migrated during the backup; make another backup", ErrUsage)
	}
	return m, m.write(o.Manifest)
}

// restoreCockroach restores a backup with RESTORE, which creates the database. If a database with that name exists, restoreCockroach first drops it.
func restoreCockroach(ctx context.Context, m Manifest, o RestoreOptions) error {
	collection := cmp.Or(o.From, m.Collection)
	if err := checkNoSecret(collection); err != nil {
		return err
	}
	cfg, err := pgx.ParseConfig(o.DSN)
	if err != nil {
		return fmt.Errorf("%w: the database URL is not valid; this message does not repeat it, because it may contain a password", ErrUsage)
	}
	c, engine, err := connectTo(ctx, cfg.Copy()) // CockroachDB accepts a connection to a database that does not exist
	if err != nil {
		return err
	}
	closeConn(ctx, c)
	if engine != CockroachDB {
		return fmt.Errorf("%w: a backup of CockroachDB cannot be restored into %s", ErrUsage, engine)
	}
	into := cfg.Database
	cfg.Database = "system" // the database system always exists
	if c, _, err = connectTo(ctx, cfg); err != nil {
		return err
	}
	defer closeConn(ctx, c)
	cluster, err := list(ctx, c, clusterRegionsStatement)
	if err != nil {
		return err
	}
	for _, region := range m.Regions {
		if !slices.Contains(cluster, region) {
			return fmt.Errorf("%w: the backup has %s, in this order, and the cluster has nodes in %s", ErrRegions, strings.Join(m.Regions, ", "), strings.Join(cluster, ", "))
		}
	}
	var there int
	if err := c.QueryRow(ctx, databasesStatement, into).Scan(&there); err != nil {
		return err
	}
	if there > 0 {
		if err := emptyCockroach(ctx, m, o, into); err != nil {
			return err
		}
	}
	for _, sql := range []string{DropStatement(into), RestoreStatement(m.Database, m.Subdirectory, collection, into)} {
		if _, err := c.Exec(ctx, sql); err != nil {
			return fmt.Errorf("%s: %w", strings.Fields(sql)[0], err)
		}
	}
	return nil
}

// emptyCockroach checks that the existing database may be dropped.
func emptyCockroach(ctx context.Context, m Manifest, o RestoreOptions, into string) error {
	c, _, err := connect(ctx, o.DSN)
	if err != nil {
		return err
	}
	defer closeConn(ctx, c)
	return mayBeReplaced(ctx, c, m, o, into)
}
