package e2e

import (
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// The test tries the operations without a project in their path as each caller.
func TestOperationsOutsideOfProjects(t *testing.T) {
	t.Parallel()
	m := setupMatrix(t)
	team := m.names["project"]
	everybody := map[string]*caller{"stranger": m.stranger}
	maps.Copy(everybody, m.by[team])
	strangers := maps.Clone(m.forged)
	strangers["WithoutCredentials"] = m.anonymous

	t.Run("HealthNeedsNoCredentials", func(t *testing.T) {
		for _, path := range []string{"/healthz", "/readyz"} {
			for name, c := range strangers {
				require.Equal(t, http.StatusOK, c.do(t, http.MethodGet, path, nil).status, name)
			}
		}
	})
	t.Run("OtherOperationsNeedCredentials", func(t *testing.T) {
		m.writesNothing(t, func() {
			for name, c := range strangers {
				for _, path := range []string{"/v1/projects", "/v1/whoami", "/v1/version"} {
					c.refused(t, c.do(t, http.MethodGet, path, nil), "unauthenticated")
				}
				c.refused(t, c.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": "mine"}}), "unauthenticated")
				require.NotEmpty(t, name)
			}
		})
	})
	t.Run("ProjectsAreMadeByPlatformAdminsAlone", func(t *testing.T) {
		made := m.newEvents(t, func() {
			m.writesNothingBut(t, func() {
				for _, c := range everybody {
					if c != m.caller {
						p := c.refused(t, c.do(t, http.MethodPost, "/v1/projects", obj{"metadata": obj{"name": "mine"}}), "permission_denied")
						require.Contains(t, p.Detail, `admin in project "platform"`)
					}
				}
			}, "audit_events")
		})
		require.Len(t, made, len(everybody)-1)
		for _, e := range made {
			require.Equal(t, []string{"platform", "createProject", "permission_denied", "Project"}, []string{e.Project, e.Operation, e.Outcome, e.Kind})
		}
		m.newProject(t, "mine")
	})
	t.Run("TheListHasTheCallersProjects", func(t *testing.T) {
		for name, c := range everybody {
			want := []string{team}
			switch name {
			case "stranger":
				want = []string{"team-strange"}
			case platformAdmin:
				want = []string{"mine", "platform", team, idleProject, "team-strange"}
			}
			whole := decode[page](t, c.ok(t, c.do(t, http.MethodGet, "/v1/projects", nil)))
			require.Equal(t, want, whole.names(), name)
			require.Empty(t, whole.NextCursor, "a cursor would tell that there is more")
			first := decode[page](t, c.ok(t, c.do(t, http.MethodGet, "/v1/projects", nil, query("limit=1"))))
			require.Equal(t, want[:1], first.names(), name)
		}
	})
	t.Run("WhoamiSaysTheRole", func(t *testing.T) {
		for name, c := range everybody {
			me := decode[client.Whoami](t, c.ok(t, c.do(t, http.MethodGet, "/v1/whoami", nil)))
			require.Equal(t, client.AuthMethod("api-key"), me.Method)
			require.Equal(t, name == platformAdmin, me.PlatformAdmin)
			require.Len(t, me.Roles, 1)
			switch name {
			case "stranger":
				require.Equal(t, "key:team-strange/stranger", me.Subject)
			case platformAdmin:
				require.Equal(t, client.RoleInProject{Project: "platform", Role: "admin"}, me.Roles[0])
			default:
				require.Equal(t, "key:"+team+"/as-"+name, me.Subject)
				require.Equal(t, client.RoleInProject{Project: team, Role: client.Role(name)}, me.Roles[0])
			}
		}
	})
}
