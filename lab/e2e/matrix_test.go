package e2e

import (
	"bytes"
	"maps"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// platformAdmin is the role that permits everything.
const platformAdmin = "platform admin"

// leastRoles maps a permission (x-permission) to the smallest role that has it. It repeats the product's policy on purpose: after a change there,
// someone must confirm the change here.
var leastRoles = map[string]string{
	"projects.read": "viewer", "projects.write": "admin", "projects.create": platformAdmin, "projects.delete": platformAdmin,
	"spaces.read": "viewer", "spaces.write": "provider", "pools.read": "viewer", "pools.write": "provider",
	"claims.read": "viewer", "claims.write": "consumer", "classes.read": "viewer", "classes.write": "provider", "allocations.read": "viewer", "allocations.write": "provider",
	"grants.read": "provider", "grants.write": "provider", "members.read": "admin", "members.write": "admin",
	"keys.read": "admin", "keys.write": "admin", "quotas.read": "viewer", "quotas.write": "admin",
	"audit.read": "admin", "history.read": "viewer", "changes.read": "viewer",
	"consumers.read": "viewer", "consumers.write": "consumer", "realms.confirm": "admin",
	"webhooks.read": "viewer", "webhooks.write": "admin", "deliveries.read": "admin", "deliveries.write": "admin",
	"alertrules.read": "viewer", "alertrules.write": "provider", "alerts.read": "viewer",
}

// outside lists the operations without a project in their path. All other operations check the caller's role in the project. The list may only become
// shorter.
var outside = []string{"createProject", "getHealth", "getReadiness", "getVersion", "getWhoami", "listProjects", "listRegions", "search"}

// permission returns the permission that an operation requires.
func (op *operation) permission() string {
	action, _ := op.Extensions["x-permission"].(string)
	return action
}

// matrix is a stage with callers in each role of its projects. A stranger, the admin of another project, is among the callers.
type matrix struct {
	*stage
	by        map[string]map[string]*caller // by project and role
	stranger  *caller
	anonymous *caller
	forged    map[string]*caller // with invalid credentials
}

func setupMatrix(t testing.TB) *matrix {
	t.Helper()
	m := &matrix{stage: furnish(t, setupKeys(t)), by: map[string]map[string]*caller{}}
	for _, project := range []string{m.names["project"], idleProject} {
		m.by[project] = map[string]*caller{platformAdmin: m.caller}
		for _, role := range roles {
			m.by[project][role] = m.as(m.newKey(t, project, "as-"+role, role))
		}
	}
	m.ownQuota(t)
	m.newProject(t, "team-strange")
	m.stranger = m.as(m.newKey(t, "team-strange", "stranger", "admin"))
	m.created(t, m.stranger.do(t, http.MethodPost, in("team-strange", "pools"), named("default", obj{"cidr": "10.20.0.0/16"})))
	m.anonymous = m.as("")
	token := m.by[m.names["project"]]["admin"].token
	m.forged = map[string]*caller{
		"UnknownKey":  m.as("carve_00000000000000000000000000000000_" + strings.Repeat("a", 52)),
		"WrongSecret": m.as(token[:len(token)-52] + strings.Repeat("a", 52)),
	}
	return m
}

// ownQuota replaces the project's quota with a quota that the project's admin made. The admin may not change a quota of the platform.
func (m *matrix) ownQuota(t testing.TB) {
	t.Helper()
	path := in(m.names["project"], "quotas", m.names["quota"])
	set := decode[obj](t, m.ok(t, m.do(t, http.MethodGet, path, nil)))
	m.deleted(t, m.do(t, http.MethodDelete, path, nil))
	own := m.by[m.names["project"]]["admin"]
	m.created(t, own.do(t, http.MethodPut, path, obj{"spec": set["spec"]}))
}

// allowed lists the roles that include a role, largest first.
func allowed(least string) []string {
	out := []string{platformAdmin}
	if i := slices.Index(roles, least); i >= 0 {
		higher := slices.Clone(roles[i:])
		slices.Reverse(higher)
		out = append(out, higher...)
	}
	return out
}

// The test tries each operation of the contract as each caller: without credentials, with wrong credentials, as a stranger, and in each role. For
// each refusal, an authorized caller sends the same request and succeeds. A refused request writes only its record in the audit trail.
func TestEveryOperationRefusesUnauthorizedCallers(t *testing.T) {
	t.Parallel()
	m := setupMatrix(t)
	var open []string
	for _, op := range contract().operations {
		if !slices.Contains(op.template, "{project}") {
			open = append(open, op.id)
		}
	}
	require.Equal(t, outside, open, "operations without a project in their path")
	covered := map[string]bool{}
	for _, each := range m.specimens(t) {
		if slices.Contains(outside, each.op.id) {
			continue
		}
		covered[each.op.id] = t.Run(each.String(), func(t *testing.T) {
			least, known := leastRoles[each.op.permission()]
			require.True(t, known, "nobody knows who may %q", each.op.permission())
			m.refuses(t, each, least)
			m.admits(t, each, least)
		}) || covered[each.op.id]
	}
	for _, op := range contract().operations {
		require.True(t, covered[op.id] || slices.Contains(outside, op.id), "%s was not tried", op.id)
	}
	m.keepsSecrets(t)
}

// probe sets the request id, which the response repeats. With equal ids, responses can be compared byte by byte.
var probe = header("X-Request-Id", "probe")

// refuses tries an operation as each unauthorized caller and checks the records in the audit trail.
func (m *matrix) refuses(t *testing.T, each specimen, least string) {
	t.Helper()
	project := strings.Split(each.path, "/")[3]
	ways := []func(c *caller, each specimen) answer{
		func(c *caller, each specimen) answer { return each.send(t, c, probe) },
		func(c *caller, each specimen) answer { return each.send(t, c, probe, query("unheard=of")) },
	}
	if each.op.RequestBody != nil {
		ways = append(ways, func(c *caller, each specimen) answer { return each.sendBody(t, c, []byte("{"), probe) })
	}
	if each.op.method == http.MethodGet {
		ways = append(ways, func(c *caller, each specimen) answer {
			return c.do(t, http.MethodHead, each.path, nil, append(each.always(), probe)...)
		})
	}
	m.writesNothingBut(t, func() {
		t.Run("WithoutCredentials", func(t *testing.T) {
			require.Empty(t, m.newEvents(t, func() {
				for _, send := range ways {
					require.Equal(t, http.StatusUnauthorized, send(m.anonymous, each).status)
					unknown, wrong := send(m.forged["UnknownKey"], each), send(m.forged["WrongSecret"], each)
					require.Equal(t, http.StatusUnauthorized, unknown.status)
					require.Equal(t, whole(unknown), whole(wrong), "which it is, is not told")
				}
			}))
		})
		t.Run("AsAStranger", func(t *testing.T) {
			missing := each
			nowhere := project[:len(project)-1] + "0" // of the same length, so that the lengths of responses can be compared
			missing.path = strings.Replace(each.path, "/"+project, "/"+nowhere, 1)
			for _, send := range ways {
				var here, there answer
				made := m.newEvents(t, func() { here = send(m.stranger, each) })
				require.Equal(t, http.StatusNotFound, here.status, string(here.body))
				m.recorded(t, each, made, project, "not_found")
				made = m.newEvents(t, func() { there = send(m.stranger, missing) })
				m.recorded(t, each, made, "platform", "not_found")
				there.body = bytes.ReplaceAll(there.body, []byte(nowhere), []byte(project))
				require.Equal(t, whole(there), whole(here), "as for a project that does not exist")
			}
			if last := each.op.template[len(each.op.template)-1]; strings.HasPrefix(last, "{") {
				nothing := each
				nothing.path = each.path[:len(each.path)-1] + "0"
				here, there := each.send(t, m.stranger, probe), nothing.send(t, m.stranger, probe)
				there.body = bytes.ReplaceAll(there.body, []byte(nothing.path), []byte(each.path))
				there.body = bytes.ReplaceAll(there.body, []byte(project[:len(project)-1]+"0"), []byte(project)) // for deleteProject
				require.Equal(t, whole(there), whole(here), "as for a thing that does not exist in it")
			}
		})
		for _, role := range roles {
			if slices.Contains(allowed(least), role) {
				continue
			}
			t.Run("As"+strings.ToUpper(role[:1])+role[1:], func(t *testing.T) {
				for _, send := range ways {
					var a answer
					made := m.newEvents(t, func() { a = send(m.by[project][role], each) })
					require.Equal(t, http.StatusForbidden, a.status, string(a.body))
					m.recorded(t, each, made, project, "permission_denied")
					if a.method == http.MethodHead {
						continue
					}
					need := m.refused(t, a, "permission_denied").Detail
					if least == platformAdmin {
						require.Contains(t, need, `admin in project "platform"`)
					} else {
						require.Contains(t, need, least+` in project "`+project+`"`)
					}
				}
			})
		}
	}, "audit_events")
}

// recorded requires one record for an attempt to change something, and none for an attempt to read.
func (m *matrix) recorded(t testing.TB, each specimen, made []event, project, outcome string) {
	t.Helper()
	if !each.op.changes() {
		require.Empty(t, made)
		return
	}
	require.Len(t, made, 1)
	e := made[0]
	require.Equal(t, []any{project, each.op.id, each.op.resourceKind(t), outcome, "probe", "api-key"},
		[]any{e.Project, e.Operation, e.Kind, e.Outcome, e.RequestID, e.Method})
	require.Contains(t, e.Subject, "key:team-")
	require.Nil(t, e.Before)
	require.Nil(t, e.After)
}

// whole returns the parts of a response that can be compared: everything except the time.
func whole(a answer) map[string]any {
	h := maps.Clone(a.header)
	delete(h, "Date")
	return map[string]any{"status": a.status, "header": h, "body": string(a.body)}
}

// admits checks that the matrix does not refuse too much. Each authorized caller makes the request, as a dry run if it changes something. At the end,
// a caller with the smallest sufficient role makes the real request.
func (m *matrix) admits(t *testing.T, each specimen, least string) {
	t.Helper()
	project := strings.Split(each.path, "/")[3]
	may := allowed(least)
	for _, role := range may {
		var options []option
		if each.op.changes() {
			options = append(options, dryRun)
		}
		require.Empty(t, m.newEvents(t, func() {
			a := each.send(t, m.by[project][role], options...)
			require.True(t, a.ok(), "as %s: %d %s", role, a.status, a.body)
		}), "of a dry run or a read")
	}
	if each.op.changes() {
		a := each.send(t, m.by[project][may[len(may)-1]])
		require.True(t, a.ok(), "as %s: %d %s", may[len(may)-1], a.status, a.body)
	}
}
