package api_test

import (
	"net/http"
	"net/http/httptest"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestCreateClaim(t *testing.T) {
	t.Parallel()
	const body = `{"metadata": {"name": "c"}, "spec": {"poolRef": {"name": "p"}, "prefixLength": 32}}`

	t.Run("ReturnsBlockAndLocation", func(t *testing.T) {
		t.Parallel()
		s := script()
		w := send(t, s, "POST", claimsPath, body)
		require.Equal(t, http.StatusCreated, w.Code)
		require.Equal(t, claimsPath+"/c", w.Header().Get("Location"))
		require.Equal(t, tagOf(s.claim.Metadata), w.Header().Get("ETag"))
		require.Empty(t, w.Header().Values("Idempotency-Replayed"))
		require.Empty(t, w.Header().Values("Dry-Run"))
		got := decode[gen.IPClaim](t, w)
		require.Equal(t, "10.20.0.1/32", got.Status.AllocatedCIDR)
		require.Equal(t, "10.20.0.1", got.Status.Address)
		require.Empty(t, got.Spec.ReclaimPolicy, "the spec says nothing")
		require.Equal(t, gen.ReclaimPolicyDelete, got.Status.ReclaimPolicy)
		require.Equal(t, "team-a", s.project)
		require.Equal(t, ipam.Ref{Project: "team-a", Name: "p"}, s.asked.Spec.PoolRef)
		require.Equal(t, 32, *s.asked.Spec.PrefixLength)
		require.Equal(t, usecase.Request{}, s.request)
	})

	t.Run("ByAClass", func(t *testing.T) {
		t.Parallel()
		s := script()
		s.claim.Class = ipam.ClassRef{ID: ipam.NewID(), Ref: ipam.Ref{Project: "platform", Name: "standard"}}
		w := send(t, s, "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {"className": "standard", "scope": {"cluster": "a", "Cluster": ""}}}`)
		require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
		require.Equal(t, ipam.ClaimSpec{ClassName: "standard", Scope: map[string]string{"cluster": "a", "Cluster": ""}}, s.asked.Spec)
		got := decode[gen.IPClaim](t, w).Status
		require.Equal(t, []string{"platform", "standard"}, []string{got.ClassProject, got.ClassName})
	})

	t.Run("WithoutPoolOrClass", func(t *testing.T) {
		t.Parallel()
		s := script()
		require.Equal(t, http.StatusCreated, send(t, s, "POST", claimsPath, `{"metadata": {"name": "c"}, "spec": {}}`).Code)
		require.Equal(t, ipam.ClaimSpec{}, s.asked.Spec)
	})

	t.Run("MarksAReplay", func(t *testing.T) {
		t.Parallel()
		s := script()
		s.replayed = true
		w := send(t, s, "POST", claimsPath, body, "Idempotency-Key", "key-1")
		require.Equal(t, http.StatusCreated, w.Code)
		require.Equal(t, "true", w.Header().Get("Idempotency-Replayed"))
		require.Equal(t, "key-1", s.request.Key)
		require.NotZero(t, s.request.Fingerprint)
	})

	t.Run("MarksADryRun", func(t *testing.T) {
		t.Parallel()
		s := script()
		w := send(t, s, "POST", claimsPath+"?dryRun=true", body)
		require.Equal(t, "true", w.Header().Get("Dry-Run"))
		require.True(t, s.request.DryRun)
	})

	t.Run("CompletesAGeneratedName", func(t *testing.T) {
		t.Parallel()
		s := script()
		send(t, s, "POST", claimsPath, `{"metadata": {"generateName": "web-"}, "spec": {"poolRef": {"name": "p"}}}`)
		require.Regexp(t, `^web-[a-z0-9]{6}$`, s.asked.Name)
	})
}

func TestPutClaim(t *testing.T) {
	t.Parallel()
	const body = `{"spec": {"poolRef": {"name": "p"}, "prefixLength": 32}}`

	t.Run("CreatesAMissingClaim", func(t *testing.T) {
		t.Parallel()
		s := script()
		w := send(t, s, "PUT", claimsPath+"/c", body)
		require.Equal(t, http.StatusCreated, w.Code)
		require.Equal(t, claimsPath+"/c", w.Header().Get("Location"))
		require.Equal(t, "c", s.asked.Name)
	})

	t.Run("ReturnsAnExistingClaim", func(t *testing.T) {
		t.Parallel()
		s := script()
		s.existed = true
		w := send(t, s, "PUT", claimsPath+"/c", body)
		require.Equal(t, http.StatusOK, w.Code)
		require.Empty(t, w.Header().Get("Location"))
		require.Equal(t, tagOf(s.claim.Metadata), w.Header().Get("ETag"))
	})
}

func TestBatchKeepsItsOrder(t *testing.T) {
	t.Parallel()
	s := script()
	w := send(t, s, "POST", batches, `{"claims": [
		{"metadata": {"name": "a"}, "spec": {"poolRef": {"name": "p"}}},
		{"metadata": {"name": "b"}, "spec": {"poolRef": {"name": "p"}}}]}`)
	require.Equal(t, http.StatusCreated, w.Code)
	require.Len(t, decode[gen.ClaimBatch](t, w).Claims, 2)
	require.Equal(t, "a", s.batch[0].Name)
	require.Equal(t, "b", s.batch[1].Name)
}

func TestPatchPool(t *testing.T) {
	t.Parallel()

	t.Run("ReturnsTheNewPool", func(t *testing.T) {
		t.Parallel()
		s := script()
		w := send(t, s, "PATCH", poolsPath+"/p", `{"spec": {"description": "d"}}`, "If-Match", tagOf(s.pool.Metadata))
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, "d", decode[gen.IPPool](t, w).Spec.Description)
		require.Equal(t, []string{s.pool.Revision.String()}, s.request.IfMatch.Revisions)
		require.Zero(t, s.reads, "an ordinary patch reads nothing beside its transaction")
	})

	t.Run("AcceptsTheReadResource", func(t *testing.T) {
		t.Parallel()
		s := script()
		whole := send(t, s, "GET", poolsPath+"/p", "").Body.String()
		w := send(t, s, "PATCH", poolsPath+"/p", whole, "If-Match", "*")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.JSONEq(t, whole, w.Body.String())
	})

	t.Run("JoinsTagsOfSeveralHeaders", func(t *testing.T) {
		t.Parallel()
		s := script()
		r := httptest.NewRequestWithContext(t.Context(), http.MethodDelete, poolsPath+"/p", nil)
		r.Header["If-Match"] = []string{`"a"`, `"b", ` + tagOf(s.pool.Metadata)}
		require.Equal(t, http.StatusNoContent, serve(t, api.Config{Service: s}).send(t, r).Code)
		require.Equal(t, []string{"a", "b", s.pool.Revision.String()}, s.request.IfMatch.Revisions)
	})
}

func TestDeletePool(t *testing.T) {
	t.Parallel()

	t.Run("ReturnsNoContent", func(t *testing.T) {
		t.Parallel()
		s := script()
		w := send(t, s, "DELETE", poolsPath+"/p?dryRun=true", "")
		require.Equal(t, http.StatusNoContent, w.Code)
		require.Empty(t, w.Body.String())
		require.Equal(t, "true", w.Header().Get("Dry-Run"))
		require.True(t, s.request.DryRun)
		require.False(t, s.request.IfMatch.IsSet())
	})

	t.Run("ReturnsTheCurrentTag", func(t *testing.T) {
		t.Parallel()
		for _, stale := range []string{`"x"`, "W/" + tagOf(script().pool.Metadata)} {
			s := script()
			w := send(t, s, "DELETE", poolsPath+"/p", "", "If-Match", stale)
			p := problem(t, w, http.StatusPreconditionFailed, gen.ProblemCodePreconditionFailed)
			require.Equal(t, tagOf(s.pool.Metadata), w.Header().Get("ETag"))
			require.Equal(t, tagOf(s.pool.Metadata), p.CurrentETag)
		}
	})
}

func TestListFilters(t *testing.T) {
	t.Parallel()

	t.Run("PassesEveryPoolFilter", func(t *testing.T) {
		t.Parallel()
		s := script()
		w := send(t, s, "GET", poolsPath+"?labelSelector=env%3Dprod&phase=Ready&ipFamily=IPv4&space=lab&parent=team-b/x&class=gold&within=10.0.0.0/8&contains=10.20.0.1&limit=7&cursor=abc", "")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, paging.Filter{
			Labels: &ipam.Selector{MatchExpressions: []ipam.Requirement{{Key: "env", Operator: ipam.OpIn, Values: []string{"prod"}}}},
			Phase:  "Ready", Family: ipam.IPv4,
			Space: ipam.Ref{Project: "team-a", Name: "lab"}, Parent: ipam.Ref{Project: "team-b", Name: "x"}, Class: "gold",
			Within: netip.MustParsePrefix("10.0.0.0/8"), Contains: netip.MustParseAddr("10.20.0.1"),
		}, s.filter)
		require.Equal(t, 7, s.limit)
		require.Equal(t, "abc", s.cursor)
		page := decode[gen.IPPoolList](t, w)
		require.Len(t, page.Items, 1)
		require.Equal(t, "bmV4dA", page.NextCursor)
	})

	t.Run("PassesEveryAllocationFilter", func(t *testing.T) {
		t.Parallel()
		s := script()
		w := send(t, s, "GET", "/v1/projects/team-a/allocations?purpose=ChildPool&phase=CoolingDown&pool=p&class=gold", "")
		require.Equal(t, paging.Filter{Purpose: ipam.PurposeChildPool, Phase: "CoolingDown", Pool: ipam.Ref{Project: "team-a", Name: "p"}, Class: "gold"}, s.filter)
		require.Equal(t, 100, s.limit)
		require.JSONEq(t, `{"changesCursor": "cursor", "items": []}`, w.Body.String())
	})

	t.Run("PassesEveryClaimFilter", func(t *testing.T) {
		t.Parallel()
		s := script()
		w := send(t, s, "GET", claimsPath+"?labelSelector=a&phase=Bound&ipFamily=IPv6&pool=team-b/x&class=gold&within=2001:db8::/32", "")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, paging.Filter{
			Labels: &ipam.Selector{MatchExpressions: []ipam.Requirement{{Key: "a", Operator: ipam.OpExists}}},
			Phase:  "Bound", Family: ipam.IPv6, Pool: ipam.Ref{Project: "team-b", Name: "x"}, Class: "gold",
			Within: netip.MustParsePrefix("2001:db8::/32"),
		}, s.filter)
		require.Len(t, decode[gen.IPClaimList](t, w).Items, 1)
	})

	t.Run("PoolMap", func(t *testing.T) {
		t.Parallel()
		s := script()
		for query, want := range map[string]allocations.Map{
			"":                             {Bits: 8},
			"?within=10.20.4.0/22&depth=3": {Within: netip.MustParsePrefix("10.20.4.0/22"), Bits: 3},
		} {
			w := send(t, s, "GET", poolsPath+"/p/map"+query, "")
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			require.Equal(t, want, s.mapped)
			require.Equal(t, []gen.PoolMapCells{{Count: 2, State: gen.PoolMapStateFree}}, decode[gen.PoolMap](t, w).Cells)
		}
		for query, pointer := range map[string]string{
			"?within=10.20.4.1/22": "query:within", "?within=x": "query:within", "?depth=0": "query:depth", "?depth=9": "query:depth", "?depth=x": "query:depth",
		} {
			w := send(t, s, "GET", poolsPath+"/p/map"+query, "")
			require.Equal(t, http.StatusBadRequest, w.Code)
			require.Equal(t, pointer, decode[gen.Problem](t, w).Errors[0].Pointer, query)
		}
	})
	t.Run("PoolUtilization", func(t *testing.T) {
		t.Parallel()
		s := script()
		at := time.Date(2026, 3, 1, 0, 0, 0, 0, time.UTC)
		for query, want := range map[string]utilization.Query{
			"": {Points: 200},
			"?since=2026-03-01T00:00:00Z&until=2026-03-02T00:00:00Z&points=7": {Since: at, Until: at.AddDate(0, 0, 1), Points: 7},
		} {
			w := send(t, s, "GET", poolsPath+"/p/utilization"+query, "")
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			require.Equal(t, want, s.over)
			require.JSONEq(t, `{"points":[{"at":"2026-03-02T11:00:00Z","used":"64","usedPercent":25,"highestPercent":25.39}],
				"runway":{"runsOutAt":"2026-03-02T12:00:00Z","percentPerDay":12.35,"over":"P1D"}}`, w.Body.String())
		}
		for query, pointer := range map[string]string{"?points=1": "query:points", "?points=1001": "query:points", "?since=x": "query:since", "?until=now": "query:until"} {
			w := send(t, s, "GET", poolsPath+"/p/utilization"+query, "")
			require.Equal(t, http.StatusBadRequest, w.Code)
			require.Equal(t, pointer, decode[gen.Problem](t, w).Errors[0].Pointer, query)
		}
		require.Equal(t, http.StatusOK, send(t, s, "GET", poolsPath+"?roots=true", "").Code)
		require.True(t, s.filter.Roots)
	})
	t.Run("Search", func(t *testing.T) {
		t.Parallel()
		s := script()
		for query, want := range map[string]int{"q=10.0.0.1&limit=7": 7, "q=10.0.0.1": 20} {
			w := send(t, s, "GET", "/v1/search?"+query, "")
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			require.Equal(t, []any{"10.0.0.1", want}, []any{s.sought, s.limit})
			require.Equal(t, gen.SearchResult{Items: []gen.SearchItem{{Kind: gen.SearchKindProject, Name: "team-a", Why: gen.SearchReasonName}}}, decode[gen.SearchResult](t, w))
		}
		for query, pointer := range map[string]string{"": "query:q", "q=": "query:q", "q=a&limit=0": "query:limit", "q=a&limit=101": "query:limit"} {
			w := send(t, s, "GET", "/v1/search?"+query, "")
			require.Equal(t, http.StatusBadRequest, w.Code)
			require.Equal(t, pointer, decode[gen.Problem](t, w).Errors[0].Pointer, query)
		}
	})
	t.Run("FreeBlocks", func(t *testing.T) {
		t.Parallel()
		s := script()
		w := send(t, s, "GET", poolsPath+"/p/free?prefixLength=20&limit=1", "")
		require.Equal(t, http.StatusOK, w.Code)
		require.Equal(t, 20, *s.bits)
		require.Equal(t, []gen.FreeBlock{{CIDR: "10.20.0.0/16"}}, decode[gen.PoolFree](t, w).Items)
	})
}
