package crdb_test

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

	"github.com/carve-ipam/carve/internal/crdb"
)

// installation is a database as an operator would set it up: an owner who is no superuser, and a login user for each purpose.
type installation struct {
	root   string // DSN of the superuser, for what no program of Carve does
	prefix string // of the roles: the name of the database
	dsn    map[string]string
}

const (
	theOwner  = "owner"
	theServer = "app"
	theCron   = "cron"
	theReader = "eyes"
	theNobody = "nobody"
)

func (in *installation) user(who string) string { return in.prefix + "_" + who }

// install makes the database and the users, and migrates nothing.
func install(t *testing.T, attributes string) *installation {
	t.Helper()
	onPostgres(t)
	in := &installation{root: emptyDatabase(t), dsn: map[string]string{}}
	u, err := url.Parse(in.root)
	require.NoError(t, err)
	in.prefix = strings.TrimPrefix(u.Path, "/")
	for _, who := range []string{theOwner, theServer, theCron, theReader, theNobody} {
		create := "CREATE USER " + in.user(who)
		if who == theOwner {
			create += " " + attributes
		}
		in.asRoot(t, create)
		in.dsn[who] = as(t, in.root, in.user(who))
	}
	in.asRoot(t, "ALTER DATABASE "+in.prefix+" OWNER TO "+in.user(theOwner))
	return in
}

// options are those of the operator's migrate.
func (in *installation) options() crdb.MigrateOptions {
	return crdb.MigrateOptions{Regions: []string{region}, Roles: crdb.RoleOptions{Mode: crdb.RolesRequire, Users: map[crdb.Role][]string{
		crdb.ServerRole: {in.user(theServer)}, crdb.RetentionRole: {in.user(theCron)}, crdb.ReaderRole: {in.user(theReader)},
	}}}
}

// migrated is an installation that is ready for servers.
func migrated(t *testing.T) *installation {
	t.Helper()
	in := install(t, "CREATEROLE")
	require.NoError(t, crdb.Migrate(t.Context(), in.dsn[theOwner], in.options()))
	return in
}

func (in *installation) asRoot(t *testing.T, sql string) {
	t.Helper()
	c, err := pgx.Connect(t.Context(), in.root)
	require.NoError(t, err)
	defer c.Close(context.Background())
	_, err = c.Exec(t.Context(), sql)
	require.NoError(t, err, sql)
}

// as is a DSN of another user.
func as(t *testing.T, dsn, user string) string {
	t.Helper()
	u, err := url.Parse(dsn)
	require.NoError(t, err)
	q := u.Query()
	q.Del("user")
	u.RawQuery, u.User = q.Encode(), url.User(user)
	return u.String()
}

// code is the SQLSTATE of a statement that a user sends; "" when it worked. Whatever it did is undone.
func code(t *testing.T, c *pgx.Conn, sql string, args ...any) string {
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

// unique is a name that no other test has.
func unique(prefix string) string { return prefix + strings.ToLower(rand.Text()[:10]) }

// rolesOfTests begin the names of the roles that every database of dbtest.New has.
const rolesOfTests = "carve_test"

var serversUser sync.Once

// asServer is the DSN of a database of dbtest.New for a user that may do what a server may.
func asServer(t *testing.T, dsn string) string {
	t.Helper()
	onPostgres(t)
	const user = "carve_test_app"
	serversUser.Do(func() { // users are the cluster's
		_, err := connect(t, dsn, nil).Exec(t.Context(), "CREATE USER "+user+" IN ROLE "+rolesOfTests+"_server")
		require.NoError(t, err)
	})
	return as(t, dsn, user)
}
