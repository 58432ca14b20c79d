package schema_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/roletest"
)

// said collects the messages of a migration.
func said(o *schema.MigrateOptions) *[]string {
	var out []string
	o.Report = func(s string) { out = append(out, s) }
	return &out
}

// granted returns the grants of an installation, as PostgreSQL reports them.
func granted(t *testing.T, in *roletest.Installation) []string {
	t.Helper()
	rows, err := dbtest.Connect(t, in.Root, nil).Query(t.Context(), `SELECT grantee || ': ' || privilege_type || ' on ' || table_name
		FROM information_schema.table_privileges WHERE table_schema = 'public' AND grantee <> $1 ORDER BY 1`, in.User(roletest.Owner))
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

// wanted returns the grants in schema.Tables, in the format of granted.
func wanted(in *roletest.Installation) (out []string) {
	for _, g := range schema.Tables() {
		for role, list := range map[string]string{"server": g.Server, "retention": g.Retention, "reader": g.Reader} {
			for p := range strings.SplitSeq(list, ", ") {
				if p != "" {
					out = append(out, fmt.Sprintf("%s_%s: %s on %s", in.Prefix, role, p, g.Name))
				}
			}
		}
	}
	slices.Sort(out)
	return out
}

func TestMigrateCreatesRolesIdempotently(t *testing.T) {
	t.Parallel()
	in := roletest.Install(t, "CREATEROLE")
	o := in.Options()
	sentences := said(&o)
	require.NoError(t, schema.Migrate(t.Context(), in.DSN[roletest.Owner], o))
	require.Equal(t, wanted(in), granted(t, in))
	require.Contains(t, *sentences, "the role "+in.Prefix+"_server was created")
	require.Contains(t, *sentences, "the user "+in.User(roletest.Server)+" has the role "+in.Prefix+"_server")
	require.Contains(t, *sentences, "the role "+in.Prefix+"_server has its privileges")
	*sentences = nil
	require.NoError(t, schema.Migrate(t.Context(), in.DSN[roletest.Owner], o))
	require.Equal(t, []string{"nothing to do"}, *sentences)
}

// If someone changes grants, the next migration repairs them. It also adds the grants on a new table.
func TestMigrateRepairsGrants(t *testing.T) {
	t.Parallel()
	in := roletest.Migrated(t)
	server := in.Prefix + "_server"
	for _, sql := range []string{
		"GRANT UPDATE, DELETE, TRUNCATE ON audit_events TO " + server,
		"REVOKE INSERT ON holds FROM " + server,
		"REVOKE ALL ON pools FROM " + server, // as for a new table
		"REVOKE " + server + " FROM " + in.User(roletest.Server),
		"GRANT TEMPORARY ON DATABASE " + in.Prefix + " TO PUBLIC",
		"GRANT CREATE ON SCHEMA public TO PUBLIC",
	} {
		in.AsRoot(t, sql)
	}
	o := in.Options()
	sentences := said(&o)
	require.NoError(t, schema.Migrate(t.Context(), in.DSN[roletest.Owner], o))
	require.Equal(t, wanted(in), granted(t, in))
	require.Equal(t, []string{
		server + ": no more UPDATE, DELETE, TRUNCATE on audit_events",
		server + ": INSERT on holds",
		server + ": SELECT, INSERT, UPDATE, DELETE on pools",
		"the user " + in.User(roletest.Server) + " has the role " + server,
		"PUBLIC may no longer create tables in the schema public",
		"PUBLIC may no longer create temporary tables",
	}, *sentences)
}

// All databases of a cluster share its roles. So concurrent migrations may change the same role. The test runs them in one database, and in two
// databases with the same prefix.
func TestConcurrentMigrationsCreateRoles(t *testing.T) {
	t.Parallel()
	one, other := roletest.Install(t, "CREATEROLE"), roletest.Install(t, "CREATEROLE")
	prefix := roletest.Unique("shared_")
	var wg sync.WaitGroup
	var errs [6]error
	begin := make(chan struct{})
	for i := range errs {
		in := []*roletest.Installation{one, other}[i%2]
		o := in.Options()
		o.Roles.Prefix = prefix
		wg.Go(func() {
			<-begin
			errs[i] = schema.Migrate(t.Context(), in.DSN[roletest.Owner], o)
		})
	}
	close(begin)
	wg.Wait()
	for _, err := range errs {
		require.NoError(t, err)
	}
	for _, in := range []*roletest.Installation{one, other} {
		standing, err := schema.CheckUser(t.Context(), in.DSN[roletest.Server], schema.ServerRole)
		require.NoError(t, err)
		require.Empty(t, standing.More)
	}
}

func TestUsersCannotReachAnotherInstallation(t *testing.T) {
	t.Parallel()
	one, other := roletest.Migrated(t), roletest.Migrated(t)
	foreign := roletest.As(t, other.Root, one.User(roletest.Server))
	_, err := schema.CheckUser(t.Context(), foreign, schema.ServerRole)
	require.ErrorIs(t, err, schema.ErrPrivileges)
	require.Equal(t, "42501", roletest.Code(t, dbtest.Connect(t, foreign, nil), "SELECT 1 FROM projects"))
}

func TestMigrateByAUserWithoutCreateRole(t *testing.T) {
	t.Parallel()

	t.Run("RefusedBeforeAnyChangeIfRequired", func(t *testing.T) {
		t.Parallel()
		in := roletest.Install(t, "NOCREATEROLE")
		err := schema.Migrate(t.Context(), in.DSN[roletest.Owner], in.Options())
		require.ErrorIs(t, err, schema.ErrRoles)
		require.ErrorContains(t, err, fmt.Sprintf("%q may not make roles (CREATEROLE); run CREATE ROLE %q; ", in.User(roletest.Owner), in.Prefix+"_server"))
		require.Empty(t, schemaOf(t, in.Root))
	})

	t.Run("WarnedAndMigratedByDefault", func(t *testing.T) {
		t.Parallel()
		in := roletest.Install(t, "NOCREATEROLE")
		o := schema.MigrateOptions{Regions: []string{region}, Roles: schema.RoleOptions{Mode: schema.RolesAuto}}
		sentences := said(&o)
		require.NoError(t, schema.Migrate(t.Context(), in.DSN[roletest.Owner], o))
		require.NoError(t, schema.Check(t.Context(), in.DSN[roletest.Owner]))
		require.Contains(t, strings.Join(*sentences, "\n"), "the roles for servers, retention and readers are not complete: the user")
		standing, err := schema.CheckUser(t.Context(), in.DSN[roletest.Owner], schema.ServerRole)
		require.NoError(t, err, "the owner can serve")
		require.True(t, standing.Retains)
		require.Contains(t, standing.More, "it owns the tables")
	})

	t.Run("UsesExistingRoles", func(t *testing.T) {
		t.Parallel()
		in := roletest.Install(t, "NOCREATEROLE")
		for _, r := range []string{"server", "retention", "reader"} {
			in.AsRoot(t, "CREATE ROLE "+in.Prefix+"_"+r)
		}
		in.AsRoot(t, fmt.Sprintf("GRANT %s_server TO %s", in.Prefix, in.User(roletest.Server)))
		o := in.Options()
		o.Roles.Users = map[schema.Role][]string{schema.ServerRole: {in.User(roletest.Server)}} // this user has the role already, so no grant is needed
		require.NoError(t, schema.Migrate(t.Context(), in.DSN[roletest.Owner], o))
		_, err := schema.CheckUser(t.Context(), in.DSN[roletest.Server], schema.ServerRole)
		require.NoError(t, err)
		o.Roles.Users[schema.RetentionRole] = []string{in.User(roletest.Cron)}
		err = schema.Migrate(t.Context(), in.DSN[roletest.Owner], o)
		require.ErrorIs(t, err, schema.ErrRoles, "to give a role away takes more than to have tables")
		require.ErrorContains(t, err, fmt.Sprintf("GRANT %q TO %q", in.Prefix+"_retention", in.User(roletest.Cron)))
	})
}

func TestInvalidRoleOptionsAreRefusedBeforeAnyChange(t *testing.T) {
	t.Parallel()
	in := roletest.Install(t, "CREATEROLE")
	for name, c := range map[string]struct {
		change func(o *schema.RoleOptions)
		words  string
	}{
		"NoSuchUser": {func(o *schema.RoleOptions) { o.Users = map[schema.Role][]string{schema.ServerRole: {"who_is_this"}} }, `the user "who_is_this" does not exist; make it first, as in CREATE USER "who_is_this" WITH LOGIN PASSWORD`},
		"TheOwner": {func(o *schema.RoleOptions) {
			o.Users = map[schema.Role][]string{schema.ServerRole: {in.User(roletest.Owner)}}
		}, "name another user"},
		"LongPrefix":   {func(o *schema.RoleOptions) { o.Prefix = strings.Repeat("a", 54) }, "--role-prefix"},
		"OddPrefix":    {func(o *schema.RoleOptions) { o.Prefix = `a"b` }, "--role-prefix"},
		"SystemPrefix": {func(o *schema.RoleOptions) { o.Prefix = "pg_carve" }, "--role-prefix"},
		"NoSuchMode":   {func(o *schema.RoleOptions) { o.Mode = "perhaps" }, "perhaps"},
	} {
		o := in.Options()
		c.change(&o.Roles)
		err := schema.Migrate(t.Context(), in.DSN[roletest.Owner], o)
		require.ErrorIs(t, err, schema.ErrRoles, name)
		require.ErrorContains(t, err, c.words, name)
	}
	require.Empty(t, schemaOf(t, in.Root), "not even a table for the lease")
}

func TestMigrateWithoutRoleOptionsCreatesNoRoles(t *testing.T) {
	t.Parallel()
	in := roletest.Install(t, "CREATEROLE")
	require.NoError(t, schema.Migrate(t.Context(), in.DSN[roletest.Owner], schema.MigrateOptions{Regions: []string{region}}))
	require.Empty(t, granted(t, in))
}
