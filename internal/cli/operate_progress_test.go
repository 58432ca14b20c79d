package cli_test

import (
	"bytes"
	"context"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/cli"
	"github.com/carve-ipam/carve/internal/cli/operate"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// slowDatabase returns a database whose operations take 1.5 seconds. The time is on the clock of the synctest bubble, so the test does not really
// wait.
func slowDatabase() operate.Database {
	long := func() { <-time.After(1500 * time.Millisecond) }
	return operate.Database{
		Migrate: func(context.Context, string, schema.MigrateOptions) error { long(); return nil },
		Audit:   func(context.Context, string) (audit.Report, error) { long(); return audit.Report{}, nil },
		Reconcile: func(context.Context, string, string, operate.Reconciling) ([]operate.Reconciled, error) {
			long()
			return nil, nil
		},
		Retain: func(context.Context, string, time.Duration, time.Duration) (operate.Retained, error) {
			long()
			return operate.Retained{}, nil
		},
		Backup: func(context.Context, backup.Options) (backup.Manifest, error) { long(); return backup.Manifest{}, nil },
		Restore: func(context.Context, backup.RestoreOptions) (backup.Manifest, error) {
			long()
			return backup.Manifest{}, nil
		},
		Idle:        func(context.Context, string) error { return nil },
		CheckSchema: func(context.Context, string) error { return nil },
		RenewEpochs: func(context.Context, string) (crdb.Epochs, error) { return crdb.Epochs{}, nil },
		Rights:      func(context.Context, string) ([]crdb.Right, error) { return nil, nil },
	}
}

func TestLongDatabaseWorkShowsProgress(t *testing.T) {
	t.Parallel()
	for said, args := range map[string][]string{
		"migrating, 1 s":                {"migrate"},
		"checking the database, 1 s":    {"audit"},
		"deleting old records, 1 s":     {"retention"},
		"reconciling, 1 s":              {"region", "reconcile"},
		"backing up, 1 s":               {"backup", "--to", "/backups/today"},
		"restoring, 1 s":                {"restore", "--from", "/backups/today"},
		"epochs: 0\n\r\x1b[Kchecking t": {"restored"},
	} {
		t.Run(args[0], func(t *testing.T) {
			t.Parallel()
			for _, watched := range []bool{true, false} {
				synctest.Test(t, func(t *testing.T) {
					var out, aside bytes.Buffer
					code := cli.Run(t.Context(), append(args, "--database-url", "postgresql://nowhere/carve"), cli.Environment{
						In: &bytes.Buffer{}, Out: &out, Err: &aside, Watched: watched, Database: slowDatabase(), Env: func(string) (string, bool) { return "", false },
					})
					require.Zero(t, code, aside.String())
					if watched {
						require.Contains(t, aside.String(), said)
					} else {
						require.NotContains(t, aside.String(), "\r")
					}
				})
			}
		})
	}
}
