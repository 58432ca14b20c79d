package operate

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
)

// restoreFlags has the flags for the command restore.
type restoreFlags struct {
	target
	from, manifest  string
	replace         bool
	keepRevocations bool
	regions         []string
	roles           roleFlags
}

func (p *Operator) restoreCommand() *cobra.Command {
	var f restoreFlags
	cmd := &cobra.Command{
		Use:   "restore",
		Short: "Restore a backup into an empty database, and audit it",
		Long: `Restores a backup of 'ipamctl backup', updates the schema to this version, and audits the result. It gives every pool in every region a
new epoch, which invalidates all data that servers read before. Stop every server of the database first. With --data-dir no server may
run; the command starts the embedded database and stops it at the end.

It refuses these cases before it changes anything: a database with data (--replace drops it); a database in use by a server; a database
with other regions than the backup, or with the same regions in another order; a backup of a later schema; a file that differs from the
one that the backup wrote.

With --replace it reads the API keys, members and grants of the old database, and revokes again those that were revoked since the backup.
It lists them, and every quota whose limits change. Without an old database it lists the rights in the backup, the newest first.

The restored database lacks all changes since the backup. Addresses that were allocated since then count as free, and servers would
allocate them again: read docs/runbooks/restore.md before you start servers. Idempotency keys since then are lost too: a retry becomes
a new request.

Exit code 0: restored, and the audit is clean. 1: restored with findings, which it printed, or not restored.
4: refused, and nothing changed.`,
		Example: `  ipamctl restore --data-dir ./data --from /backups/2026-11-22
  ipamctl restore --database-url postgresql://carve@db.example.com/carve --from /backups/2026-11-22
  ipamctl restore --database-url postgresql://carve@crdb.example.com:26257/carve --manifest 2026-11-22.json`,
		RunE: p.verb("findings have no names", func(ctx context.Context) error {
			if f.from == "" && f.manifest == "" {
				return exit.Usagef("no backup is given: use --from with its directory, or on CockroachDB --manifest with its file")
			}
			look := func() error {
				_, err := backup.Look(f.options(""))
				return err
			}
			return p.withIdleDatabase(ctx, f.target, look, func(dsn string) error { return p.restore(ctx, dsn, f) })
		}),
	}
	f.add(cmd)
	cmd.Flags().StringVar(&f.from, "from", "", "`DIRECTORY` of a backup; on CockroachDB the URI of the collection (default: the URI in the manifest)")
	cmd.Flags().StringVar(&f.manifest, "manifest", "", "on CockroachDB: `FILE` with the manifest of the backup")
	cmd.Flags().BoolVar(&f.replace, "replace", false, "drop the data in the database")
	cmd.Flags().BoolVar(&f.keepRevocations, "keep-revocations", true, "with --replace: revoke again keys, members and grants that were revoked since the backup")
	cmd.Flags().StringSliceVar(&f.regions, "regions", nil, "refuse a backup without exactly these `REGIONS` in this order")
	f.roles.add(cmd)
	return cmd
}

// withIdleDatabase calls work with the DSN for a database that no server uses.
//
// If the database is at a URL, work must check that the database has no other sessions. If it is in a data directory, withIdleDatabase starts the
// database engine and stops it after work. That start can create a new cluster. Therefore it first calls look, which makes all checks that need no
// database.
func (p *Operator) withIdleDatabase(ctx context.Context, t target, look func() error, work func(dsn string) error) error {
	t, err := p.named(t)
	if err != nil {
		return err
	}
	if t.url != "" || t.dataDir == "" {
		dsn, err := p.dsn(t)
		if err != nil {
			return err
		}
		return work(dsn)
	}
	if err := look(); err != nil {
		return aboutBackup(err)
	}
	dsn, stop, err := p.Start(ctx, t.dataDir)
	if errors.Is(err, devdb.ErrInUse) {
		return databaseError{fmt.Errorf("stop the server first: %w", err), exit.Conflict}
	}
	if err != nil {
		return databaseError{err, exit.Unavailable}
	}
	return errors.Join(work(dsn), stop(context.WithoutCancel(ctx)))
}

// startEmbedded implements [Database.Start].
func startEmbedded(ctx context.Context, dataDir string) (string, func(context.Context) error, error) {
	db, err := devdb.Start(ctx, devdb.Config{DataDir: dataDir})
	if err != nil {
		return "", nil, err
	}
	return db.DSN(), db.Stop, nil
}

// options converts the flags to options for a restore into a database.
func (f *restoreFlags) options(dsn string) backup.RestoreOptions {
	return backup.RestoreOptions{
		DSN: dsn, From: f.from, Manifest: f.manifest, Replace: f.replace, Regions: f.regions, Schema: schema.Version(),
	}
}

func (p *Operator) restore(ctx context.Context, dsn string, f restoreFlags) error {
	granted, err := f.roles.options()
	if err != nil {
		return err
	}
	done := p.Waiting("restoring")
	defer done()
	was, err := p.replaced(ctx, dsn, f)
	if err != nil {
		return err
	}
	m, err := p.Restore(ctx, f.options(dsn))
	if err != nil {
		return aboutBackup(err)
	}
	p.Remark("restored: the state of %s, schema %d, regions %s", m.TakenAt.Format(time.RFC3339), m.Schema, strings.Join(m.Regions, ","))
	if err := p.Migrate(ctx, dsn, schema.MigrateOptions{Regions: m.Regions, Roles: granted, Report: func(s string) { p.Remark("%s", s) }}); err != nil {
		return offline(err)
	}
	done()
	if err := p.rights(ctx, dsn, was); err != nil {
		return err
	}
	return p.renewed(ctx, dsn)
}

// aboutBackup adds exit codes to package backup's errors.
func aboutBackup(err error) error {
	switch {
	case errors.Is(err, backup.ErrUsage):
		return exit.UsageError(strings.TrimPrefix(err.Error(), backup.ErrUsage.Error()+": ")) // the exit code already means this prefix
	case errors.Is(err, backup.ErrNotEmpty), errors.Is(err, backup.ErrInUse), errors.Is(err, backup.ErrRegions):
		return databaseError{err, exit.Conflict}
	default:
		return offline(err)
	}
}
