package api_test

import (
	"context"
	"net/http"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

const releasesPath = "/v1/projects/team-a/claim-releases"

// manyReleases records the releases that were requested.
type manyReleases struct {
	nobody
	asked   releases.Selection
	request usecase.Request
	fail    error
}

func (s *manyReleases) ReleaseClaims(_ context.Context, _ string, q releases.Selection, r usecase.Request) (releases.Report, error) {
	s.asked, s.request = q, r
	if r.DryRun {
		at := time.Date(2026, 3, 2, 12, 0, 0, 0, time.UTC)
		return releases.Report{Count: 1, Token: "dG9rZW4", Claims: []ipam.Claim{{
			Metadata: ipam.Metadata{Name: "web", Project: "team-a", UID: ipam.NewID(), Generation: 1, Revision: ipam.NewID(), CreatedAt: at, UpdatedAt: at},
			Block:    netip.MustParsePrefix("10.0.0.0/24"), Pool: ipam.Ref{Project: "team-a", Name: "p"}, ReclaimPolicy: ipam.ReclaimDelete,
		}}}, s.fail
	}
	why := ipam.Errorf(ipam.CodeInUse, "Claim team-a/web is in use.")
	return releases.Report{Done: 3, Gone: 1, Skipped: []releases.Skipped{{Name: "web", Reason: why}}, Next: "bmV4dA"}, s.fail
}

func TestBulkRelease(t *testing.T) {
	t.Parallel()
	s := &manyReleases{}
	on := serve(t, api.Config{Service: s})
	w := on.do(t, "POST", releasesPath+"?dryRun=true", `{"select": {"owner": "VM/web/1/", "pool": "p", "className": "std", "labelSelector": "a=b"}}`)
	require.Equal(t, http.StatusOK, w.Code, w.Body.String())
	require.Equal(t, "true", w.Header().Get("Dry-Run"))
	require.True(t, s.request.DryRun)
	require.Equal(t, paging.Filter{
		Owner: "VM/web/1", Pool: ipam.Ref{Project: "team-a", Name: "p"}, Class: "std",
		Labels: &ipam.Selector{MatchExpressions: []ipam.Requirement{{Key: "a", Operator: ipam.OpIn, Values: []string{"b"}}}},
	}, s.asked.Filter)
	require.Contains(t, w.Body.String(), `"count":1`)
	require.Contains(t, w.Body.String(), `"token":"dG9rZW4"`)

	for consumer, want := range map[string]ipam.ConsumerRef{`{"uid": "vm-1"}`: {Realm: "default", UID: "vm-1"}, `{"uid": "vm-1", "realm": "rack"}`: {Realm: "rack", UID: "vm-1"}} {
		w = on.do(t, "POST", releasesPath+"?dryRun=true", `{"select": {"consumer": `+consumer+`}}`)
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, paging.Filter{Consumer: want}, s.asked.Filter)
	}

	w = on.do(t, "POST", releasesPath, `{"select": {"names": ["web", "db"]}, "token": "dG9rZW4", "cursor": "Y3Vyc29y", "createdBefore": "2026-03-03T12:00:00Z", "limit": 5}`)
	require.JSONEq(t, `{"released": 3, "gone": 1, "skipped": [{"name": "web", "code": "in_use", "detail": "Claim team-a/web is in use."}], "nextCursor": "bmV4dA"}`,
		w.Body.String())
	require.Equal(t, releases.Selection{
		Names: []string{"web", "db"}, Token: "dG9rZW4", Cursor: "Y3Vyc29y", Before: time.Date(2026, 3, 3, 12, 0, 0, 0, time.UTC), Limit: 5, Preview: 100,
	}, s.asked)
}

func TestInvalidBulkReleasesAreRefused(t *testing.T) {
	t.Parallel()
	on := serve(t, api.Config{Service: &manyReleases{}})
	for body, pointer := range map[string]string{
		`{}`: "", `{"select": {}}`: "/select", `{"select": {"names": ["a"], "owner": "b"}}`: "/select/names",
		`{"select": {"labelSelector": "a=("}}`: "/select/labelSelector", `{"select": {"names": []}}`: "/select/names", `{"select": {"consumer": "a"}}`: "/select/consumer",
		`{"select": {"consumer": {"realm": "rack"}}}`: "/select/consumer/uid", `{"select": {"names": ["a"], "consumer": {"uid": "b"}}}`: "/select/names",
	} {
		p := problem(t, on.do(t, "POST", releasesPath, body), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
		if pointer != "" {
			require.Equal(t, pointer, p.Errors[0].Pointer, body)
		}
	}
	failing := &manyReleases{fail: ipam.Invalid("query:class", "names no class.")}
	p := problem(t, serve(t, api.Config{Service: failing}).do(t, "POST", releasesPath, `{"select": {"className": "none"}}`), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
	require.Equal(t, "/select/className", p.Errors[0].Pointer)
	require.NotContains(t, p.Detail, "query:")
}
