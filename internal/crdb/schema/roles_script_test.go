package schema

import (
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgtype"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/pgscript"
)

// access is the cluster's state of users, roles and grants.
type access struct {
	users   map[string]bool // users and roles; true: may create roles
	granted map[string]map[privilege]bool
	usage   map[string]bool
	members map[[2]string]bool
	open    bool // whether PUBLIC may create tables
}

// scriptOwner is the user of the connection. newAccess also adds login users.
const scriptOwner = "carve_owner"

func newAccess() *access {
	return &access{
		users:   map[string]bool{scriptOwner: true, "app": false, "cron": false, "eyes": false},
		granted: map[string]map[privilege]bool{}, usage: map[string]bool{}, members: map[[2]string]bool{}, open: true,
	}
}

var (
	madeRole   = regexp.MustCompile(`^CREATE ROLE IF NOT EXISTS "([a-z_]+)"$`)
	gaveTables = regexp.MustCompile(`^(GRANT|REVOKE) ([A-Z, ]+) ON TABLE ("[a-z_", ]+") (?:TO|FROM) "([a-z_]+)"$`)
	gaveUsage  = regexp.MustCompile(`^GRANT USAGE ON SCHEMA "public" TO "([a-z_]+)"$`)
	gaveRole   = regexp.MustCompile(`^GRANT "([a-z_]+)" TO "([a-z_]+)"$`)
)

// answer replies to a statement about roles. It returns false for any other statement.
func (a *access) answer(s pgscript.Statement) (pgscript.Reply, bool) {
	var rows [][]any
	switch {
	case s.SQL == flat(askSelf):
		rows = [][]any{{scriptOwner, "carve", "public"}}
	case s.SQL == flat(askRoles):
		for _, name := range slices.Sorted(maps.Keys(a.users)) {
			rows = append(rows, []any{name, a.users[name]})
		}
	case s.SQL == flat(askGranted):
		for role, all := range a.granted {
			for p := range all {
				rows = append(rows, []any{role, p.table, p.name})
			}
		}
	case s.SQL == flat(askMembers):
		for m := range a.members {
			rows = append(rows, []any{m[0], m[1]})
		}
	case s.SQL == flat(askReach):
		for _, r := range roles {
			if n := r.Name("carve"); slices.Contains(slices.Collect(maps.Keys(a.users)), n) {
				rows = append(rows, []any{n, true, a.usage[n]})
			}
		}
	case s.SQL == flat(askPublicOf("public")):
		n := int64(0)
		if a.open {
			n = 1
		}
		rows = [][]any{{n}}
	case s.SQL == flat(askMay):
		for p := range a.granted[ServerRole.Name("carve")] {
			rows = append(rows, []any{p.table, p.name})
		}
	case s.SQL == flat(askMore):
		rows = [][]any{{false, false, a.open}}
	case s.SQL == flat(askRoleOption), s.SQL == flat(askOwner):
		rows = [][]any{{false}}
	case s.SQL == revokeCreate("public"):
		a.open = false
	case s.SQL == grantCreate("public", scriptOwner):
	default:
		return a.change(s.SQL)
	}
	return pgscript.Reply{Rows: append([][]any{}, rows...)}, true
}

func (a *access) change(sql string) (pgscript.Reply, bool) {
	if m := madeRole.FindStringSubmatch(sql); m != nil {
		a.users[m[1]], a.granted[m[1]] = false, map[privilege]bool{}
		return pgscript.Reply{}, true
	}
	if m := gaveUsage.FindStringSubmatch(sql); m != nil {
		a.usage[m[1]] = true
		return pgscript.Reply{}, true
	}
	if m := gaveRole.FindStringSubmatch(sql); m != nil {
		a.members[[2]string{m[1], m[2]}] = true
		return pgscript.Reply{}, true
	}
	m := gaveTables.FindStringSubmatch(sql)
	if m == nil {
		return pgscript.Reply{}, false
	}
	for table := range strings.SplitSeq(m[3], ", ") {
		for p := range strings.SplitSeq(m[2], ", ") {
			a.granted[m[4]][privilege{strings.Trim(table, `"`), p}] = m[1] == "GRANT"
			if m[1] == "REVOKE" {
				delete(a.granted[m[4]], privilege{strings.Trim(table, `"`), p})
			}
		}
	}
	return pgscript.Reply{}, true
}

// shape describes the statements that answer knows.
func (a *access) shape(sql string) (pgscript.Shape, bool) {
	const text, yes, number, list = pgtype.TextOID, pgtype.BoolOID, pgtype.Int8OID, pgtype.TextArrayOID
	of := func(params []uint32, types ...uint32) (pgscript.Shape, bool) {
		s := pgscript.Shape{Params: params}
		for _, t := range types {
			s.Columns = append(s.Columns, pgscript.Column{Name: "c", Type: t})
		}
		return s, true
	}
	switch sql {
	case flat(askSelf):
		return of(nil, text, text, text)
	case flat(askRoles):
		return of([]uint32{list}, text, yes)
	case flat(askGranted):
		return of([]uint32{text, list}, text, text, text)
	case flat(askMembers):
		return of([]uint32{list}, text, text)
	case flat(askReach):
		return of([]uint32{list, text}, text, yes, yes)
	case flat(askPublicOf("public")):
		return of(nil, number)
	case flat(askMay):
		return of([]uint32{list, list}, text, text)
	case flat(askMore):
		return of(nil, yes, yes, yes)
	case flat(askRoleOption), flat(askOwner):
		return of(nil, yes)
	}
	return pgscript.Shape{}, false
}

func flat(sql string) string { return strings.Join(strings.Fields(sql), " ") }

// scriptRoles returns the role options of the tests.
func scriptRoles() RoleOptions {
	return RoleOptions{Mode: RolesRequire, Users: map[Role][]string{ServerRole: {"app"}, RetentionRole: {"cron"}, ReaderRole: {"eyes"}}}
}

// On CockroachDB, Migrate creates the roles once. A second run finds them complete. If someone changes them, the next run repairs them.
func TestCockroachRolesAreCreatedOnceAndRepaired(t *testing.T) {
	t.Parallel()
	c := newCluster("eu")
	server := c.start(t)
	o := MigrateOptions{Regions: []string{"eu"}, Roles: scriptRoles()}
	var sentences []string
	o.Report = func(s string) { sentences = append(sentences, s) }
	require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	require.Equal(t, "PUBLIC may no longer create tables in the schema public", sentences[len(sentences)-1])
	for _, r := range roles {
		need := map[privilege]bool{}
		for _, p := range r.requiredPrivileges() {
			need[p] = true
		}
		require.Equal(t, need, c.access.granted[r.Name("carve")])
	}
	require.Len(t, c.access.members, 3)
	server.Forget()
	sentences = nil
	require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	require.Equal(t, []string{"nothing to do"}, sentences)
	for _, l := range server.Said() {
		require.NotContains(t, []string{"GRANT", "REVOKE", "CREATE"}, verb(l.SQL), "no schema change: %s", l.SQL)
	}
	st, err := CheckUser(t.Context(), server.DSN(), ServerRole)
	require.NoError(t, err)
	require.Equal(t, UserStanding{User: scriptOwner}, st)

	granted := c.access.granted[ServerRole.Name("carve")]
	granted[privilege{"audit_events", "DELETE"}] = true
	delete(granted, privilege{"holds", "UPDATE"})
	st, err = CheckUser(t.Context(), server.DSN(), ServerRole)
	require.ErrorIs(t, err, ErrPrivileges)
	require.ErrorContains(t, err, "lacks UPDATE on holds;")
	require.Empty(t, st.More)
	sentences = nil
	require.NoError(t, Migrate(t.Context(), server.DSN(), o))
	require.Equal(t, []string{"carve_server: no more DELETE on audit_events", "carve_server: UPDATE on holds"}, sentences)

	// If the user may not create roles, Migrate fails before it takes the lease.
	delete(c.access.users, ReaderRole.Name("carve"))
	c.access.users[scriptOwner] = false
	server.Forget()
	require.ErrorIs(t, Migrate(t.Context(), server.DSN(), o), ErrRoles)
	for _, l := range server.Said() {
		require.Equal(t, "SELECT", verb(l.SQL), "only asked: %s", l.SQL)
	}
}

// The engine may not support a query about additional privileges. A server that has all needed privileges starts anyway.
func TestUserIsAcceptedIfExcessPrivilegesAreUnknown(t *testing.T) {
	t.Parallel()
	c := newCluster("eu")
	server := c.start(t)
	require.NoError(t, Migrate(t.Context(), server.DSN(), MigrateOptions{Regions: []string{"eu"}, Roles: scriptRoles()}))
	c.fail[flat(askMore)] = pgscript.Reply{Code: "42883"}
	st, err := CheckUser(t.Context(), server.DSN(), ServerRole)
	require.NoError(t, err)
	require.Len(t, st.More, 1)
	require.Contains(t, st.More[0], "cannot read the other privileges")
}
