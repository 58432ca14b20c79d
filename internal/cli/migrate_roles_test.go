package cli_test

import (
	"context"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/cli/operate"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/devdb"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestMigratePassesRoleFlags(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		args []string
		want schema.RoleOptions
	}{
		"Nothing": {want: schema.RoleOptions{Mode: schema.RolesAuto}},
		"Require": {args: []string{"--roles", "require", "--role-prefix", "ipam"}, want: schema.RoleOptions{Mode: schema.RolesRequire, Prefix: "ipam"}},
		"None":    {args: []string{"--roles", "none"}},
		"Users": {args: []string{"--server-user", "a,b", "--server-user", "c", "--retention-user", "d", "--reader-user", "e"}, want: schema.RoleOptions{
			Mode: schema.RolesRequire, Users: map[schema.Role][]string{schema.ServerRole: {"a", "b", "c"}, schema.RetentionRole: {"d"}, schema.ReaderRole: {"e"}},
		}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := answering(t)
			var got schema.RoleOptions
			d.database.Migrate = func(_ context.Context, _ string, o schema.MigrateOptions) error {
				got = o.Roles
				return nil
			}
			d.done(append([]string{"migrate", "--database-url", "postgres://db/carve"}, c.args...)...)
			require.Equal(t, c.want, got)
		})
	}
	for _, args := range [][]string{{"--roles", "perhaps"}, {"--roles", "none", "--server-user", "a"}, {"--roles", "none", "--role-prefix", "a"}} {
		r := answering(t).run(append([]string{"migrate", "--database-url", "postgres://db/carve"}, args...)...)
		require.Equal(t, 2, r.code, "%v: %s", args, r.err)
	}
}

func TestRetentionReportsDeletedRecords(t *testing.T) {
	t.Parallel()
	d := answering(t)
	var events, holds time.Duration
	d.database.Retain = func(_ context.Context, _ string, ofEvents, ofHolds time.Duration) (operate.Retained, error) {
		events, holds = ofEvents, ofHolds
		return operate.Retained{Events: 1200, Holds: 3, Purged: 1}, nil
	}
	url := []string{"retention", "--database-url", "postgres://db/carve"}
	require.Equal(t, result{0, "", "deleted: 1200 old records of the audit trail, 3 old holds, 1 row of deleted projects\n"}, d.done(append(url, "--audit-retention", "100h", "--history-retention", "0")...))
	require.Equal(t, 100*time.Hour, events)
	require.Zero(t, holds, "for ever")
	require.JSONEq(t, `{"auditEvents": 1200, "holds": 3, "ofDeletedProjects": 1}`, d.done(append(url, "-o", "json")...).out)
	require.Equal(t, app.AuditRetention, events, "not for ever, unless it is said")
	require.Equal(t, app.HistoryRetention, holds)
	for _, args := range [][]string{{"--audit-retention", "59m"}, {"--audit-retention", "-2160h"}, {"--history-retention", "59m"}, {"-o", "name"}} {
		require.Equal(t, 2, d.run(append(url, args...)...).code, args)
	}
}

// The test checks the rights of an owner, a server, a retention user and a reader.
func TestEachDatabaseUserIsLimitedToItsRole(t *testing.T) {
	t.Parallel()
	if dbtest.Engine() != devdb.Postgres {
		t.Skip("about PostgreSQL; this run is on", dbtest.Engine())
	}
	root := dbtest.New(t)
	u, err := url.Parse(root)
	require.NoError(t, err)
	prefix := strings.TrimPrefix(u.Path, "/")
	c, err := pgx.Connect(t.Context(), root)
	require.NoError(t, err)
	defer c.Close(context.Background())
	as := map[string]string{}
	for who, attribute := range map[string]string{"owner": "CREATEROLE", "app": "", "cron": "", "eyes": ""} {
		_, err := c.Exec(t.Context(), "CREATE USER "+prefix+"_"+who+" "+attribute)
		require.NoError(t, err)
		q := u.Query()
		q.Del("user")
		as[who] = (&url.URL{Scheme: u.Scheme, User: url.User(prefix + "_" + who), Path: u.Path, RawQuery: q.Encode()}).String()
	}
	_, err = c.Exec(t.Context(), "ALTER DATABASE "+prefix+" OWNER TO "+prefix+"_owner")
	require.NoError(t, err)
	d := operating(t)
	run := func(who string, args ...string) result { return d.run(append(args, "--database-url", as[who])...) }

	r := run("app", "migrate")
	require.Equal(t, 1, r.code)
	require.Equal(t, 1, run("app", "bootstrap").code, "there is nothing yet")
	r = run("owner", "migrate", "--server-user", prefix+"_app", "--retention-user", prefix+"_cron", "--reader-user", prefix+"_eyes")
	require.Zero(t, r.code, r.err)

	r = run("app", "bootstrap", "-q")
	require.Zero(t, r.code, r.err)
	d.database.Reconcile = func(ctx context.Context, dsn, region string, o operate.Reconciling) ([]operate.Reconciled, error) {
		found, err := app.Reconcile(ctx, dsn, region, o.Repair, o.Forget)
		return make([]operate.Reconciled, len(found)), err
	}
	r = run("app", "region", "reconcile")
	require.Zero(t, r.code, r.err)
	require.Equal(t, result{0, "", "deleted: 0 old records of the audit trail, 0 old holds, 0 rows of deleted projects\n"}, run("cron", "retention", "--audit-retention", "1h"))
	require.Contains(t, run("eyes", "audit").out, "audit clean\n")
	require.Zero(t, run("owner", "audit").code)

	for who, refusals := range map[string]map[string][]string{
		"app":  {"SELECT on removals": {"retention"}, "may not make roles": {"migrate"}},
		"cron": {"--server-user " + prefix + "_cron": {"bootstrap"}},
		"eyes": {"--server-user " + prefix + "_eyes": {"region", "reconcile"}, "--retention-user " + prefix + "_eyes": {"retention"}},
	} {
		for words, args := range refusals {
			if args[0] == "migrate" {
				args = append(args, "--roles", "require", "--role-prefix", "another")
			}
			r := run(who, args...)
			require.Equal(t, 1, r.code, "%s %v: %s", who, args, r.err)
			require.Contains(t, r.err, words, "%s %v", who, args)
			require.NotContains(t, r.err, "SQLSTATE", "%s %v", who, args)
		}
	}
	r = run("cron", "audit")
	require.Equal(t, 5, r.code)
	require.Contains(t, r.err, "--reader-user "+prefix+"_cron")
}
