package e2e

import (
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// The fields of a class and their combinations have rules. A refusal must name the wrong field, and nothing is written.
func TestRulesOfClasses(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.class(t, "k", obj{"ipFamily": "IPv4", "allowedPrefixLengths": obj{"min": 24, "max": 28}, "defaultPrefixLength": 26})
	w.class(t, "six", obj{"ipFamily": "IPv6"})
	w.classOf(t, "platform", "vpc", obj{"ipFamily": "IPv4", "visibility": "shared", "defaultPrefixLength": 28, "poolPer": []string{"project"}, "poolPrefixLength": 22})
	w.poolOf(t, "platform", "backbone", "10.0.0.0/16", "vpc")
	scoped := w.claim(t, "scoped", by("vpc")).Status.PoolRef.Name
	made := func(more obj) obj {
		spec := obj{"ipFamily": "IPv4"}
		maps.Copy(spec, more)
		return spec
	}
	for name, tc := range map[string]struct {
		spec    obj
		pointer string
	}{
		"AProjectSharesNone":              {made(obj{"visibility": "shared"}), "/spec/visibility"},
		"AProjectHasNoneForThePlatform":   {made(obj{"visibility": "platform"}), "/spec/visibility"},
		"TheBoundsAreInOrder":             {made(obj{"allowedPrefixLengths": obj{"min": 28, "max": 24}}), "/spec/allowedPrefixLengths"},
		"TheDefaultLiesInTheBounds":       {made(obj{"allowedPrefixLengths": obj{"min": 24}, "defaultPrefixLength": 23}), "/spec/defaultPrefixLength"},
		"LengthsAreThoseOfTheFamily":      {made(obj{"defaultPrefixLength": 64}), "/spec/defaultPrefixLength"},
		"ScopesBeginWithTheProject":       {made(obj{"poolPer": []string{"site", "project"}, "poolPrefixLength": 22}), "/spec/poolPer/0"},
		"ScopesHaveARoleOnce":             {made(obj{"poolPer": []string{"project", "site", "site"}, "poolPrefixLength": 22}), "/spec/poolPer"},
		"ScopesHaveALength":               {made(obj{"poolPer": []string{"project"}}), "/spec/poolPrefixLength"},
		"OnlyScopesHaveALength":           {made(obj{"poolPrefixLength": 22}), "/spec/poolPrefixLength"},
		"OnlyScopesAreEmptied":            {made(obj{"emptyPoolTTL": "1h"}), "/spec/emptyPoolTTL"},
		"APoolIsLargerThanItsClaims":      {made(obj{"poolPer": []string{"project"}, "poolPrefixLength": 26, "allowedPrefixLengths": obj{"min": 24}}), "/spec/allowedPrefixLengths/min"},
		"TimesAreWhole":                   {made(obj{"reuseAfter": "1.5s"}), "/spec/reuseAfter"},
		"TimesAreAYearAtMost":             {made(obj{"reuseAfter": "8761h"}), "/spec/reuseAfter"},
		"OneProvisionerIsThere":           {made(obj{"provisioner": "other"}), "/spec/provisioner"},
		"ParametersHaveKeysLikeLabels":    {made(obj{"parameters": obj{"no key": "x"}}), "/spec/parameters"},
		"ParametersAreNotTooLong":         {made(obj{"parameters": obj{"k": string(make([]byte, 300))}}), "/spec/parameters/k"},
		"AFamilyIsNeeded":                 {obj{}, "/spec/ipFamily"},
		"TheStrategyIsOneThatPoolsHave":   {made(obj{"strategy": "LeastUtilized"}), "/spec/strategy"},
		"TheSelectionIsNotTheOneOfBlocks": {made(obj{"poolSelection": "BestFit"}), "/spec/poolSelection"},
	} {
		t.Run(name, func(t *testing.T) {
			w.writesNothing(t, func() {
				a := w.do(t, http.MethodPost, at("classes"), named("x", tc.spec))
				p := w.refused(t, a, "invalid_argument")
				require.NotEmpty(t, p.Errors)
				require.Contains(t, p.Errors[0].Pointer, tc.pointer)
			})
		})
	}
	patch := func(path string, spec obj) answer {
		return w.do(t, http.MethodPatch, path, obj{"spec": spec}, ifMatch("*"))
	}
	t.Run("APatchHasTheSameRules", func(t *testing.T) {
		w.writesNothing(t, func() {
			w.refused(t, patch(at("classes", "k"), obj{"allowedPrefixLengths": obj{"max": 25}}), "invalid_argument", "/spec/defaultPrefixLength")
			w.refused(t, patch(at("classes", "k"), obj{"visibility": "shared"}), "invalid_argument", "/spec/visibility")
			w.refused(t, patch(at("classes", "k"), obj{"emptyPoolTTL": "1h"}), "invalid_argument", "/spec/emptyPoolTTL")
		})
	})
	t.Run("PoolsListClassesOfTheirFamily", func(t *testing.T) {
		pool := obj{"cidr": "172.16.0.0/16", "classNames": []string{"k", "six"}}
		w.writesNothing(t, func() {
			w.refused(t, w.do(t, http.MethodPost, at("pools"), named("x", pool)), "family_mismatch", "/spec/classNames/1")
			pool["classNames"] = []string{"k", "k"}
			w.refused(t, w.do(t, http.MethodPost, at("pools"), named("x", pool)), "invalid_argument")
		})
	})
	t.Run("AListedClassStaysListed", func(t *testing.T) {
		w.classOf(t, "platform", "open", obj{"ipFamily": "IPv4", "visibility": "shared"})
		w.poolOf(t, project, "lists", "172.17.0.0/16", "open")
		w.ok(t, patch(in("platform", "classes", "open"), obj{"visibility": "consumer"}))
		w.ok(t, patch(at("pools", "lists"), obj{"description": "as before"}))
		w.ok(t, patch(at("pools", "lists"), obj{"classNames": []string{"open", "k"}}))
		w.ok(t, patch(at("pools", "lists"), obj{"classNames": []string{"k"}}))
		w.refused(t, patch(at("pools", "lists"), obj{"classNames": []string{"open", "k"}}), "not_found", "/spec/classNames/0")
	})
	t.Run("AClaimHasOneSource", func(t *testing.T) {
		w.writesNothing(t, func() {
			for _, other := range []obj{{"poolRef": obj{"name": "lists"}}, {"poolSelector": obj{"matchLabels": obj{"a": "b"}}}, {"allocationRef": obj{"name": "00000000-0000-4000-8000-000000000000"}}} {
				other["className"] = "k"
				w.refused(t, w.postClaim(t, "x", other), "invalid_argument")
			}
		})
	})
	t.Run("AScopesPoolServesOnlyTheScope", func(t *testing.T) {
		path := in("platform", "pools", scoped)
		w.writesNothing(t, func() {
			w.refused(t, patch(path, obj{"visibility": "shared"}), "immutable_field", "/spec/visibility")
			w.refused(t, w.do(t, http.MethodPost, in("platform", "pools"), named("x", child(scoped, 28))), "invalid_argument", "/spec/parentRef/name")
			w.refused(t, w.do(t, http.MethodDelete, in("platform", "pools", "backbone"), nil), "in_use")
			w.refused(t, w.do(t, http.MethodDelete, in("platform", "classes", "vpc"), nil), "in_use")
			w.refused(t, w.do(t, http.MethodDelete, "/v1/projects/"+project, nil), "in_use")
		})
		exact := obj{"className": "vpc", "cidr": decode[client.IPPool](t, w.do(t, http.MethodGet, path, nil)).Status.AllocatedCIDR}
		w.refused(t, w.postClaim(t, "x", exact), "block_taken")
		w.release(t, "scoped")
		w.claim(t, "all", exact)
	})
}
