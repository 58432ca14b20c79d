package app

import (
	"context"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// users creates the database users of an installation. It returns the DSN of the superuser and the DSN of each user.
func users(t *testing.T) (root string, as map[string]string) {
	t.Helper()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("about PostgreSQL; this run is on", dbtest.Engine())
	}
	root = dbtest.New(t)
	u, err := url.Parse(root)
	require.NoError(t, err)
	prefix := strings.TrimPrefix(u.Path, "/")
	as = map[string]string{}
	for _, who := range []string{"app", "cron", "nobody"} {
		name := prefix + "_" + who
		execute(t, root, "CREATE USER "+name)
		q := u.Query()
		q.Del("user")
		as[who] = (&url.URL{Scheme: u.Scheme, User: url.User(name), Path: u.Path, RawQuery: q.Encode()}).String()
	}
	require.NoError(t, schema.Migrate(t.Context(), root, schema.MigrateOptions{Regions: []string{"local"}, Roles: schema.RoleOptions{
		Mode: schema.RolesRequire, Users: map[schema.Role][]string{schema.ServerRole: {prefix + "_app"}, schema.RetentionRole: {prefix + "_cron"}},
	}}))
	return root, as
}

func execute(t *testing.T, dsn, sql string, to ...any) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	defer c.Close(context.Background())
	if len(to) > 0 {
		require.NoError(t, c.QueryRow(t.Context(), sql).Scan(to...), sql)
		return
	}
	_, err = c.Exec(t.Context(), sql)
	require.NoError(t, err, sql)
}

// started starts a server. It returns the server and its log, or the error.
func started(t *testing.T, flags ...string) (*App, string, error) {
	t.Helper()
	config, _, err := ParseConfig(append([]string{"--listen=127.0.0.1:0", "--auth=dev"}, flags...), nil)
	require.NoError(t, err)
	log := &lockedBuffer{} // the jobs may write to it at any time
	a, err := Start(t.Context(), config, log)
	said := log.String()
	if err == nil {
		t.Cleanup(func() { require.NoError(t, a.Close(context.Background())) })
	}
	return a, said, err
}

func TestServerAdaptsToItsUsersPrivileges(t *testing.T) {
	t.Parallel()
	root, as := users(t)

	a, said, err := started(t, "--database-url="+as["app"])
	require.NoError(t, err)
	require.Nil(t, a.retention, "who may delete no record has no job for it")
	require.NotContains(t, said, "more rights than")
	require.Contains(t, said, "until `ipamctl retention` runs")

	a, said, err = started(t, "--database-url="+root, "--audit-retention=2160h")
	require.NoError(t, err)
	require.Same(t, a.store, a.retention)
	require.Contains(t, said, "the database user has more rights than a server needs")
	require.Contains(t, said, "it is a superuser")

	_, _, err = started(t, "--database-url="+as["app"], "--audit-retention=2160h")
	require.ErrorContains(t, err, "leave out the flags, and run `ipamctl retention --audit-retention 2160h0m0s --history-retention 8760h0m0s`")

	_, _, err = started(t, "--database-url="+as["nobody"])
	require.ErrorIs(t, err, schema.ErrPrivileges)
	require.ErrorContains(t, err, "`ipamctl migrate --server-user carve_test_")
	require.NotContains(t, err.Error(), "SQLSTATE")
}

// The server must not start if one grant is missing.
func TestServerWithAMissingGrantDoesNotStart(t *testing.T) {
	t.Parallel()
	root, as := users(t)
	u, err := url.Parse(root)
	require.NoError(t, err)
	execute(t, root, "REVOKE INSERT ON audit_events FROM "+strings.TrimPrefix(u.Path, "/")+"_server")
	_, _, err = started(t, "--database-url="+as["app"])
	require.ErrorIs(t, err, schema.ErrPrivileges)
	require.ErrorContains(t, err, "lacks INSERT on audit_events; `ipamctl migrate --server-user ")
}

// The server also uses its production roles in an embedded database. Its sessions have only the rights of the server. The jobs that delete records
// have other rights.
func TestServerOnAnEmbeddedDatabaseUsesTheServerRole(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("about PostgreSQL; this run is on", dbtest.Engine())
	}
	a, said, err := started(t, "--data-dir="+filepath.Join(t.TempDir(), "data"), "--audit-retention=2160h")
	require.NoError(t, err)
	require.NotContains(t, said, "more rights than")
	_, err = a.store.ExpireEvents(t.Context(), time.Now(), 1)
	require.ErrorContains(t, err, "42501", "there is a record, and it stays")
	n, err := a.retention.ExpireEvents(t.Context(), time.Now(), 1)
	require.NoError(t, err)
	require.Positive(t, n)
}

func TestRetainDeletesInEveryRegion(t *testing.T) {
	t.Parallel()
	root, as := users(t)
	require.NoError(t, schema.Migrate(t.Context(), root, schema.MigrateOptions{Regions: []string{"local", "east"}}))
	_, _, err := started(t, "--database-url="+as["app"])
	require.NoError(t, err)
	for _, region := range []string{"local", "east"} { // of each region, the records of an existing project and of a deleted one
		for _, project := range []string{"(SELECT id FROM projects LIMIT 1)", "'deadbeef-0000-4000-8000-000000000000'"} {
			execute(t, root, "INSERT INTO audit_events SELECT '"+region+"', "+project+", '0190163d-8694-739b-aea5-966c26f8ad91', 1, ''") // the id contains the date 2024-06-14
		}
	}
	execute(t, root, "INSERT INTO removals VALUES ('deadbeef-0000-4000-8000-000000000000')")
	var kept int
	execute(t, root, "SELECT count(*) FROM audit_events WHERE id > '01942000-0000-0000-0000-000000000000'", &kept)
	require.Positive(t, kept)

	done, err := Retain(t.Context(), as["cron"], 0, 0)
	require.NoError(t, err)
	require.Equal(t, Retained{Purged: 2}, done)
	done, err = Retain(t.Context(), as["cron"], 24*time.Hour, 24*time.Hour)
	require.NoError(t, err)
	require.Equal(t, Retained{Events: 2}, done)
	var left int
	execute(t, root, "SELECT count(*) FROM audit_events", &left)
	require.Equal(t, kept, left)

	_, err = Retain(t.Context(), as["app"], time.Hour, time.Hour)
	require.ErrorIs(t, err, schema.ErrPrivileges)
	require.ErrorContains(t, err, "DELETE on audit_events")
	require.ErrorContains(t, err, "--retention-user")
}
