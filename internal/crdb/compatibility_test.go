package crdb_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/migrations"
)

// needSchema makes the database need programs that know a schema: what a later version's migration does.
func needSchema(t *testing.T, dsn string, number int64) {
	t.Helper()
	tag, err := connect(t, dsn, nil).Exec(t.Context(), "UPDATE compatibility SET minimum = $1", number)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected(), "migrate has written the first value")
}

func TestAProgramThatIsTooOldForItsDatabaseRefusesToWorkOnIt(t *testing.T) {
	t.Parallel()
	dsn, ctx := dbtest.New(t), t.Context()
	ways := map[string]func() error{
		"CheckUser":   func() error { _, err := crdb.CheckUser(ctx, dsn, crdb.ServerRole); return err },
		"CheckSchema": func() error { return crdb.CheckSchema(ctx, dsn) },
		"Open": func() error {
			s, err := crdb.Open(ctx, dsn, crdb.Options{Region: region})
			if err == nil {
				s.Close()
			}
			return err
		},
		"Migrate":     func() error { return crdb.Migrate(ctx, dsn, crdb.MigrateOptions{Regions: []string{region}}) },
		"Audit":       func() error { _, err := crdb.Audit(ctx, dsn); return err },
		"RenewEpochs": func() error { _, err := crdb.RenewEpochs(ctx, dsn); return err },
	}
	needSchema(t, dsn, crdb.SchemaVersion())
	for name, way := range ways {
		require.NoError(t, way(), name)
	}
	ways["Backup"] = func() error {
		_, err := backup.Create(ctx, backup.Options{DSN: dsn, To: filepath.Join(t.TempDir(), "backup")})
		return err
	}
	needSchema(t, dsn, crdb.SchemaVersion()+1)
	before := dump(t, connect(t, dsn, nil))
	for name, way := range ways {
		err := way()
		require.ErrorIs(t, err, crdb.ErrTooOld, name)
		require.ErrorContains(t, err, "programs must know number", name)
	}
	require.Equal(t, before, dump(t, connect(t, dsn, nil)))
}

// nextSchema is this program's numbered files and one of a later version, which adds what this program does not know.
func nextSchema(t *testing.T) fs.FS {
	t.Helper()
	files := fstest.MapFS{}
	ours, err := migrations.FS.ReadDir(".")
	require.NoError(t, err)
	for _, f := range ours {
		text, err := migrations.FS.ReadFile(f.Name())
		require.NoError(t, err)
		files[f.Name()] = &fstest.MapFile{Data: text}
	}
	files[fmt.Sprintf("%04d_claims_note.sql", crdb.SchemaVersion()+1)] = &fstest.MapFile{Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\n" +
		"ALTER TABLE claims ADD COLUMN IF NOT EXISTS note TEXT NOT NULL DEFAULT 'not said';\n")}
	return files
}

// The next version's migrate runs beside a server of this one: what the server has stored is there as it was, and the server goes on.
func TestAServerWorksOnTheNextSchemaAndItsMigrateSaysThatThereIsOne(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	h := newHouse(t, dsn)
	h.createPool(t, rootPool("net", "10.0.0.0/24"))
	before := h.createClaim(t, claimOf("before", project, "net", 32))
	require.NoError(t, crdb.ApplyFiles(t.Context(), dsn, nextSchema(t)))

	kept, err := h.svc.GetClaim(admin(t), project, "before", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, before, kept)
	for _, server := range []*house{h, newHouse(t, dsn)} { // one that was at work, and one that is started now
		server.createClaim(t, claimOf("after", project, "net", 32))
		require.NoError(t, server.svc.DeleteClaim(admin(t), project, "after", usecase.Request{}))
	}
	var note string
	require.NoError(t, connect(t, dsn, nil).QueryRow(t.Context(), "SELECT note FROM claims WHERE name = 'before'").Scan(&note))
	require.Equal(t, "not said", note)
	require.NoError(t, crdb.CheckSchema(t.Context(), dsn))
	err = crdb.Migrate(t.Context(), dsn, crdb.MigrateOptions{Regions: []string{region}})
	require.ErrorIs(t, err, crdb.ErrSchemaAhead)
	clean(t, dsn)
}

func TestAStoreThatBecomesTooOldChangesNothingAnyMore(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	h.createPool(t, rootPool("net", "10.0.0.0/24"))
	h.createClaim(t, claimOf("before", project, "net", 32))
	require.NoError(t, h.store.WhyTooOld())
	needSchema(t, h.dsn, crdb.SchemaVersion()+1)
	ctx := admin(t)
	select {
	case <-h.store.TooOld():
	case <-ctx.Done():
		t.Fatal("it does not notice")
	}
	require.ErrorIs(t, h.store.WhyTooOld(), crdb.ErrTooOld)
	_, err := h.svc.CreateClaim(ctx, project, claimOf("after", project, "net", 32), usecase.Request{})
	require.True(t, ipam.IsCode(err, ipam.CodeUnavailable), "%v", err)
	require.True(t, ipam.IsCode(h.svc.DeleteClaim(ctx, project, "before", usecase.Request{}), ipam.CodeUnavailable))
	_, err = h.store.ExpireAnswers(context.WithoutCancel(ctx), h.store.Now(), 10)
	require.True(t, ipam.IsCode(err, ipam.CodeUnavailable), "%v", err)
	_, err = h.svc.GetClaim(ctx, project, "before", usecase.Reading{})
	require.NoError(t, err, "what it answers is still so")
}
