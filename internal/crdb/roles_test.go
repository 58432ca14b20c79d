package crdb_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
)

// said collects what migrating says.
func said(o *crdb.MigrateOptions) *[]string {
	var out []string
	o.Said = func(s string) { out = append(out, s) }
	return &out
}

// granted is who was granted what in an installation, as PostgreSQL has it.
func (in *installation) granted(t *testing.T) []string {
	t.Helper()
	rows, err := connect(t, in.root, nil).Query(t.Context(), `SELECT grantee || ': ' || privilege_type || ' on ' || table_name
		FROM information_schema.table_privileges WHERE table_schema = 'public' AND grantee <> $1 ORDER BY 1`, in.user(theOwner))
	require.NoError(t, err)
	var out []string
	var one string
	for rows.Next() {
		require.NoError(t, rows.Scan(&one))
		out = append(out, one)
	}
	require.NoError(t, rows.Err())
	return out
}

// wanted is what crdb.Grants says, in the words of granted.
func (in *installation) wanted() (out []string) {
	for _, g := range crdb.Grants() {
		for role, list := range map[string]string{"server": g.Server, "retention": g.Retention, "reader": g.Reader} {
			for p := range strings.SplitSeq(list, ", ") {
				if p != "" {
					out = append(out, fmt.Sprintf("%s_%s: %s on %s", in.prefix, role, p, g.Table))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestMigrateMakesTheRolesAndTwiceIsOnce(t *testing.T) {
	t.Parallel()
	in := install(t, "CREATEROLE")
	o := in.options()
	sentences := said(&o)
	require.NoError(t, crdb.Migrate(t.Context(), in.dsn[theOwner], o))
	require.Equal(t, in.wanted(), in.granted(t))
	require.Contains(t, *sentences, "the role "+in.prefix+"_server was made")
	require.Contains(t, *sentences, "the user "+in.user(theServer)+" has the role "+in.prefix+"_server")
	require.Contains(t, *sentences, "the role "+in.prefix+"_server may do what it is for")
	*sentences = nil
	require.NoError(t, crdb.Migrate(t.Context(), in.dsn[theOwner], o))
	require.Equal(t, []string{"there is nothing to do"}, *sentences)
}

// What somebody granted or took away by hand is put right by the next migrate, and so is a table that was made since.
func TestMigrateBringsTheGrantsBack(t *testing.T) {
	t.Parallel()
	in := migrated(t)
	server := in.prefix + "_server"
	for _, sql := range []string{
		"GRANT UPDATE, DELETE, TRUNCATE ON audit_events TO " + server,
		"REVOKE INSERT ON claims FROM " + server,
		"REVOKE ALL ON pools FROM " + server, // as of a table that is new
		"REVOKE " + server + " FROM " + in.user(theServer),
		"GRANT TEMPORARY ON DATABASE " + in.prefix + " TO PUBLIC",
		"GRANT CREATE ON SCHEMA public TO PUBLIC",
	} {
		in.asRoot(t, sql)
	}
	o := in.options()
	sentences := said(&o)
	require.NoError(t, crdb.Migrate(t.Context(), in.dsn[theOwner], o))
	require.Equal(t, in.wanted(), in.granted(t))
	require.Equal(t, []string{
		server + ": no more UPDATE, DELETE, TRUNCATE on audit_events",
		server + ": INSERT on claims",
		server + ": SELECT, INSERT, UPDATE, DELETE on pools",
		"the user " + in.user(theServer) + " has the role " + server,
		"not everybody may create tables in the schema public",
		"not everybody may create temporary tables",
	}, *sentences)
}

// Roles are the cluster's: several that migrate meet at the same role, in one database and in two that share a prefix.
func TestRolesAreMadeFromSeveralPlacesAtOnce(t *testing.T) {
	t.Parallel()
	one, other := install(t, "CREATEROLE"), install(t, "CREATEROLE")
	prefix := unique("shared_")
	var wg sync.WaitGroup
	var errs [6]error
	begin := make(chan struct{})
	for i := range errs {
		in := []*installation{one, other}[i%2]
		o := in.options()
		o.Roles.Prefix = prefix
		wg.Go(func() {
			<-begin
			errs[i] = crdb.Migrate(t.Context(), in.dsn[theOwner], o)
		})
	}
	close(begin)
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	for _, in := range []*installation{one, other} {
		standing, err := crdb.CheckUser(t.Context(), in.dsn[theServer], crdb.ServerRole)
		require.NoError(t, err)
		require.Empty(t, standing.More)
	}
}

func TestTheUsersOfOneInstallationReachNothingOfAnother(t *testing.T) {
	t.Parallel()
	one, other := migrated(t), migrated(t)
	foreign := as(t, other.root, one.user(theServer))
	_, err := crdb.CheckUser(t.Context(), foreign, crdb.ServerRole)
	require.ErrorIs(t, err, crdb.ErrPrivileges)
	require.Equal(t, "42501", code(t, connect(t, foreign, nil), "SELECT 1 FROM projects"))
}

func TestAUserWhoMayNotMakeRoles(t *testing.T) {
	t.Parallel()

	t.Run("IsRefusedBeforeAnythingIsChanged", func(t *testing.T) {
		t.Parallel()
		in := install(t, "NOCREATEROLE")
		err := crdb.Migrate(t.Context(), in.dsn[theOwner], in.options())
		require.ErrorIs(t, err, crdb.ErrRoles)
		require.ErrorContains(t, err, fmt.Sprintf("%q may not make roles (CREATEROLE); somebody who may has to run CREATE ROLE %q; ", in.user(theOwner), in.prefix+"_server"))
		require.Empty(t, schema(t, in.root))
	})

	t.Run("IsToldAndMigrates", func(t *testing.T) {
		t.Parallel()
		in := install(t, "NOCREATEROLE")
		o := crdb.MigrateOptions{Regions: []string{region}, Roles: crdb.RoleOptions{Mode: crdb.RolesAuto}}
		sentences := said(&o)
		require.NoError(t, crdb.Migrate(t.Context(), in.dsn[theOwner], o))
		require.NoError(t, crdb.CheckSchema(t.Context(), in.dsn[theOwner]))
		require.Contains(t, strings.Join(*sentences, "\n"), "the roles for servers, retention and readers are not complete: the user")
		standing, err := crdb.CheckUser(t.Context(), in.dsn[theOwner], crdb.ServerRole)
		require.NoError(t, err, "the owner can serve")
		require.True(t, standing.Retains)
		require.Contains(t, standing.More, "it owns the tables")
	})

	t.Run("UsesThoseThatSomebodyMade", func(t *testing.T) {
		t.Parallel()
		in := install(t, "NOCREATEROLE")
		for _, r := range []string{"server", "retention", "reader"} {
			in.asRoot(t, "CREATE ROLE "+in.prefix+"_"+r)
		}
		in.asRoot(t, fmt.Sprintf("GRANT %s_server TO %s", in.prefix, in.user(theServer)))
		o := in.options()
		o.Roles.Users = map[crdb.Role][]string{crdb.ServerRole: {in.user(theServer)}} // it has the role already: nothing is left to give
		require.NoError(t, crdb.Migrate(t.Context(), in.dsn[theOwner], o))
		_, err := crdb.CheckUser(t.Context(), in.dsn[theServer], crdb.ServerRole)
		require.NoError(t, err)
		o.Roles.Users[crdb.RetentionRole] = []string{in.user(theCron)}
		err = crdb.Migrate(t.Context(), in.dsn[theOwner], o)
		require.ErrorIs(t, err, crdb.ErrRoles, "to give a role away takes more than to have tables")
		require.ErrorContains(t, err, fmt.Sprintf("GRANT %q TO %q", in.prefix+"_retention", in.user(theCron)))
	})
}

func TestWhatCannotBeOfRolesIsRefusedBeforeAnythingIsChanged(t *testing.T) {
	t.Parallel()
	in := install(t, "CREATEROLE")
	for name, c := range map[string]struct {
		change func(o *crdb.RoleOptions)
		words  string
	}{
		"NoSuchUser":   {func(o *crdb.RoleOptions) { o.Users = map[crdb.Role][]string{crdb.ServerRole: {"who_is_this"}} }, `there is no user "who_is_this"; make it first, as in CREATE USER "who_is_this" WITH LOGIN PASSWORD`},
		"TheOwner":     {func(o *crdb.RoleOptions) { o.Users = map[crdb.Role][]string{crdb.ServerRole: {in.user(theOwner)}} }, "give the name of another user"},
		"LongPrefix":   {func(o *crdb.RoleOptions) { o.Prefix = strings.Repeat("a", 54) }, "--role-prefix"},
		"OddPrefix":    {func(o *crdb.RoleOptions) { o.Prefix = `a"b` }, "--role-prefix"},
		"SystemPrefix": {func(o *crdb.RoleOptions) { o.Prefix = "pg_carve" }, "--role-prefix"},
		"NoSuchMode":   {func(o *crdb.RoleOptions) { o.Mode = "perhaps" }, "perhaps"},
	} {
		o := in.options()
		c.change(&o.Roles)
		err := crdb.Migrate(t.Context(), in.dsn[theOwner], o)
		require.ErrorIs(t, err, crdb.ErrRoles, name)
		require.ErrorContains(t, err, c.words, name)
	}
	require.Empty(t, schema(t, in.root), "not even a table for the lease")
}

func TestMigrateWithoutRolesMakesNone(t *testing.T) {
	t.Parallel()
	in := install(t, "CREATEROLE")
	require.NoError(t, crdb.Migrate(t.Context(), in.dsn[theOwner], crdb.MigrateOptions{Regions: []string{region}}))
	require.Empty(t, in.granted(t))
}
