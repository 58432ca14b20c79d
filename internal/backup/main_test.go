package backup_test

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// The databases of these tests are empty at the start, because the tests compare the whole content.
func TestMain(m *testing.M) { dbtest.Main(m, dbtest.Config{}) }

const (
	region  = "local"
	project = ipam.PlatformProject
)

// migrated returns a database that has the schema and no other content.
func migrated(t *testing.T, regions ...string) (dsn string) {
	t.Helper()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("pg_dump and pg_restore are PostgreSQL's; this run is on", dbtest.Engine())
	}
	dsn = dbtest.New(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: regions}))
	return dsn
}

func admin(t *testing.T) context.Context {
	t.Helper()
	return tenancy.WithPrincipal(t.Context(), tenancy.Principal{
		Subject: "tester", Method: "dev", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin},
	})
}

// serve returns the use cases of a server on a database. stop ends their sessions.
func serve(t *testing.T, dsn string) (svc *alloc.Service, stop func()) {
	t.Helper()
	store, err := crdb.Open(t.Context(), dsn, crdb.Options{Region: region, MaxConnections: 8})
	require.NoError(t, err)
	svc = alloc.New(store, alloc.Options{Region: region})
	require.NoError(t, svc.EnsurePlatform(admin(t)))
	return svc, func() {
		store.Close()
		ctx := context.WithoutCancel(t.Context())
		require.Eventually(t, func() bool { // the database notices only after a while that the sessions have ended
			return !errors.Is(backup.Idle(ctx, dsn), backup.ErrInUse)
		}, time.Minute, 10*time.Millisecond)
	}
}

func withPool(t *testing.T, svc *alloc.Service) {
	t.Helper()
	_, err := svc.CreatePool(admin(t), project, ipam.Pool{Metadata: ipam.Metadata{Name: "pool"}, Spec: ipam.PoolSpec{
		CIDR: netip.MustParsePrefix("10.0.0.0/16"), Visibility: ipam.VisibilityConsumer, Allocation: ipam.Allocating{Strategy: ipam.BestFit},
	}}, usecase.Request{})
	require.NoError(t, err)
}

// claim creates a claim. The idempotency key depends on the name.
func claim(t *testing.T, svc *alloc.Service, name string) (ipam.Claim, error) {
	t.Helper()
	bits := 28
	r, err := svc.CreateClaim(admin(t), project, ipam.Claim{Metadata: ipam.Metadata{Name: name}, Spec: ipam.ClaimSpec{
		PoolRef: ipam.Ref{Project: project, Name: "pool"}, PrefixLength: &bits, ReclaimPolicy: ipam.ReclaimDelete,
	}}, usecase.Request{Key: "key-" + name, Fingerprint: [16]byte{1}})
	return r.Value, err
}

func create(t *testing.T, dsn string) (dir string, m backup.Manifest) {
	t.Helper()
	dir = t.TempDir() + "/backup"
	m, err := backup.Create(t.Context(), backup.Options{DSN: dsn, To: dir, Carve: "test"})
	require.NoError(t, err)
	return dir, m
}

func restore(t *testing.T, dsn, dir string, more ...func(*backup.RestoreOptions)) error {
	t.Helper()
	o := backup.RestoreOptions{DSN: dsn, From: dir, Schema: schema.Version()}
	for _, f := range more {
		f(&o)
	}
	_, err := backup.Restore(t.Context(), o)
	return err
}

// finish does the work that follows a restore, and checks that the audit has no findings.
func finish(t *testing.T, dsn string) {
	t.Helper()
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{region}}))
	_, err := crdb.RenewEpochs(t.Context(), dsn)
	require.NoError(t, err)
	report, err := audit.Run(t.Context(), dsn)
	require.NoError(t, err)
	require.Empty(t, report.Findings)
}

func exec(t *testing.T, dsn, sql string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
	_, err = c.Exec(t.Context(), sql)
	require.NoError(t, err)
}

// dump returns every row of every table as text.
func dump(t *testing.T, dsn string) string {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer func() { require.NoError(t, c.Close(context.WithoutCancel(t.Context()))) }()
	var text string
	for _, table := range schema.Tables() {
		rows, err := c.Query(t.Context(), "SELECT r::TEXT FROM "+table.Name+" AS r ORDER BY 1")
		require.NoError(t, err)
		lines, err := pgx.CollectRows(rows, pgx.RowTo[string])
		require.NoError(t, err)
		text += fmt.Sprintln(table.Name, lines)
	}
	return text
}
