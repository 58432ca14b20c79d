package e2e

import (
	"context"
	"net/url"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// The servers of these tests use a database user that has only the privileges in docs/database-roles.md. If a privilege is missing there, a test
// fails.
const (
	rolesOfTests = "carve_e2e"
	serversUser  = "carve_e2e_app"
)

// migrateForServers migrates a database for servers that have their own database user, as an operator would.
func migrateForServers(ctx context.Context, dsn string) error {
	o := schema.MigrateOptions{Regions: []string{region}}
	if dbtest.Engine() != devdb.Postgres { // a CockroachDB node for tests admits only known users
		return schema.Migrate(ctx, dsn, o)
	}
	c, err := pgx.Connect(ctx, dsn)
	if err != nil {
		return err
	}
	_, err = c.Exec(ctx, "CREATE USER "+serversUser)
	if closed := c.Close(ctx); err == nil {
		err = closed
	}
	if err != nil {
		return err
	}
	o.Roles = schema.RoleOptions{Mode: schema.RolesRequire, Prefix: rolesOfTests, Users: map[schema.Role][]string{schema.ServerRole: {serversUser}}}
	return schema.Migrate(ctx, dsn, o)
}

// asServer returns the database URL with the user of the servers, as an operator would write it.
func asServer(t testing.TB, dsn string) string {
	t.Helper()
	if dbtest.Engine() != devdb.Postgres {
		return dsn
	}
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	q := u.Query()
	q.Del("user")
	u.RawQuery, u.User = q.Encode(), url.User(serversUser)
	return u.String()
}

func TestServersOfTheseTestsDoNotOwnTheDatabase(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("about PostgreSQL; this run is on", dbtest.Engine())
	}
	w := setup(t)
	standing, err := schema.CheckUser(t.Context(), asServer(t, w.dsn), schema.ServerRole)
	require.NoError(t, err)
	// Migration revokes the privileges of PUBLIC. These databases are copies, and a copy does not take over those revocations.
	require.Equal(t, schema.UserStanding{User: serversUser, More: []string{"TEMPORARY on the database"}}, standing)
	var sessions int
	require.NoError(t, w.sql.QueryRow(t.Context(), "SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND usename = $1", serversUser).Scan(&sessions))
	require.Positive(t, sessions)
}
