package backup_test

import (
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/backup"
	"github.com/carve-ipam/carve/internal/crdb"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// The owner of the tables can back up and restore without being a superuser. The owner sees running servers of another user. A restore removes the
// rights of the roles, and the owner grants them again. No other user can make a backup.
func TestOwnerBacksUpAndRestoresWithTheRoles(t *testing.T) {
	t.Parallel()
	root := migrated(t, region)
	u, err := url.Parse(root)
	require.NoError(t, err)
	prefix := strings.TrimPrefix(u.Path, "/")
	as := func(dsn, who string) string {
		of, err := url.Parse(dsn)
		require.NoError(t, err)
		q := of.Query()
		q.Del("user")
		of.RawQuery, of.User = q.Encode(), url.User(prefix+"_"+who)
		return of.String()
	}
	for who, attribute := range map[string]string{"owner": "CREATEROLE", "app": "", "eyes": ""} {
		exec(t, root, "CREATE USER "+prefix+"_"+who+" "+attribute)
	}
	empty := dbtest.New(t)
	name, err := url.Parse(empty)
	require.NoError(t, err)
	exec(t, root, "ALTER DATABASE "+strings.TrimPrefix(name.Path, "/")+" OWNER TO "+prefix+"_owner")
	owner, app, eyes := as(empty, "owner"), as(empty, "app"), as(empty, "eyes")
	o := schema.MigrateOptions{Regions: []string{region}, Roles: schema.RoleOptions{Mode: schema.RolesRequire, Users: map[schema.Role][]string{
		schema.ServerRole: {prefix + "_app"}, schema.ReaderRole: {prefix + "_eyes"},
	}}}
	require.NoError(t, schema.Migrate(t.Context(), owner, o))

	svc, stop := serve(t, app)
	withPool(t, svc)
	_, err = claim(t, svc, "kept")
	require.NoError(t, err)
	dir, _ := create(t, owner)
	_, err = backup.Create(t.Context(), backup.Options{DSN: eyes, To: t.TempDir() + "/backup", Carve: "test"})
	require.ErrorContains(t, err, "permission denied")
	replace := func(o *backup.RestoreOptions) { o.Replace = true }
	require.ErrorIs(t, restore(t, owner, dir, replace), backup.ErrInUse)
	stop()

	before := dump(t, empty)
	require.NoError(t, restore(t, owner, dir, replace))
	require.Equal(t, before, dump(t, empty))
	_, err = schema.CheckUser(t.Context(), app, schema.ServerRole)
	require.ErrorIs(t, err, schema.ErrPrivileges, "a backup holds no privileges")
	o.Roles.Users = nil // the members of roles belong to the cluster, so a restore does not change them
	require.NoError(t, schema.Migrate(t.Context(), owner, o))
	_, err = crdb.RenewEpochs(t.Context(), owner)
	require.NoError(t, err)
	st, err := schema.CheckUser(t.Context(), app, schema.ServerRole)
	require.NoError(t, err)
	require.Empty(t, st.More)
	report, err := audit.Run(t.Context(), eyes)
	require.NoError(t, err)
	require.Empty(t, report.Findings)
	svc, stop = serve(t, app)
	defer stop()
	_, err = claim(t, svc, "later")
	require.NoError(t, err)
}
