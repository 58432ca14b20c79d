package api_test

import (
	"encoding/json"
	"net/http"
	"net/netip"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestCreateClass(t *testing.T) {
	t.Parallel()
	const minimal = `{"metadata": {"name": "gold"}, "spec": {"ipFamily": "IPv4"}}`

	t.Run("ReadsAndReturnsAllFields", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		const spec = `{"provisioner": "native", "ipFamily": "IPv4", "visibility": "shared", "isDefault": true, "strategy": "BestFit",
			"allowedPrefixLengths": {"min": 22, "max": 28}, "defaultPrefixLength": 24, "reclaimPolicy": "Retain", "reuseAfter": "72h",
			"poolSelection": "LeastUtilized", "uniqueWithin": "Class", "poolPer": ["project", "cluster"], "poolPrefixLength": 20, "emptyPoolTTL": "48h",
			"parameters": {"example.com/tier": "gold", "Tier": "1", "tier": "2"}, "description": "Blocks for clusters"}`
		w := s.server(t).do(t, "POST", classes, `{"metadata": {"name": "gold", "labels": {"tier": "gold"}}, "spec": `+spec+`}`)
		require.Equal(t, http.StatusCreated, w.Code, w.Body.String())
		require.Equal(t, classes+"/gold", w.Header().Get("Location"))
		require.Equal(t, tagOf(s.class.Metadata), w.Header().Get("ETag"))
		require.Empty(t, w.Header().Values("Dry-Run"))
		require.Empty(t, w.Header().Values("Idempotency-Replayed"))
		require.Equal(t, []string{"CreateClass", "team-a"}, s.calls)
		require.Equal(t, usecase.Request{}, s.request)
		require.False(t, s.move)
		require.Equal(t, ipam.Class{
			Metadata: ipam.Metadata{Name: "gold", Labels: map[string]string{"tier": "gold"}},
			Spec: ipam.ClassSpec{
				Provisioner: ipam.ProvisionerNative, Family: ipam.IPv4, Strategy: ipam.BestFit, MinPrefixLength: new(22), MaxPrefixLength: new(28),
				DefaultPrefixLength: new(24), ReclaimPolicy: ipam.ReclaimRetain, Visibility: ipam.VisibilityShared, IsDefault: true,
				ReuseAfter: new(72 * time.Hour), PoolSelection: ipam.PoolsLeastUtilized, UniqueWithin: ipam.UniqueWithinClass,
				Parameters: map[string]string{"example.com/tier": "gold", "Tier": "1", "tier": "2"}, Description: "Blocks for clusters",
				PoolPer: []string{"project", "cluster"}, PoolPrefixLength: new(20), EmptyPoolTTL: new(48 * time.Hour),
			},
		}, s.asked)
		answered := decode[struct {
			Spec json.RawMessage `json:"spec"`
		}](t, w)
		require.JSONEq(t, spec, string(answered.Spec))
	})

	t.Run("FillsInTheDefaults", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		w := s.server(t).do(t, "POST", classes, minimal)
		require.Equal(t, ipam.ClassSpec{Family: ipam.IPv4}.WithDefaults(), s.asked.Spec)
		got := decode[gen.IPClass](t, w)
		require.Equal(t, new(false), got.Spec.IsDefault)
		require.Equal(t, "NoBackingPools", got.Status.Conditions[0].Reason)
		require.Zero(t, got.Status.UtilizationPercent)
	})

	t.Run("MarksAReplayAndADryRun", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		s.replayed = true
		w := s.server(t).do(t, "POST", classes+"?dryRun=true", minimal, "Idempotency-Key", "key-1")
		require.Equal(t, "true", w.Header().Get("Idempotency-Replayed"))
		require.Equal(t, "true", w.Header().Get("Dry-Run"))
		require.Equal(t, "key-1", s.request.Key)
		require.True(t, s.request.DryRun)
	})

	t.Run("MovesTheDefaultOnRequest", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		s.server(t).do(t, "POST", classes+"?moveDefault=false", minimal, "Idempotency-Key", "k")
		require.False(t, s.move)
		stays := s.request.Fingerprint
		w := s.server(t).do(t, "POST", classes+"?moveDefault=true", minimal, "Idempotency-Key", "k")
		require.True(t, s.move)
		require.NotEqual(t, stays, s.request.Fingerprint, "it is another request")
		require.Equal(t, classes+"/gold", w.Header().Get("Location"))
	})

	t.Run("CompletesAGeneratedName", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		s.server(t).do(t, "POST", classes, `{"metadata": {"generateName": "web-"}, "spec": {"ipFamily": "IPv6"}}`)
		require.Regexp(t, `^web-[a-z0-9]{6}$`, s.asked.Name)
	})
}

func TestGetAndListClasses(t *testing.T) {
	t.Parallel()

	t.Run("ByName", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		w := s.server(t).do(t, "GET", classes+"/gold", "")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, tagOf(s.class.Metadata), w.Header().Get("ETag"))
		got := decode[gen.IPClass](t, w)
		require.Equal(t, gen.ClassCapacity{Total: "65536", Available: "32768"}, got.Status.Capacity)
		require.InDelta(t, 50.0, got.Status.UtilizationPercent, 0)
		require.Equal(t, "72h", got.Spec.ReuseAfter)
		require.Equal(t, w.Header(), s.server(t).do(t, "HEAD", classes+"/gold", "", "X-Request-Id", w.Header().Get("X-Request-Id")).Header())
		require.Equal(t, []string{"GetClass", "team-a", "gold", "GetClass", "team-a", "gold"}, s.calls)
	})

	t.Run("ByPage", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		w := s.server(t).do(t, "GET", classes+"?labelSelector=tier%3Dgold&ipFamily=IPv4&limit=7&cursor=abc", "")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, paging.Filter{
			Labels: &ipam.Selector{MatchExpressions: []ipam.Requirement{{Key: "tier", Operator: ipam.OpIn, Values: []string{"gold"}}}}, Family: ipam.IPv4,
		}, s.filter)
		require.Equal(t, 7, s.limit)
		require.Equal(t, "abc", s.cursor)
		page := decode[gen.IPClassList](t, w)
		require.Equal(t, []string{"team-a", "platform"}, []string{page.Items[0].Metadata.Project, page.Items[1].Metadata.Project})
		require.Equal(t, "bmV4dA", page.NextCursor)

		s.server(t).do(t, "GET", classes, "")
		require.Equal(t, paging.Filter{}, s.filter)
		require.Equal(t, 100, s.limit)
	})
}

func TestPatchClass(t *testing.T) {
	t.Parallel()

	t.Run("ReturnsTheNewClass", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		w := s.server(t).do(t, "PATCH", classes+"/gold?moveDefault=true&dryRun=true", `{"spec": {"isDefault": true, "allowedPrefixLengths": {"min": null}}}`,
			"If-Match", tagOf(s.class.Metadata))
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		got := decode[gen.IPClass](t, w)
		require.Equal(t, new(true), got.Spec.IsDefault)
		require.Nil(t, got.Spec.AllowedPrefixLengths)
		require.True(t, s.move)
		require.Equal(t, usecase.Request{DryRun: true, IfMatch: usecase.Match{Revisions: []string{s.class.Revision.String()}}}, s.request)
		require.Equal(t, "true", w.Header().Get("Dry-Run"))
		require.Equal(t, tagOf(s.class.Metadata), w.Header().Get("ETag"))
		require.Equal(t, []string{"PatchClass", "team-a", "gold"}, s.calls, "an ordinary patch reads nothing beside its transaction")
	})

	t.Run("AcceptsTheReadResource", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		whole := s.server(t).do(t, "GET", classes+"/gold", "").Body.String()
		w := s.server(t).do(t, "PATCH", classes+"/gold", whole, "If-Match", "*")
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.JSONEq(t, whole, w.Body.String())
		require.False(t, s.move)
	})

	t.Run("RefusesImmutableFields", func(t *testing.T) {
		t.Parallel()
		for place, patch := range map[string]string{
			"/spec/ipFamily":         `{"spec": {"ipFamily": "IPv6"}}`,
			"/spec/provisioner":      `{"spec": {"provisioner": "other"}}`,
			"/spec/poolPer":          `{"spec": {"poolPer": ["project"]}}`,
			"/spec/poolPrefixLength": `{"spec": {"poolPrefixLength": 20}}`,
			"/metadata/project":      `{"metadata": {"project": "platform"}}`,
			"/status/backingPools":   `{"status": {"backingPools": 9}}`,
		} {
			w := scriptClass().server(t).do(t, "PATCH", classes+"/gold", patch, "If-Match", "*")
			p := problem(t, w, http.StatusUnprocessableEntity, gen.ProblemCodeImmutableField)
			require.Equal(t, place, p.Errors[0].Pointer)
		}
	})

	t.Run("ValidatesTheStatusOfADeletedClass", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		s.fail = ipam.Errorf(ipam.CodeNotFound, "Class team-a/gold was not found.")
		problem(t, s.server(t).do(t, "PATCH", classes+"/gold", `{"status": {}}`, "If-Match", "*"), http.StatusNotFound, gen.ProblemCodeNotFound)
		require.Equal(t, []string{"GetClass", "team-a", "gold"}, s.calls)
	})
}

func TestDeleteClass(t *testing.T) {
	t.Parallel()
	s := scriptClass()
	w := s.server(t).do(t, "DELETE", classes+"/gold?dryRun=true", "", "If-Match", tag)
	require.Equal(t, http.StatusNoContent, w.Code)
	require.Empty(t, w.Body.String())
	require.Equal(t, "true", w.Header().Get("Dry-Run"))
	require.Equal(t, []string{"DeleteClass", "team-a", "gold"}, s.calls)
	require.Equal(t, usecase.Request{DryRun: true, IfMatch: usecase.Match{Revisions: []string{strings.Trim(tag, `"`)}}}, s.request)

	w = s.server(t).do(t, "DELETE", classes+"/gold", "")
	require.Empty(t, w.Header().Values("Dry-Run"))
	require.Equal(t, usecase.Request{}, s.request)
}

func TestExplainClaim(t *testing.T) {
	t.Parallel()

	t.Run("ReturnsARefusalWithStatus200", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		w := s.server(t).do(t, "POST", explanations, `{"spec": {}}`)
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, []string{"ExplainClaim", "team-a"}, s.calls)
		require.Equal(t, ipam.Claim{}, s.claim)
		require.JSONEq(t, `{"outcome": "Refused", "code": "no_default_class", "detail": "There is no default class of IPv4.", "steps": [], "remedies": []}`,
			w.Body.String())
		require.Empty(t, w.Header().Values("ETag"))
		require.Empty(t, w.Header().Values("Location"))
	})

	t.Run("ReturnsTheExpectedBlock", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		s.explanation = claims.Explanation{
			Claim: &ipam.Claim{
				Block: netip.MustParsePrefix("10.96.4.0/26"), Pool: ipam.Ref{Project: "platform", Name: "standard-eu"}, ReclaimPolicy: ipam.ReclaimDelete,
				Class: ipam.ClassRef{ID: ipam.NewID(), Ref: ipam.Ref{Project: "platform", Name: "standard"}},
			},
			Steps: []ipam.Step{{Kind: ipam.StepGrant, Name: "platform/(hidden)", Outcome: ipam.OutcomeAllowed, Detail: "Using the class is the permission."}},
		}
		w := s.server(t).do(t, "POST", explanations, `{"spec": {"className": "standard", "scope": {"cluster": "a"}, "prefixLength": 26}}`)
		require.Equal(t, http.StatusOK, w.Code, w.Body.String())
		require.Equal(t, ipam.ClaimSpec{ClassName: "standard", Scope: map[string]string{"cluster": "a"}, PrefixLength: new(26)}, s.claim.Spec)
		require.JSONEq(t, `{"outcome": "Bound", "detail": "10.96.4.0/26 would be carved from pool platform/standard-eu by class platform/standard.",
			"className": "standard", "classProject": "platform", "poolRef": {"project": "platform", "name": "standard-eu"},
			"allocatedCIDR": "10.96.4.0/26", "prefixLength": 26, "reclaimPolicy": "Delete",
			"steps": [{"kind": "grant", "name": "platform/(hidden)", "outcome": "allowed", "detail": "Using the class is the permission."}], "remedies": []}`,
			w.Body.String())
	})

	t.Run("AcceptsTheBodyOfAClaim", func(t *testing.T) {
		t.Parallel()
		for _, metadata := range []string{`{"name": "web", "labels": {"a": "b"}}`, `{"generateName": "web-"}`, `{}`} {
			s := scriptClass()
			w := s.server(t).do(t, "POST", explanations, `{"metadata": `+metadata+`, "spec": {"className": "standard"}}`)
			require.Equal(t, http.StatusOK, w.Code, w.Body.String())
			require.Equal(t, ipam.Claim{Spec: ipam.ClaimSpec{ClassName: "standard"}}, s.claim, "and ignores the rest of it")
		}
		problem(t, scriptClass().server(t).do(t, "POST", explanations, `{"metadata": {"uid": "x"}, "spec": {}}`), http.StatusBadRequest, gen.ProblemCodeInvalidArgument)
	})

	t.Run("PassesOtherErrors", func(t *testing.T) {
		t.Parallel()
		s := scriptClass()
		s.fail = ipam.Errorf(ipam.CodeContention, "Too many writers met.")
		problem(t, s.server(t).do(t, "POST", explanations, `{"spec": {}}`), http.StatusServiceUnavailable, gen.ProblemCodeContention)
	})
}
