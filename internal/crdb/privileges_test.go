package crdb_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb"
)

const denied = "42501"

// What somebody with a server's credentials cannot do, whatever he sends.
func TestTheServersUserIsRefused(t *testing.T) {
	t.Parallel()
	in := migrated(t)
	in.asRoot(t, "CREATE SCHEMA other; CREATE TABLE other.secrets (word TEXT)")
	in.asRoot(t, "GRANT SELECT ON other.secrets TO PUBLIC") // without USAGE on its schema, that is nothing
	c := connect(t, in.dsn[theServer], nil)
	for promise, statements := range map[string][]string{
		"DDL": {
			"CREATE TABLE mine (a INT)", "CREATE TEMP TABLE mine (a INT)", "CREATE SCHEMA mine", "CREATE VIEW mine AS SELECT 1", "CREATE SEQUENCE mine",
			"CREATE FUNCTION mine() RETURNS INT LANGUAGE SQL AS 'SELECT 1'", "CREATE TYPE mine AS ENUM ('a')", "CREATE EXTENSION pgcrypto", "CREATE ROLE mine",
			"CREATE INDEX ON claims (uid)", "CREATE RULE mine AS ON INSERT TO audit_events DO INSTEAD NOTHING",
			"CREATE TRIGGER mine BEFORE INSERT ON audit_events FOR EACH ROW EXECUTE FUNCTION suppress_redundant_updates_trigger()",
			"ALTER TABLE claims ADD COLUMN mine INT", "ALTER TABLE audit_events DISABLE TRIGGER ALL", "ALTER TYPE crdb_internal_region RENAME TO mine",
			"ALTER SCHEMA public RENAME TO mine", "ALTER DATABASE " + in.prefix + " SET search_path = other", "ALTER ROLE " + in.prefix + "_server SUPERUSER",
			"DROP TABLE claims", "DROP TYPE crdb_internal_region CASCADE", "TRUNCATE claims", "COMMENT ON TABLE claims IS 'mine'", "REINDEX TABLE claims", "CLUSTER claims USING claims_pkey",
			"REASSIGN OWNED BY " + in.user(theOwner) + " TO " + in.user(theServer),
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
			"SELECT 1 FROM other.secrets", "SELECT 1 FROM pg_authid", "SET ROLE " + in.user(theOwner), "SET ROLE " + in.prefix + "_retention", "SET SESSION AUTHORIZATION " + in.user(theOwner),
			"GRANT " + in.prefix + "_retention TO " + in.user(theServer),
		},
		"TheMachine": {
			"COPY audit_events TO PROGRAM 'true'", "COPY audit_events TO '/tmp/trail'", "COPY audit_events FROM '/etc/passwd'", "SELECT pg_read_file('/etc/passwd')", "SELECT pg_ls_dir('/')",
			"SELECT lo_import('/etc/passwd')", "SELECT pg_reload_conf()", "SET session_replication_role = replica", "SET log_min_messages = panic",
		},
	} {
		for _, sql := range statements {
			require.Equal(t, denied, code(t, c, sql), "%s: %s", promise, sql)
		}
	}
	before := in.granted(t)
	for _, g := range crdb.Grants() {
		if g.Server != "" { // PostgreSQL warns, and grants nothing
			_, err := c.Exec(t.Context(), "GRANT ALL ON "+g.Table+" TO "+in.user(theServer))
			require.NoError(t, err)
		}
	}
	require.Equal(t, before, in.granted(t))
	for _, allowed := range []string{"SELECT 1 FROM audit_events", "INSERT INTO audit_events SELECT * FROM audit_events", "UPDATE claims SET generation = 1"} {
		require.Empty(t, code(t, c, allowed), "the tests above fail for the reason that they are about")
	}
}

func TestRetentionAndReadersAreRefused(t *testing.T) {
	t.Parallel()
	in := migrated(t)
	cron, reader := connect(t, in.dsn[theCron], nil), connect(t, in.dsn[theReader], nil)
	require.Empty(t, code(t, cron, "DELETE FROM audit_events"))
	for _, sql := range []string{
		"UPDATE audit_events SET events = ''", "INSERT INTO audit_events SELECT * FROM audit_events", "TRUNCATE audit_events", "SELECT 1 FROM claims", "DELETE FROM claims",
		"UPDATE projects SET name = 'x'", "CREATE TABLE mine (a INT)", "SELECT 1 FROM api_keys",
	} {
		require.Equal(t, denied, code(t, cron, sql), sql)
	}
	for _, g := range crdb.Grants() {
		for _, sql := range []string{"DELETE FROM " + g.Table, "TRUNCATE " + g.Table, "LOCK TABLE " + g.Table + " IN ROW EXCLUSIVE MODE"} {
			require.Equal(t, denied, code(t, reader, sql), sql)
		}
		if g.Reader != "" {
			require.Empty(t, code(t, reader, "SELECT 1 FROM "+g.Table))
		}
	}
	require.Equal(t, denied, code(t, reader, "SELECT 1 FROM idempotency_keys"))
}

// A user who lacks something is told what, and what gives it; whichever it is.
func TestWhatAUserLacksIsNamed(t *testing.T) {
	t.Parallel()
	in := migrated(t)
	root := connect(t, in.root, nil)
	check := func() error {
		_, err := crdb.CheckUser(t.Context(), in.dsn[theServer], crdb.ServerRole)
		return err
	}
	exec := func(sql string) {
		_, err := root.Exec(t.Context(), sql)
		require.NoError(t, err, sql)
	}
	mends := fmt.Sprintf("; `ipamctl migrate --server-user %[1]s`, run as the owner of the tables, gives it what is missing", in.user(theServer))
	broken := func(take, give, lacks string) {
		exec(take)
		err := check()
		require.ErrorIs(t, err, crdb.ErrPrivileges, take)
		require.Equal(t, fmt.Sprintf("the database user lacks privileges: %q has not %s%s", in.user(theServer), lacks, mends), err.Error())
		exec(give)
	}
	require.NoError(t, check())
	for _, g := range crdb.Grants() {
		for p := range strings.SplitSeq(g.Server, ", ") {
			if p != "" {
				on := fmt.Sprintf("%s ON %s", p, g.Table)
				broken(fmt.Sprintf("REVOKE %s FROM %s_server", on, in.prefix), fmt.Sprintf("GRANT %s TO %s_server", on, in.prefix), p+" on "+g.Table)
			}
		}
	}
	broken("REVOKE USAGE ON SCHEMA public FROM PUBLIC", "GRANT USAGE ON SCHEMA public TO PUBLIC", "USAGE on the schema public")
	broken("REVOKE CONNECT ON DATABASE "+in.prefix+" FROM PUBLIC", "GRANT CONNECT ON DATABASE "+in.prefix+" TO PUBLIC", "CONNECT on the database "+in.prefix)
	exec(fmt.Sprintf("ALTER USER %s NOINHERIT", in.user(theServer)))
	require.ErrorContains(t, check(), "has not SELECT on allocations, INSERT on allocations, UPDATE on allocations, DELETE on allocations, SELECT on api_keys, INSERT on api_keys and ")
	exec(fmt.Sprintf("ALTER USER %s INHERIT", in.user(theServer)))
	require.NoError(t, check())

	exec("DELETE FROM goose_db_version WHERE version_id = (SELECT max(version_id) FROM goose_db_version)")
	require.ErrorIs(t, crdb.CheckSchema(t.Context(), in.dsn[theServer]), crdb.ErrSchemaBehind, "a schema that is behind is another matter")
	exec("DROP TABLE stocks")
	require.ErrorIs(t, check(), crdb.ErrSchemaBehind)
}

// In a schema that nobody but its owner may look into, the roles get what they need to.
func TestAClosedSchemaIsOpenedForTheRolesAlone(t *testing.T) {
	t.Parallel()
	in := install(t, "CREATEROLE")
	in.asRoot(t, "REVOKE ALL ON SCHEMA public FROM PUBLIC")
	in.asRoot(t, "REVOKE ALL ON DATABASE "+in.prefix+" FROM PUBLIC")
	require.NoError(t, crdb.Migrate(t.Context(), in.dsn[theOwner], in.options()))
	for who, role := range map[string]crdb.Role{theServer: crdb.ServerRole, theCron: crdb.RetentionRole, theReader: crdb.ReaderRole} {
		st, err := crdb.CheckUser(t.Context(), in.dsn[who], role)
		require.NoError(t, err, who)
		require.Equal(t, crdb.UserStanding{User: in.user(who)}, crdb.UserStanding{User: st.User, More: st.More})
	}
	_, err := crdb.CheckUser(t.Context(), in.dsn[theNobody], crdb.ReaderRole)
	require.ErrorContains(t, err, "CONNECT on the database")
}

func TestWhatAUserMayBesideItsRoleIsNamed(t *testing.T) {
	t.Parallel()
	in := migrated(t)
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
		"Owner":      {"GRANT " + in.user(theOwner) + " TO %s", []string{"CREATE on the database", "CREATE on the schema", "TEMPORARY on the database", "it owns the tables"}},
		"Retention":  {"GRANT " + in.prefix + "_retention TO %s", []string{"DELETE on audit_events, history", "SELECT, DELETE on removals"}},
	} {
		user := unique("more_")
		in.asRoot(t, fmt.Sprintf("CREATE USER %s IN ROLE %s_server", user, in.prefix))
		if c.give != "" {
			in.asRoot(t, fmt.Sprintf(c.give, user))
		}
		st, err := crdb.CheckUser(t.Context(), as(t, in.root, user), crdb.ServerRole)
		require.NoError(t, err, name)
		require.Equal(t, crdb.UserStanding{User: user, More: c.more, Retains: name == "Retention" || name == "Owner" || name == "Superuser"}, st, name)
	}
}
