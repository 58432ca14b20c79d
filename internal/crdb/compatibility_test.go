package crdb_test

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"testing"
	"testing/fstest"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/stdlib"
	"github.com/pressly/goose/v3"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/migrations"
)

// needSchema makes the database require programs that know a certain schema version. A later migration does the same.
func needSchema(t *testing.T, dsn string, number int64) {
	t.Helper()
	tag, err := dbtest.Connect(t, dsn, nil).Exec(t.Context(), "UPDATE compatibility SET minimum = $1", number)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected(), "migrate has written the first value")
}

func TestProgramOlderThanTheSchemaRefusesTheDatabase(t *testing.T) {
	t.Parallel()
	dsn, ctx := dbtest.New(t), t.Context()
	ways := map[string]func() error{
		"CheckUser":   func() error { _, err := schema.CheckUser(ctx, dsn, schema.ServerRole); return err },
		"CheckSchema": func() error { return schema.Check(ctx, dsn) },
		"Open": func() error {
			s, err := crdb.Open(ctx, dsn, crdb.Options{Region: region})
			if err == nil {
				s.Close()
			}
			return err
		},
		"Migrate":     func() error { return schema.Migrate(ctx, dsn, schema.MigrateOptions{Regions: []string{region}}) },
		"Audit":       func() error { _, err := audit.Run(ctx, dsn); return err },
		"RenewEpochs": func() error { _, err := crdb.RenewEpochs(ctx, dsn); return err },
	}
	needSchema(t, dsn, schema.Version())
	for name, way := range ways {
		require.NoError(t, way(), name)
	}
	ways["Backup"] = func() error {
		_, err := backup.Create(ctx, backup.Options{DSN: dsn, To: filepath.Join(t.TempDir(), "backup")})
		return err
	}
	needSchema(t, dsn, schema.Version()+1)
	before := dbtest.Dump(t, dbtest.Connect(t, dsn, nil))
	for name, way := range ways {
		err := way()
		require.ErrorIs(t, err, schema.ErrTooOld, name)
		require.ErrorContains(t, err, "programs that know at least number", name)
	}
	require.Equal(t, before, dbtest.Dump(t, dbtest.Connect(t, dsn, nil)))
}

// nextSchema returns the migration files of this program and one additional file of a later version. That file adds a column that this program does
// not know.
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
	files[fmt.Sprintf("%04d_claims_note.sql", schema.Version()+1)] = &fstest.MapFile{Data: []byte("-- +goose NO TRANSACTION\n-- +goose Up\n" +
		"ALTER TABLE holds ADD COLUMN IF NOT EXISTS note TEXT NOT NULL DEFAULT 'not said';\n")}
	return files
}

// applyFiles applies the migration files of another program.
func applyFiles(ctx context.Context, dsn string, files fs.FS) error {
	cfg, err := pgx.ParseConfig(dsn)
	if err != nil {
		return err
	}
	db := stdlib.OpenDB(*cfg)
	defer db.Close()
	p, err := goose.NewProvider(goose.DialectPostgres, db, files)
	if err != nil {
		return err
	}
	_, err = p.Up(ctx)
	return err
}

// The migration of the next version runs while a server of this version works. The stored data do not change, and the server continues.
func TestServerWorksOnTheNextSchemaAndMigrateReportsIt(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	h := newHouse(t, dsn)
	h.createPool(t, rootPool("net", "10.0.0.0/24"))
	before := h.createClaim(t, claimOf("before", project, "net", 32))
	require.NoError(t, applyFiles(t.Context(), dsn, nextSchema(t)))

	kept, err := h.svc.GetClaim(admin(t), project, "before", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, before, kept)
	for _, server := range []*house{h, newHouse(t, dsn)} { // a server that was running, and a server that starts now
		server.createClaim(t, claimOf("after", project, "net", 32))
		require.NoError(t, server.svc.DeleteClaim(admin(t), project, "after", usecase.Request{}))
	}
	var note string
	require.NoError(t, dbtest.Connect(t, dsn, nil).QueryRow(t.Context(), "SELECT note FROM holds WHERE name = 'before'").Scan(&note))
	require.Equal(t, "not said", note)
	require.NoError(t, schema.Check(t.Context(), dsn))
	err = schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}})
	require.ErrorIs(t, err, schema.ErrAhead)
	clean(t, dsn)
}

func TestStoreOlderThanTheSchemaStopsWriting(t *testing.T) {
	t.Parallel()
	h := newHouse(t, dbtest.New(t))
	h.createPool(t, rootPool("net", "10.0.0.0/24"))
	h.createClaim(t, claimOf("before", project, "net", 32))
	require.NoError(t, h.store.WhyTooOld())
	needSchema(t, h.dsn, schema.Version()+1)
	ctx := admin(t)
	select {
	case <-h.store.TooOld():
	case <-ctx.Done():
		t.Fatal("it does not notice")
	}
	require.ErrorIs(t, h.store.WhyTooOld(), schema.ErrTooOld)
	_, err := h.svc.CreateClaim(ctx, project, claimOf("after", project, "net", 32), usecase.Request{})
	require.True(t, ipam.IsCode(err, ipam.CodeUnavailable), "%v", err)
	require.True(t, ipam.IsCode(h.svc.DeleteClaim(ctx, project, "before", usecase.Request{}), ipam.CodeUnavailable))
	_, err = h.store.ExpireStoredResponses(context.WithoutCancel(ctx), h.store.Now(), 10)
	require.True(t, ipam.IsCode(err, ipam.CodeUnavailable), "%v", err)
	_, err = h.svc.GetClaim(ctx, project, "before", usecase.Reading{})
	require.NoError(t, err, "what it answers is still so")
}
