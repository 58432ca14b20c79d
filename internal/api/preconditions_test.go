package api_test

import (
	"context"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func (s *scripted) GetClaim(context.Context, string, string, usecase.Reading) (ipam.Claim, error) {
	s.reads++
	return s.claim, nil
}

func TestReadWithACurrentTagIsNotModified(t *testing.T) {
	t.Parallel()
	fake := script()
	s := serve(t, api.Config{Service: fake})
	current := `"` + fake.claim.Revision.String() + `"`
	for _, tags := range []string{current, `"other", ` + current, "W/" + current, "*"} {
		for _, method := range []string{http.MethodGet, http.MethodHead} {
			w := s.do(t, method, claimsPath+"/c", "", "If-None-Match", tags)
			require.Equal(t, http.StatusNotModified, w.Code, tags)
			require.Equal(t, current, w.Header().Get("ETag"))
			require.Empty(t, w.Body.String())
			require.Empty(t, w.Header().Get("Content-Type"))
			require.NotEmpty(t, w.Header().Get("X-Request-Id"))
		}
	}
	for _, tags := range []string{`"other"`, `W/"other"`, `""`} {
		w := s.do(t, "GET", claimsPath+"/c", "", "If-None-Match", tags)
		require.Equal(t, http.StatusOK, w.Code, tags)
		require.NotEmpty(t, w.Body.String())
	}
	t.Run("TagsInSeveralHeaders", func(t *testing.T) {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, claimsPath+"/c", nil)
		r.Header = http.Header{"If-None-Match": {`"other"`, current}}
		require.Equal(t, http.StatusNotModified, s.send(t, r).Code)
	})
	t.Run("MalformedTagsAreRefused", func(t *testing.T) {
		for _, tags := range []string{"other", `"a`, `*, "a"`, ""} {
			p := problem(t, s.do(t, "GET", claimsPath+"/c", "", "If-None-Match", tags), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
			require.Equal(t, "header:If-None-Match", p.Errors[0].Pointer, tags)
		}
	})
	t.Run("ListsHaveNoTag", func(t *testing.T) {
		w := s.do(t, "GET", claimsPath, "", "If-None-Match", current)
		require.Equal(t, http.StatusOK, w.Code)
		require.NotEmpty(t, w.Body.String())
	})
}

// noClaims implements the reads of a project that has no claims.
type noClaims struct{ nobody }

func (noClaims) GetClaim(context.Context, string, string, usecase.Reading) (ipam.Claim, error) {
	return ipam.Claim{}, ipam.Errorf(ipam.CodeNotFound, "Claim team-a/c was not found.")
}

func TestRefusedReadIgnoresThePrecondition(t *testing.T) {
	t.Parallel()
	s := serve(t, api.Config{Service: noClaims{}})
	problem(t, s.do(t, "GET", claimsPath+"/c", "", "If-None-Match", "*"), http.StatusNotFound, gen.ProblemCodeNotFound)
}

func TestPutWithIfNoneMatchOnlyCreates(t *testing.T) {
	t.Parallel()
	s := script()
	body := `{"spec": {"poolRef": {"name": "p"}}}`
	require.Equal(t, http.StatusCreated, serve(t, api.Config{Service: s}).do(t, "PUT", claimsPath+"/c", body, "If-None-Match", "*").Code)
	require.True(t, s.request.CreateOnly)
	require.Equal(t, http.StatusCreated, serve(t, api.Config{Service: s}).do(t, "PUT", claimsPath+"/c", body, "If-Match", `"a"`).Code)
	require.Equal(t, []string{"a"}, s.request.IfMatch.Revisions)
	require.False(t, s.request.CreateOnly)
	for path, body := range map[string]string{
		members + "/a":               `{"spec": {"role": "viewer"}}`,
		quotas + "/a":                `{"spec": {"limits": {"pools": 1}}}`,
		poolsPath + "/p/grants/team": "",
		"/v1/projects/team-a/spaces/lab/grants/team": "",
	} {
		s := scriptAccess()
		require.Less(t, s.server(t).do(t, "PUT", path, body, "If-None-Match", "*").Code, 300)
		require.True(t, s.request.CreateOnly, path)
		require.Less(t, s.server(t).do(t, "PUT", path, body, "If-Match", "*").Code, 300)
		require.True(t, s.request.IfMatch.Any, path)
		for _, tags := range []string{`"a"`, `W/"a"`, "*, *", "x", ""} {
			p := problem(t, s.server(t).do(t, "PUT", path, body, "If-None-Match", tags), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
			require.Equal(t, "header:If-None-Match", p.Errors[0].Pointer, tags)
			require.Contains(t, p.Errors[0].Detail, "must be *", tags)
		}
	}
}

// Each operation of the contract either lists a precondition or refuses it. The server never ignores one silently.
func TestNoPreconditionIsIgnored(t *testing.T) {
	t.Parallel()
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	s := serve(t, api.Config{Service: nobody{}})
	refused := 0
	for path, item := range doc.Paths.Map() {
		params := strings.NewReplacer("{allocation}", ipam.NewID().String(), "{consumer}", "team", "{subject}", "corp:alice", "{scope}", "node=n1", "{realm}", "a", "{uid}", "a", "{delivery}", ipam.NewID().String())
		target := params.Replace(path)
		for _, name := range []string{"project", "space", "pool", "claim", "className", "key", "quota", "webhook", "alertRule"} {
			target = strings.ReplaceAll(target, "{"+name+"}", "a")
		}
		require.NotContains(t, target, "{")
		for method, op := range item.Operations() {
			body := ""
			if op.RequestBody != nil {
				body = "{}"
			}
			for header, value := range map[string]string{"If-Match": `"a"`, "If-None-Match": "*"} {
				listed := op.Parameters.GetByInAndName(openapi3.ParameterInHeader, header) != nil
				if listed || header == "If-None-Match" && method == "GET" { // a read may always have If-None-Match, which is only an optimization
					continue
				}
				refused++
				p := problem(t, s.do(t, method, target, body, header, value), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
				require.Equal(t, "header:"+header, p.Errors[0].Pointer, "%s %s", method, path)
				require.Contains(t, p.Errors[0].Detail, "not possible", "%s %s", method, path)
			}
		}
	}
	require.Greater(t, refused, 50)
}

// PUT, PATCH and DELETE accept If-Match. A GET accepts If-None-Match if the entity tag covers the whole response.
func TestContractListsPreconditions(t *testing.T) {
	t.Parallel()
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	// These responses contain counts that change without a new revision, so their entity tag does not cover them.
	uncovered := map[string]bool{"getPool": true, "getClass": true, "getQuota": true, "getApiKey": true, "getScopePool": true, "getWebhook": true, "getAlertRule": true}
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			fails := slices.Contains(op.Extensions["x-problems"].([]any), any("precondition_failed"))
			has := func(name string) bool { return op.Parameters.GetByInAndName(openapi3.ParameterInHeader, name) != nil }
			switch method {
			case http.MethodPut:
				require.True(t, has("If-Match") && has("If-None-Match") && fails, op.OperationID)
			case http.MethodPatch, http.MethodDelete:
				require.True(t, has("If-Match") && fails, op.OperationID)
			case http.MethodGet:
				ok := op.Responses.Status(200)
				covered := ok.Value.Headers["ETag"] != nil && !uncovered[op.OperationID]
				require.Equal(t, covered, has("If-None-Match"), path)
				require.Equal(t, covered, op.Responses.Status(304) != nil, path)
			}
		}
	}
}
