// Package roletest sets up databases for tests of database roles: an operator's installation, and users with the roles that Carve makes.
package roletest

import (
	"context"
	"crypto/rand"
	"errors"
	"net/url"
	"strings"
	"sync"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// Installation is a database as an operator sets it up: an owner without superuser rights, and a login user for each purpose.
type Installation struct {
	Root   string            // DSN of the superuser, for statements that no program of Carve sends
	Prefix string            // prefix of the roles' names, which is the name of the database
	DSN    map[string]string // by user
}

// The login users of an installation.
const (
	Owner  = "owner"
	Server = "app"
	Cron   = "cron"
	Reader = "eyes"
	Nobody = "nobody"
)

// User returns the name of a login user in the database.
func (in *Installation) User(who string) string { return in.Prefix + "_" + who }

// Install makes the database and the users, without a migration.
func Install(t *testing.T, attributes string) *Installation {
	t.Helper()
	dbtest.OnPostgres(t)
	in := &Installation{Root: dbtest.Empty(t), DSN: map[string]string{}}
	u, err := url.Parse(in.Root)
	require.NoError(t, err)
	in.Prefix = strings.TrimPrefix(u.Path, "/")
	for _, who := range []string{Owner, Server, Cron, Reader, Nobody} {
		create := "CREATE USER " + in.User(who)
		if who == Owner {
			create += " " + attributes
		}
		in.AsRoot(t, create)
		in.DSN[who] = As(t, in.Root, in.User(who))
	}
	in.AsRoot(t, "ALTER DATABASE "+in.Prefix+" OWNER TO "+in.User(Owner))
	return in
}

// Options returns the options of the operator's migration.
func (in *Installation) Options() schema.MigrateOptions {
	return schema.MigrateOptions{Regions: []string{"local"}, Roles: schema.RoleOptions{Mode: schema.RolesRequire, Users: map[schema.Role][]string{
		schema.ServerRole: {in.User(Server)}, schema.RetentionRole: {in.User(Cron)}, schema.ReaderRole: {in.User(Reader)},
	}}}
}

// Migrated makes an installation that is ready for servers.
func Migrated(t *testing.T) *Installation {
	t.Helper()
	in := Install(t, "CREATEROLE")
	require.NoError(t, schema.Migrate(t.Context(), in.DSN[Owner], in.Options()))
	return in
}

// AsRoot runs a statement as the superuser.
func (in *Installation) AsRoot(t *testing.T, sql string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), in.Root)
	require.NoError(t, err)
	defer c.Close(context.Background())
	_, err = c.Exec(t.Context(), sql)
	require.NoError(t, err, sql)
}

// As returns the DSN for another user.
func As(t *testing.T, dsn, user string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	q := u.Query()
	q.Del("user")
	u.RawQuery, u.User = q.Encode(), url.User(user)
	return u.String()
}

// Code runs a statement, rolls it back, and returns its SQLSTATE, or "" if it succeeded.
func Code(t *testing.T, c *pgx.Conn, sql string, args ...any) string {
	t.Helper()
	tx, err := c.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), sql, args...)
	require.NoError(t, tx.Rollback(t.Context()))
	if err == nil {
		return ""
	}
	pg, ok := errors.AsType[*pgconn.PgError](err)
	require.True(t, ok, "%s: %v", sql, err)
	return pg.Code
}

// Unique returns a name that no other test uses.
func Unique(prefix string) string { return prefix + strings.ToLower(rand.Text()[:10]) }

// Prefix is the prefix of the role names in every database of dbtest.New.
const Prefix = "carve_test"

var serversUser sync.Once

// AsServer returns the DSN of a database of dbtest.New for a user with the server's role.
func AsServer(t *testing.T, dsn string) string {
	t.Helper()
	dbtest.OnPostgres(t)
	const user = "carve_test_app"
	serversUser.Do(func() { // users belong to the cluster, not to a database
		_, err := dbtest.Connect(t, dsn, nil).Exec(t.Context(), "CREATE USER "+user+" IN ROLE "+Prefix+"_server")
		require.NoError(t, err)
	})
	return As(t, dsn, user)
}
