package backup_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/crdb/schema"
)

// whole returns a backup of a database that has content.
func whole(t *testing.T) (dir string, m backup.Manifest) {
	t.Helper()
	dsn := migrated(t, region)
	svc, stop := serve(t, dsn)
	withPool(t, svc)
	_, err := claim(t, svc, "claim")
	require.NoError(t, err)
	stop()
	return create(t, dsn)
}

// If a restore is refused, it must not have changed anything.
func TestRefusedRestoreChangesNothing(t *testing.T) {
	t.Parallel()
	dir, m := whole(t)
	for name, c := range map[string]struct {
		prepare func(t *testing.T, dsn string)
		options func(*backup.RestoreOptions)
		spoil   func(t *testing.T, dir string)
		want    error
		says    string
	}{
		"ADatabaseThatHoldsSomething": {
			prepare: func(t *testing.T, dsn string) {
				t.Helper()
				svc, stop := serve(t, dsn)
				defer stop()
				withPool(t, svc)
			},
			want: backup.ErrNotEmpty, says: "--replace",
		},
		"ADatabaseWithTablesOfOthers": {
			prepare: func(t *testing.T, dsn string) { t.Helper(); exec(t, dsn, "CREATE TABLE diary (word TEXT)") },
			options: func(o *backup.RestoreOptions) { o.Replace = true },
			want:    backup.ErrNotEmpty, says: "diary",
		},
		"ADatabaseThatAServerWorksOn": {
			prepare: func(t *testing.T, dsn string) {
				t.Helper()
				_, stop := serve(t, dsn)
				t.Cleanup(stop)
			},
			options: func(o *backup.RestoreOptions) { o.Replace = true },
			want:    backup.ErrInUse, says: "Stop every server",
		},
		"OtherRegionsThanWereExpected": {
			options: func(o *backup.RestoreOptions) { o.Regions = []string{"eu-west"} },
			want:    backup.ErrRegions, says: "the backup has local, in this order, and --regions has eu-west",
		},
		"ALaterSchema": {
			options: func(o *backup.RestoreOptions) { o.Schema = m.Schema - 1 },
			want:    backup.ErrUsage, says: "or a later one",
		},
		"ABackupThatIsCutOff": {
			spoil: func(t *testing.T, dir string) {
				t.Helper()
				require.NoError(t, os.Truncate(filepath.Join(dir, "carve.dump"), m.Size/2))
			},
			want: backup.ErrDamaged, says: "carve.dump",
		},
		"ABackupOfTheOtherEngine": {
			spoil: func(t *testing.T, dir string) {
				t.Helper()
				rewrite(t, dir, func(m *backup.Manifest) { m.Engine, m.Collection = backup.CockroachDB, "nodelocal://1/carve" })
			},
			want: backup.ErrUsage, says: "cannot be restored into postgresql",
		},
		"OneWithoutAManifest": {
			spoil: func(t *testing.T, dir string) {
				t.Helper()
				require.NoError(t, os.Remove(filepath.Join(dir, "manifest.json")))
			},
			says: "a backup that was cut off has no manifest",
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dsn, from := migrated(t, region), dir
			if c.prepare != nil {
				c.prepare(t, dsn)
			}
			if c.spoil != nil {
				from = filepath.Join(t.TempDir(), "copy")
				require.NoError(t, os.CopyFS(from, os.DirFS(dir)))
				c.spoil(t, from)
			}
			before := dump(t, dsn)
			err := restore(t, dsn, from, func(o *backup.RestoreOptions) {
				if c.options != nil {
					c.options(o)
				}
			})
			require.ErrorContains(t, err, c.says)
			if c.want != nil {
				require.ErrorIs(t, err, c.want)
			}
			require.Equal(t, before, dump(t, dsn))
		})
	}
}

func rewrite(t *testing.T, dir string, change func(*backup.Manifest)) {
	t.Helper()
	m, err := backup.ReadManifest(dir)
	require.NoError(t, err)
	change(&m)
	text, err := json.Marshal(m)
	require.NoError(t, err)
	require.NoError(t, os.WriteFile(filepath.Join(dir, "manifest.json"), text, 0o600))
}

// A backup contains the order in which the regions were added. If the database has another order, the restore is refused.
func TestRestoreNeedsTheSameRegionsInOrder(t *testing.T) {
	t.Parallel()
	dir, m := create(t, migrated(t, "eu-west", "us-east", "ap-south"))
	require.Equal(t, []string{"eu-west", "us-east", "ap-south"}, m.Regions)
	for name, c := range map[string]struct {
		regions []string
		want    error
	}{
		"TheSame":      {[]string{"eu-west", "us-east", "ap-south"}, nil},
		"AnotherOrder": {[]string{"eu-west", "ap-south", "us-east"}, backup.ErrRegions},
		"OneMore":      {[]string{"eu-west", "us-east", "ap-south", "local"}, backup.ErrRegions},
		"OneLess":      {[]string{"eu-west", "us-east"}, backup.ErrRegions},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			require.ErrorIs(t, restore(t, migrated(t, c.regions...), dir), c.want)
		})
	}
}

func TestRestoreWithReplaceOverwritesADatabase(t *testing.T) {
	t.Parallel()
	dir, _ := whole(t)
	dsn := migrated(t, region)
	svc, stop := serve(t, dsn)
	withPool(t, svc)
	_, err := claim(t, svc, "other")
	require.NoError(t, err)
	stop()
	require.NoError(t, restore(t, dsn, dir, func(o *backup.RestoreOptions) { o.Replace = true }))
	finish(t, dsn)
	svc, stop = serve(t, dsn)
	defer stop()
	_, err = svc.GetClaim(admin(t), project, "claim", usecase.Reading{})
	require.NoError(t, err)
	_, err = svc.GetClaim(admin(t), project, "other", usecase.Reading{})
	require.Error(t, err)
}

func TestBackupIsCompleteInItsOwnDirectoryOrAbsent(t *testing.T) {
	t.Parallel()
	dir, _ := whole(t)
	dsn := migrated(t, region)
	fi, err := os.Stat(dir)
	require.NoError(t, err)
	require.Equal(t, os.FileMode(0o700), fi.Mode().Perm())
	for _, file := range []string{"carve.dump", "manifest.json"} {
		fi, err := os.Stat(filepath.Join(dir, file))
		require.NoError(t, err)
		require.Equal(t, os.FileMode(0o600), fi.Mode().Perm())
	}
	_, err = backup.Create(t.Context(), backup.Options{DSN: dsn, To: dir})
	require.ErrorIs(t, err, backup.ErrUsage, "there is one already")

	older := filepath.Join(t.TempDir(), "older.dump")
	require.NoError(t, os.WriteFile(older, []byte("a backup of another kind"), 0o600))
	_, err = backup.Create(t.Context(), backup.Options{DSN: dsn, To: older})
	require.ErrorIs(t, err, backup.ErrUsage, "a file is no directory")
	require.FileExists(t, older)

	empty := t.TempDir() // an existing directory is allowed if it is empty
	_, err = backup.Create(t.Context(), backup.Options{DSN: dsn, To: empty})
	require.NoError(t, err)

	exec(t, dsn, "DROP TABLE goose_db_version")
	failed := filepath.Join(t.TempDir(), "failed")
	_, err = backup.Create(t.Context(), backup.Options{DSN: dsn, To: failed})
	require.ErrorContains(t, err, "does not have Carve's schema")
	entries, err := os.ReadDir(filepath.Dir(failed))
	require.NoError(t, err)
	require.Empty(t, entries)
}

func TestContradictoryBackupOptionsAreRefused(t *testing.T) {
	t.Parallel()
	dsn := migrated(t, region)
	for says, o := range map[string]backup.Options{
		"goes into a directory": {DSN: dsn, To: "s3://bucket/carve"},
		"contains its manifest": {DSN: dsn, To: t.TempDir(), Manifest: "file"},
	} {
		_, err := backup.Create(t.Context(), o)
		require.ErrorIs(t, err, backup.ErrUsage)
		require.ErrorContains(t, err, says)
	}
	err := restore(t, dsn, "external://backups")
	require.ErrorIs(t, err, backup.ErrUsage)
	require.ErrorContains(t, err, "--manifest")
	require.Positive(t, schema.Version())
}
