package api_test

import (
	"context"
	"encoding/json"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestAccessLogNamesSubjectAndAuthentication(t *testing.T) {
	t.Parallel()
	l := limit(t, script())
	l.ask(t, "alice", here, "GET", poolsPath+"/p")
	line := lastRequest(t, l)
	require.Equal(t, "alice", line["subject"])
	require.Equal(t, "api-key", line["auth"])
	require.Equal(t, here, line["remote"])
	require.Equal(t, "GET", line["method"])
	require.NotContains(t, l.logs.String(), "team-a", "the route, not the path")

	l.ask(t, "mallory", here, "GET", poolsPath+"/p")
	line = lastRequest(t, l)
	require.Empty(t, line["subject"])
	require.EqualValues(t, 401, line["status"])
}

func TestCredentialsAreNeverLogged(t *testing.T) {
	t.Parallel()
	token, _ := tenancy.NewToken([16]byte{1})
	for _, who := range []string{token, "eyJhbGciOi.eyJpc3MiOiJ4.c2lnbmF0dXJl"} {
		l := limit(t, script())
		for range 6 { // 401, then 429
			w := l.ask(t, who, here, "GET", poolsPath+"/p")
			require.NotContains(t, w.Body.String(), who)
		}
		require.Contains(t, l.logs.String(), "request refused")
		for _, part := range strings.FieldsFunc(who, func(r rune) bool { return r == '.' || r == '_' }) {
			if part != "carve" {
				require.NotContains(t, l.logs.String(), part)
			}
		}
	}
}

// lastRequest returns the last line of the access log.
func lastRequest(t *testing.T, l limited) map[string]any {
	t.Helper()
	lines := strings.Split(strings.TrimSpace(l.logs.String()), "\n")
	var line map[string]any
	require.NoError(t, json.Unmarshal([]byte(lines[len(lines)-1]), &line))
	require.Equal(t, "request", line["msg"])
	return line
}

// admits records the last call of Admit, with the origin of the request.
type admits struct {
	*scripted
	action  tenancy.Action
	project string
	origin  tenancy.Origin
}

func (a *admits) Admit(ctx context.Context, action tenancy.Action, project string) error {
	a.action, a.project, a.origin = action, project, tenancy.OriginOf(ctx)
	return a.nobody.Admit(ctx, action, project)
}

func (a *admits) DeletePoolGrant(context.Context, string, string, string, usecase.Request) error {
	return nil
}

func TestAdmissionReceivesActionProjectAndOrigin(t *testing.T) {
	t.Parallel()
	use := &admits{scripted: script()}
	l := limit(t, use)
	for path, want := range map[string]struct {
		method    string
		action    tenancy.Action
		project   string
		operation string
		resource  string
	}{
		poolsPath + "/p":               {"GET", tenancy.PoolsRead, "team-a", "getPool", "p"},
		poolsPath + "/q/grants/team-b": {"DELETE", tenancy.GrantsWrite, "team-a", "deletePoolGrant", "q"},
		"/v1/projects":                 {"POST", tenancy.ProjectsCreate, "", "createProject", ""},
		"/v1/projects/team%2Db":        {"DELETE", tenancy.ProjectsDelete, "team-b", "deleteProject", ""},
		"/v1/projects/x/claims/c%20":   {"PATCH", tenancy.ClaimsWrite, "x", "patchClaim", "c "},
	} {
		w := l.ask(t, "alice", here, want.method, path)
		require.Equal(t, want.action, use.action, path)
		require.Equal(t, want.project, use.project, path)
		require.Equal(t, tenancy.Origin{
			RequestID: w.Header().Get("X-Request-Id"), Remote: here, Operation: want.operation, Resource: want.resource,
		}, use.origin, path)
		l.pass(1e9)
	}
}
