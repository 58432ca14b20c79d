// Package operate has the verbs that work on the database itself and not through a server.
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
	"github.com/carve-ipam/carve/internal/cli/verbs"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/dial"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
)

// Database is how operator verbs reach a database: not through a server, so that they work when none does.
type Database struct {
	// Migrate brings the schema to this build's version.
	Migrate func(ctx context.Context, dsn string, o schema.MigrateOptions) error
	// Audit checks every invariant of the data.
	Audit func(ctx context.Context, dsn string) (audit.Report, error)
	// Bootstrap makes an API key with the role admin in the project "platform" and answers its token. It is a use case, which
	// this package does not know: nil in a build that was not given it.
	Bootstrap func(ctx context.Context, dsn, region string) (token string, err error)
	// Reconcile opens the pools that a region was fenced off from, and answers what was found of each. A use case, as Bootstrap is.
	Reconcile func(ctx context.Context, dsn, region string, o Reconciling) ([]Reconciled, error)
	// Retain deletes records that are too old; 0 keeps those of the audit trail, or holds, for ever. A use case, as Bootstrap is.
	Retain func(ctx context.Context, dsn string, events, holds time.Duration) (Retained, error)
	// Find answers the DSN of the embedded database that a running server keeps in a data directory.
	Find func(dataDir string) (dsn string, err error)
	// Start brings the embedded database of a data directory up, where no server runs, until stop is called.
	Start func(ctx context.Context, dataDir string) (dsn string, stop func(context.Context) error, err error)
	// Backup and Restore wrap the engine's own tools.
	Backup  func(ctx context.Context, o backup.Options) (backup.Manifest, error)
	Restore func(ctx context.Context, o backup.RestoreOptions) (backup.Manifest, error)
	// Idle refuses a database that a server works on.
	Idle func(ctx context.Context, dsn string) error
	// CheckSchema refuses a database whose schema is older than this build's.
	CheckSchema func(ctx context.Context, dsn string) error
	// RenewEpochs fences off what was read before a restore.
	RenewEpochs func(ctx context.Context, dsn string) (crdb.Epochs, error)
	// Rights reads the API keys, members, grants and quotas in a database, and EndRights revokes again what a restore has revived.
	Rights    func(ctx context.Context, dsn string) ([]crdb.Right, error)
	EndRights func(ctx context.Context, dsn string, r crdb.Revival) error
}

// RealDatabase reaches databases as the server does. Bootstrap is for whoever knows the use cases to add.
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

// Commands are the verbs on a database.
func (p *Operator) Commands() []*cobra.Command {
	return []*cobra.Command{
		p.migrateCommand(), p.auditCommand(), p.retentionCommand(), p.backupCommand(), p.restoreCommand(), p.restoredCommand(), p.bootstrapCommand(),
	}
}

// target are the flags that name a database, of verbs without arguments.
type target struct{ url, urlFile, dataDir string }

func (t *target) add(cmd *cobra.Command) {
	verbs.Bare(cmd)
	cmd.Flags().StringVar(&t.url, "database-url", "", "`URL` of the CockroachDB or PostgreSQL to work on (env CARVE_DATABASE_URL)")
	cmd.Flags().StringVar(&t.urlFile, "database-url-file", "", "instead: the `FILE` that holds the URL, so that a password in it is in no list of processes (env CARVE_DATABASE_URL_FILE)")
	cmd.Flags().StringVar(&t.dataDir, "data-dir", "", "instead: the data `DIRECTORY` of a running server with an embedded database (env CARVE_DATA_DIR)")
	cmd.MarkFlagsMutuallyExclusive("database-url", "database-url-file", "data-dir")
	if err := cmd.MarkFlagDirname("data-dir"); err != nil {
		panic(err) // the flag is not there: a mistake in this function
	}
}

// named is the database that was named, by a flag before the environment. A URL in a file is read.
func (p *Operator) named(t target) (target, error) {
	if t == (target{}) {
		t = target{p.Env("CARVE_DATABASE_URL"), p.Env("CARVE_DATABASE_URL_FILE"), p.Env("CARVE_DATA_DIR")}
		if t.url != "" && t.urlFile != "" {
			return t, exit.Usagef("CARVE_DATABASE_URL and CARVE_DATABASE_URL_FILE both say which database; set one of them")
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

// dsn is how to reach the database that was named.
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
		return "", exit.Usagef("which database? Give --database-url, --database-url-file (or CARVE_DATABASE_URL, CARVE_DATABASE_URL_FILE), or --data-dir of a running server")
	}
}

// databaseError is a database that could not be worked on.
type databaseError struct {
	error
	code int
}

func (e databaseError) ExitCode() int { return e.code }
func (e databaseError) Unwrap() error { return e.error }

// offline tells a database that cannot be reached from one that says no.
func offline(err error) error {
	var network net.Error
	if errors.As(err, &network) || errors.Is(err, context.Canceled) || errors.Is(err, context.DeadlineExceeded) {
		return databaseError{err, exit.Unavailable}
	}
	return err
}
