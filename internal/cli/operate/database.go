// Package operate contains the commands that work on the database itself and not through a server.
package operate

import (
	"context"
	"errors"
	"net"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/verbs"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
)

// Database gives the commands for operators access to a database. The commands do not need a running server.
type Database struct {
	// Migrate brings the schema to this build's version.
	Migrate func(ctx context.Context, dsn string, o schema.MigrateOptions) error
	// Audit checks every invariant of the data.
	Audit func(ctx context.Context, dsn string) (audit.Report, error)
	// Bootstrap creates an API key with the role admin in the project "platform" and returns its token. The caller sets it, because this package does
	// not import the use cases.
	Bootstrap func(ctx context.Context, dsn, region string) (token string, err error)
	// Reconcile compares each pool that does not serve claims in a region because a restore left different versions of its data there. It opens
	// the pools that match and returns the findings for each pool. The caller sets it too.
	Reconcile func(ctx context.Context, dsn, region string, o Reconciling) ([]Reconciled, error)
	// Retain deletes expired records. If events is 0, it keeps the audit trail for ever. If holds is 0, it keeps the holds for ever. The
	// caller sets it too.
	Retain func(ctx context.Context, dsn string, events, holds time.Duration) (Retained, error)
	// Find returns the DSN for an embedded database. A running server has started the database in a data directory.
	Find func(dataDir string) (dsn string, err error)
	// Start starts the embedded database in a data directory without a server. The database runs until stop is called.
	Start func(ctx context.Context, dataDir string) (dsn string, stop func(context.Context) error, err error)
	// Backup and Restore call the database engine's tools.
	Backup  func(ctx context.Context, o backup.Options) (backup.Manifest, error)
	Restore func(ctx context.Context, o backup.RestoreOptions) (backup.Manifest, error)
	// Idle returns an error if a server uses the database.
	Idle func(ctx context.Context, dsn string) error
	// CheckSchema returns an error if the database's schema is older than this build's schema.
	CheckSchema func(ctx context.Context, dsn string) error
	// RenewEpochs gives each region's rows new versions, so that nothing that a server read before a restore is valid.
	RenewEpochs func(ctx context.Context, dsn string) (crdb.Epochs, error)
	// Rights reads the API keys, members, grants and quotas in a database. EndRights revokes the rights that were revoked before a restore and that
	// the restore has made valid again.
	Rights    func(ctx context.Context, dsn string) ([]crdb.Right, error)
	EndRights func(ctx context.Context, dsn string, r crdb.Revival) error
}

// RealDatabase returns the access that servers use. The caller adds the use cases, such as Bootstrap.
func RealDatabase() Database {
	return Database{
		Migrate: schema.Migrate, Audit: audit.Run, Find: devdb.Find, Start: startEmbedded,
		Backup: backup.Create, Restore: backup.Restore, Idle: backup.Idle, CheckSchema: schema.Check, RenewEpochs: crdb.RenewEpochs,
		Rights: crdb.Rights, EndRights: crdb.EndRights,
	}
}

// Operator is a program that works on a database.
type Operator struct {
	*session.Program
	Database
}

// Commands returns the commands that work on a database.
func (p *Operator) Commands() []*cobra.Command {
	return []*cobra.Command{
		p.migrateCommand(), p.auditCommand(), p.retentionCommand(), p.backupCommand(), p.restoreCommand(), p.restoredCommand(), p.bootstrapCommand(),
	}
}

// verb returns a cobra RunE function that calls the function run. It refuses -o name, because the result has no name. The parameter what describes
// the result for this refusal.
func (p *Operator) verb(what string, run func(ctx context.Context) error) func(*cobra.Command, []string) error {
	return p.Verb(func(ctx context.Context, _ []string) error {
		if p.Output == show.FormatName {
			return exit.Usagef("%s: use -o table, json or yaml", what)
		}
		return run(ctx)
	})
}

// target has the flags that name a database. It is for commands without arguments.
type target struct{ url, urlFile, dataDir string }

func (t *target) add(cmd *cobra.Command) {
	verbs.Bare(cmd)
	cmd.Flags().StringVar(&t.url, "database-url", "", "`URL` of the CockroachDB or PostgreSQL to work on (env CARVE_DATABASE_URL)")
	cmd.Flags().StringVar(&t.urlFile, "database-url-file", "", "`FILE` that contains the URL, so that no list of processes shows a password in it (env CARVE_DATABASE_URL_FILE)")
	cmd.Flags().StringVar(&t.dataDir, "data-dir", "", "data `DIRECTORY` of a running server with an embedded database, instead of a URL (env CARVE_DATA_DIR)")
	cmd.MarkFlagsMutuallyExclusive("database-url", "database-url-file", "data-dir")
	if err := cmd.MarkFlagDirname("data-dir"); err != nil {
		panic(err) // the flag does not exist, which is a mistake in this function
	}
}

// named returns the database that the flags or the environment name. Flags take precedence. If there is a file with a URL, named reads it.
func (p *Operator) named(t target) (target, error) {
	if t == (target{}) {
		t = target{p.Env("CARVE_DATABASE_URL"), p.Env("CARVE_DATABASE_URL_FILE"), p.Env("CARVE_DATA_DIR")}
		if t.url != "" && t.urlFile != "" {
			return t, exit.Usagef("CARVE_DATABASE_URL and CARVE_DATABASE_URL_FILE are both set; set only one of them")
		}
	}
	if t.urlFile != "" {
		url, err := dial.URLFromFile(t.urlFile)
		if err != nil {
			return t, exit.Usagef("--database-url-file: %v", err)
		}
		t.url = url
	}
	return t, nil
}

// dsn returns the DSN for the database that the flags or the environment name.
func (p *Operator) dsn(t target) (string, error) {
	t, err := p.named(t)
	switch {
	case err != nil:
		return "", err
	case t.url != "":
		return t.url, nil
	case t.dataDir != "":
		dsn, err := p.Find(t.dataDir)
		if err != nil {
			return "", databaseError{err, exit.Unavailable}
		}
		return dsn, nil
	default:
		return "", exit.Usagef("no database is given: use --database-url, --database-url-file (or CARVE_DATABASE_URL, CARVE_DATABASE_URL_FILE), or --data-dir of a running server")
	}
}

// databaseError is a database's error with an exit code.
type databaseError struct {
	error
	code int
}

func (e databaseError) ExitCode() int { return e.code }
func (e databaseError) Unwrap() error { return e.error }

// offline adds the exit code "unavailable" to an error if the database cannot be reached. It returns all other errors unchanged.
func offline(err error) error {
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return databaseError{err, exit.Unavailable}
	}
	return err
}
