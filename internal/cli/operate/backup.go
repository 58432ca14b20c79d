package operate

import (
	"context"
	"strconv"

	"github.com/spf13/cobra"

	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/show"
)

func (p *Operator) backupCommand() *cobra.Command {
	var t target
	var to, manifest string
	cmd := &cobra.Command{
		Use:   "backup",
		Short: "Back up the database with its own tools, while servers work",
		Long: `Backs up the database, and writes a manifest with the schema, the regions in their order, the engine and the time.

PostgreSQL: pg_dump writes one consistent state, of the printed time, into a new directory. ipamctl searches for pg_dump where the
server searches for PostgreSQL. pg_dump must not be older than the database.

CockroachDB: BACKUP DATABASE … INTO … AS OF SYSTEM TIME '-10s' WITH revision_history. The nodes write the backup, so --to is the URI
of a collection that all nodes can reach. Prefer an external connection, because other users can read a command line and the secrets
in it. --manifest is the file for the manifest.

A backup contains hashes of API keys, names and labels: protect it like the database.`,
		Example: `  ipamctl backup --data-dir ./data --to /backups/2026-11-22
  ipamctl backup --database-url postgresql://carve@db.example.com/carve --to /backups/2026-11-22
  ipamctl backup --database-url postgresql://carve@crdb.example.com:26257/carve --to external://backups --manifest 2026-11-22.json`,
		RunE: p.verb("a backup has no name", func(ctx context.Context) error {
			if to == "" {
				return exit.Usagef("no target is given: use --to with a directory, or on CockroachDB with the URI of a collection")
			}
			dsn, err := p.dsn(t)
			if err != nil {
				return err
			}
			defer p.Waiting("backing up")()
			made, err := p.Backup(ctx, backup.Options{DSN: dsn, To: to, Manifest: manifest, Carve: p.Version})
			if err != nil {
				return aboutBackup(err)
			}
			return p.showManifest(made)
		}),
	}
	t.add(cmd)
	cmd.Flags().StringVar(&to, "to", "", "target: a new `DIRECTORY`; on CockroachDB the URI of a collection")
	cmd.Flags().StringVar(&manifest, "manifest", "", "on CockroachDB: `FILE` for the manifest of the backup")
	return cmd
}

func (p *Operator) showManifest(m backup.Manifest) error {
	if p.Structured() {
		return p.DocumentOf(m)
	}
	if p.Quiet {
		return nil
	}
	return p.Write(show.Table(p.Printer, show.Columns(`
		TAKEN AT: takenAt
		DATABASE: database
		ENGINE: engine with version
		SCHEMA: schema
		REGIONS: regions
		BYTES: bytes`, show.Cells[backup.Manifest]{
		"engine with version": func(m backup.Manifest) string { return m.Engine + " " + m.EngineVersion },
		"bytes": func(m backup.Manifest) string {
			if m.Size == 0 {
				return "-"
			}
			return strconv.FormatInt(m.Size, 10)
		},
	}), []backup.Manifest{m}))
}
