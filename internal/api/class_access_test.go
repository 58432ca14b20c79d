package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// doorkeeper accepts the name of a role as a token, which gives this role in team-a. The token "stranger" gives the role admin in another project.
type doorkeeper struct{}

func (doorkeeper) Authenticate(_ context.Context, token string) (tenancy.Principal, error) {
	who := tenancy.Principal{Subject: "corp:" + token, Method: "oidc"}
	switch role := tenancy.Role(token); {
	case token == "stranger":
		who.Roles = map[string]tenancy.Role{"team-b": tenancy.Admin}
	case role == tenancy.Viewer || role == tenancy.Consumer || role == tenancy.Provider || role == tenancy.Admin:
		who.Roles = map[string]tenancy.Role{"team-a": role}
	default:
		return tenancy.Principal{}, tenancy.NotValid("is unknown")
	}
	return who, nil
}

// classOperations are the operations on classes, with the lowest role that may do each of them.
var classOperations = map[string]struct {
	method, path, body string
	least              tenancy.Role
	status             int
}{
	"listClasses":    {"GET", classes, "", tenancy.Viewer, http.StatusOK},
	"getClass":       {"GET", classes + "/gold", "", tenancy.Viewer, http.StatusOK},
	"createClass":    {"POST", classes, `{"metadata": {"name": "gold"}, "spec": {"ipFamily": "IPv4"}}`, tenancy.Provider, http.StatusCreated},
	"patchClass":     {"PATCH", classes + "/gold", `{"spec": {"description": "d"}}`, tenancy.Provider, http.StatusOK},
	"deleteClass":    {"DELETE", classes + "/gold", "", tenancy.Provider, http.StatusNoContent},
	"listScopePools": {"GET", classes + "/gold/scopes", "", tenancy.Viewer, http.StatusOK},
	"getScopePool":   {"GET", classes + "/gold/scopes/node=n1,rack=r2", "", tenancy.Viewer, http.StatusOK},
	"putScopePool":   {"PUT", classes + "/gold/scopes/node=n1", "", tenancy.Consumer, http.StatusCreated},
	"explainClaim":   {"POST", explanations, `{"spec": {}}`, tenancy.Viewer, http.StatusOK},
}

func TestClassOperationsRequireTheirRoles(t *testing.T) {
	t.Parallel()
	order := []tenancy.Role{tenancy.Viewer, tenancy.Consumer, tenancy.Provider, tenancy.Admin}
	for id, op := range classOperations {
		t.Run(id, func(t *testing.T) {
			t.Parallel()
			s := scriptClass()
			on := serve(t, api.Config{Service: s, Authenticator: auth.Combined{OIDC: doorkeeper{}}})
			ask := func(token string) *httptest.ResponseRecorder {
				s.calls = nil
				var headers []string
				if op.method == http.MethodPatch || op.method == http.MethodDelete {
					headers = []string{"If-Match", "*"}
				}
				if token != "" {
					headers = append(headers, "Authorization", "Bearer "+token)
				}
				return on.do(t, op.method, op.path, op.body, headers...)
			}
			refused := func(token string, status int, code gen.ProblemCode) {
				t.Helper()
				w := ask(token)
				problem(t, w, status, code)
				require.Empty(t, s.calls, "refused before anything is looked at")
				require.NotContains(t, strings.ReplaceAll(w.Body.String(), op.path, ""), "gold")
			}
			refused("", http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
			refused("forged", http.StatusUnauthorized, gen.ProblemCodeUnauthenticated)
			refused("stranger", http.StatusNotFound, gen.ProblemCodeNotFound)
			for i, role := range order {
				if i < slices.Index(order, op.least) {
					refused(string(role), http.StatusForbidden, gen.ProblemCodePermissionDenied)
					continue
				}
				require.Equal(t, op.status, ask(string(role)).Code, role)
				require.NotEmpty(t, s.calls)
			}
		})
	}
}

// The table above must contain every operation.
func TestEveryClassOperationIsInTheRoleTable(t *testing.T) {
	t.Parallel()
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	found := 0
	for path, item := range doc.Paths.Map() {
		if !strings.Contains(path, "/classes") && !strings.Contains(path, "/claim-explanations") {
			continue
		}
		for method, op := range item.Operations() {
			require.Equal(t, method, classOperations[op.OperationID].method, op.OperationID)
			found++
		}
	}
	require.Len(t, classOperations, found)
}
