package schema_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/internal/testkit/roletest"
)

const denied = "42501"

// The test runs statements that the credentials of a server must not allow.
func TestServerRoleIsRefusedOtherStatements(t *testing.T) {
	t.Parallel()
	in := roletest.Migrated(t)
	in.AsRoot(t, "CREATE SCHEMA other; CREATE TABLE other.secrets (word TEXT)")
	in.AsRoot(t, "GRANT SELECT ON other.secrets TO PUBLIC") // without USAGE on the schema, this has no effect
	c := dbtest.Connect(t, in.DSN[roletest.Server], nil)
	for promise, statements := range map[string][]string{
		"DDL": {
			"CREATE TABLE mine (a INT)", "CREATE TEMP TABLE mine (a INT)", "CREATE SCHEMA mine", "CREATE VIEW mine AS SELECT 1", "CREATE SEQUENCE mine",
			"CREATE FUNCTION mine() RETURNS INT LANGUAGE SQL AS 'SELECT 1'", "CREATE TYPE mine AS ENUM ('a')", "CREATE EXTENSION pgcrypto", "CREATE ROLE mine",
			"CREATE INDEX ON holds (id)", "CREATE RULE mine AS ON INSERT TO audit_events DO INSTEAD NOTHING",
			"CREATE TRIGGER mine BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
			"ALTER TABLE holds ADD COLUMN mine INT", "ALTER TABLE audit_events DISABLE TRIGGER ALL", "ALTER TYPE crdb_internal_region RENAME TO mine",
			"ALTER SCHEMA public RENAME TO mine", "ALTER DATABASE " + in.Prefix + " SET search_path = other", "ALTER ROLE " + in.Prefix + "_server SUPERUSER",
			"DROP TABLE holds", "DROP TYPE crdb_internal_region CASCADE", "TRUNCATE holds", "COMMENT ON TABLE holds IS 'mine'", "REINDEX TABLE holds", "CLUSTER holds USING holds_pkey",
			"REASSIGN OWNED BY " + in.User(roletest.Owner) + " TO " + in.User(roletest.Server),
		},
		"TheTrail": {
			"UPDATE audit_events SET events = ''", "DELETE FROM audit_events", "TRUNCATE audit_events", "SELECT 1 FROM audit_events FOR UPDATE", "SELECT 1 FROM audit_events FOR KEY SHARE",
			"INSERT INTO audit_events SELECT * FROM audit_events ON CONFLICT ON CONSTRAINT audit_events_pkey DO UPDATE SET events = ''",
			"MERGE INTO audit_events AS a USING (SELECT 1) AS b ON true WHEN MATCHED THEN DELETE", "LOCK TABLE audit_events IN ACCESS EXCLUSIVE MODE",
			"WITH gone AS (DELETE FROM audit_events RETURNING 1) SELECT count(*) FROM gone",
		},
		"TheHistory": {"UPDATE history SET until = now()", "DELETE FROM history", "TRUNCATE history"},
		"TheRecordOfTheSchema": {
			"INSERT INTO goose_db_version (version_id, is_applied) VALUES (99, true)", "DELETE FROM goose_db_version", "SELECT 1 FROM goose_lock",
			"INSERT INTO regions (name, ordinal, created_at) VALUES ('local', 7, now())", "DELETE FROM regions", "DELETE FROM removals",
		},
		"Others": {
			"SELECT 1 FROM other.secrets", "SELECT 1 FROM pg_authid", "SET ROLE " + in.User(roletest.Owner), "SET ROLE " + in.Prefix + "_retention", "SET SESSION AUTHORIZATION " + in.User(roletest.Owner),
			"GRANT " + in.Prefix + "_retention TO " + in.User(roletest.Server),
		},
		"TheMachine": {
			"COPY audit_events TO PROGRAM 'true'", "COPY audit_events TO '/tmp/trail'", "COPY audit_events FROM '/etc/passwd'", "SELECT pg_read_file('/etc/passwd')", "SELECT pg_ls_dir('/')",
			"SELECT lo_import('/etc/passwd')", "SELECT pg_reload_conf()", "SET session_replication_role = replica", "SET log_min_messages = panic",
		},
	} {
		for _, sql := range statements {
			require.Equal(t, denied, roletest.Code(t, c, sql), "%s: %s", promise, sql)
		}
	}
	before := granted(t, in)
	for _, g := range schema.Tables() {
		if g.Server != "" { // PostgreSQL only warns, and grants nothing
			_, err := c.Exec(t.Context(), "GRANT ALL ON "+g.Name+" TO "+in.User(roletest.Server))
			require.NoError(t, err)
		}
	}
	require.Equal(t, before, granted(t, in))
	for _, allowed := range []string{"SELECT 1 FROM audit_events", "INSERT INTO audit_events SELECT * FROM audit_events", "UPDATE holds SET plen = plen"} {
		require.Empty(t, roletest.Code(t, c, allowed), "the tests above fail for the reason that they are about")
	}
}

func TestRetentionAndReaderRolesAreRefusedOtherStatements(t *testing.T) {
	t.Parallel()
	in := roletest.Migrated(t)
	cron, reader := dbtest.Connect(t, in.DSN[roletest.Cron], nil), dbtest.Connect(t, in.DSN[roletest.Reader], nil)
	require.Empty(t, roletest.Code(t, cron, "DELETE FROM audit_events"))
	for _, sql := range []string{
		"UPDATE audit_events SET events = ''", "INSERT INTO audit_events SELECT * FROM audit_events", "TRUNCATE audit_events", "SELECT 1 FROM holds", "DELETE FROM holds",
		"UPDATE projects SET name = 'x'", "CREATE TABLE mine (a INT)", "SELECT 1 FROM api_keys",
	} {
		require.Equal(t, denied, roletest.Code(t, cron, sql), sql)
	}
	for _, g := range schema.Tables() {
		for _, sql := range []string{"DELETE FROM " + g.Name, "TRUNCATE " + g.Name, "LOCK TABLE " + g.Name + " IN ROW EXCLUSIVE MODE"} {
			require.Equal(t, denied, roletest.Code(t, reader, sql), sql)
		}
		if g.Reader != "" {
			require.Empty(t, roletest.Code(t, reader, "SELECT 1 FROM "+g.Name))
		}
	}
	require.Equal(t, denied, roletest.Code(t, reader, "SELECT 1 FROM idempotency_keys"))
}

// If a privilege is missing, the error names the privilege and the command that grants it. The test checks this for every privilege.
func TestMissingPrivilegeIsNamed(t *testing.T) {
	t.Parallel()
	in := roletest.Migrated(t)
	root := dbtest.Connect(t, in.Root, nil)
	check := func() error {
		_, err := schema.CheckUser(t.Context(), in.DSN[roletest.Server], schema.ServerRole)
		return err
	}
	exec := func(sql string) {
		_, err := root.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	mends := fmt.Sprintf("; `ipamctl migrate --server-user %[1]s`, run as the owner of the tables, grants the missing privileges", in.User(roletest.Server))
	broken := func(take, give, lacks string) {
		exec(take)
		err := check()
		require.ErrorIs(t, err, schema.ErrPrivileges, take)
		require.Equal(t, fmt.Sprintf("the database user lacks privileges: %q lacks %s%s", in.User(roletest.Server), lacks, mends), err.Error())
		exec(give)
	}
	require.NoError(t, check())
	for _, g := range schema.Tables() {
		for p := range strings.SplitSeq(g.Server, ", ") {
			if p != "" {
				on := fmt.Sprintf("%s ON %s", p, g.Name)
				broken(fmt.Sprintf("REVOKE %s FROM %s_server", on, in.Prefix), fmt.Sprintf("GRANT %s TO %s_server", on, in.Prefix), p+" on "+g.Name)
			}
		}
	}
	broken("REVOKE USAGE ON SCHEMA public FROM PUBLIC", "GRANT USAGE ON SCHEMA public TO PUBLIC", "USAGE on the schema public")
	broken("REVOKE CONNECT ON DATABASE "+in.Prefix+" FROM PUBLIC", "GRANT CONNECT ON DATABASE "+in.Prefix+" TO PUBLIC", "CONNECT on the database "+in.Prefix)
	exec(fmt.Sprintf("ALTER USER %s NOINHERIT", in.User(roletest.Server)))
	require.ErrorContains(t, check(), "lacks SELECT on alert_rules, INSERT on alert_rules, UPDATE on alert_rules, DELETE on alert_rules, SELECT on alerts, INSERT on alerts and ")
	exec(fmt.Sprintf("ALTER USER %s INHERIT", in.User(roletest.Server)))
	require.NoError(t, check())

	exec("DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
	require.ErrorIs(t, schema.Check(t.Context(), in.DSN[roletest.Server]), schema.ErrBehind, "a schema that is behind is another matter")
	exec("DROP TABLE stocks")
	require.ErrorIs(t, check(), schema.ErrBehind)
}

// PUBLIC has no access to the schema. Migrate gives the roles the access that they need.
func TestSchemaWithoutPublicAccessIsOpenedOnlyForTheRoles(t *testing.T) {
	t.Parallel()
	in := roletest.Install(t, "CREATEROLE")
	in.AsRoot(t, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
	in.AsRoot(t, "REVOKE ALL ON DATABASE "+in.Prefix+" FROM PUBLIC")
	require.NoError(t, schema.Migrate(t.Context(), in.DSN[roletest.Owner], in.Options()))
	for who, role := range map[string]schema.Role{roletest.Server: schema.ServerRole, roletest.Cron: schema.RetentionRole, roletest.Reader: schema.ReaderRole} {
		st, err := schema.CheckUser(t.Context(), in.DSN[who], role)
		require.NoError(t, err, who)
		require.Equal(t, schema.UserStanding{User: in.User(who)}, schema.UserStanding{User: st.User, More: st.More})
	}
	_, err := schema.CheckUser(t.Context(), in.DSN[roletest.Nobody], schema.ReaderRole)
	require.ErrorContains(t, err, "CONNECT on the database")
}

func TestExcessPrivilegeIsNamed(t *testing.T) {
	t.Parallel()
	in := roletest.Migrated(t)
	for name, c := range map[string]struct {
		give string
		more []string
	}{
		"Nothing":    {"", nil},
		"Superuser":  {"ALTER USER %s SUPERUSER", []string{"it is a superuser", "it owns the tables"}},
		"MakesRoles": {"ALTER USER %s CREATEROLE", []string{"CREATEROLE"}},
		"Programs":   {"GRANT pg_execute_server_program TO %s", []string{"pg_execute_server_program"}},
		"Schema":     {"GRANT CREATE ON SCHEMA public TO %s", []string{"CREATE on the schema"}},
		"Trail":      {"GRANT UPDATE, DELETE, TRUNCATE ON audit_events TO %s", []string{"UPDATE, DELETE, TRUNCATE on audit_events"}},
		"Owner":      {"GRANT " + in.User(roletest.Owner) + " TO %s", []string{"CREATE on the database", "CREATE on the schema", "TEMPORARY on the database", "it owns the tables"}},
		"Retention":  {"GRANT " + in.Prefix + "_retention TO %s", []string{"DELETE on audit_events, history", "UPDATE on feed", "SELECT, DELETE on removals"}},
	} {
		user := roletest.Unique("more_")
		in.AsRoot(t, fmt.Sprintf("CREATE USER %s IN ROLE %s_server", user, in.Prefix))
		if c.give != "" {
			in.AsRoot(t, fmt.Sprintf(c.give, user))
		}
		st, err := schema.CheckUser(t.Context(), roletest.As(t, in.Root, user), schema.ServerRole)
		require.NoError(t, err, name)
		require.Equal(t, schema.UserStanding{User: user, More: c.more, Retains: name == "Retention" || name == "Owner" || name == "Superuser"}, st, name)
	}
}
