package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// A claim must have the outcome that its explanation predicted: the same block of the same pool by the same class, or the same refusal.
func TestCreationMatchesItsExplanation(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.scopedClass(t)
	w.class(t, "common", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26, "isDefault": true, "reclaimPolicy": "Retain"})
	w.class(t, "bounded", obj{"ipFamily": "IPv4", "allowedPrefixLengths": obj{"min": 24, "max": 28}, "defaultPrefixLength": 26})
	w.class(t, "bare", obj{"ipFamily": "IPv4"})
	w.class(t, "resting", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26, "reuseAfter": "1h"})
	w.poolOf(t, project, "a", "172.16.0.0/25", "common", "bounded")
	w.poolOf(t, project, "b", "172.16.1.0/24", "common", "bounded")
	w.poolOf(t, project, "c", "172.16.2.0/26", "resting")
	w.claim(t, "fills", obj{"poolRef": obj{"name": "a"}, "prefixLength": 26})
	w.claim(t, "rests", by("resting"))
	w.release(t, "rests")
	w.quota(t, "q", obj{}, obj{"claims": 100, "addresses": "600"})
	kept := w.claim(t, "kept", obj{"poolRef": obj{"name": "b"}, "prefixLength": 28, "reclaimPolicy": "Retain"})
	w.release(t, "kept")

	for name, spec := range map[string]obj{
		"ByNothing":           {},
		"ByClass":             by("bounded"),
		"ByClassAndLength":    {"className": "bounded", "prefixLength": 25},
		"ByClassAndAddress":   {"className": "common", "address": "172.16.1.200"},
		"FirstOfAScope":       inScope("prod", "fra"),
		"ByPool":              from("b", 28),
		"ByAllocation":        {"allocationRef": obj{"name": kept.Status.AllocationRef.Name}},
		"NoSuchClass":         by("nothing"),
		"NoSuchPool":          from("nothing", 28),
		"NoDefaultClass":      {"ipFamily": "IPv6"},
		"NoPool":              by("bare"),
		"OutsideTheBounds":    {"className": "bounded", "prefixLength": 30},
		"OtherFamily":         {"className": "bounded", "ipFamily": "IPv6"},
		"NotLargeEnough":      {"className": "common", "prefixLength": 24},
		"CoolingDown":         by("resting"),
		"MissingRoles":        by("vpc"),
		"OverTheQuota":        {"className": "vpc", "scope": obj{"network": "n", "site": "s"}, "prefixLength": 23},
		"TakenBlock":          {"className": "common", "cidr": "172.16.0.0/26"},
		"OutsideOfEveryPool":  {"className": "common", "address": "192.0.2.1"},
		"NothingOfTheLengths": {"className": "common", "prefixLength": 8},
	} {
		t.Run(name, func(t *testing.T) {
			var told client.ClaimExplanation
			w.writesNothing(t, func() { told = w.explain(t, project, spec) })
			a := w.postClaim(t, "explained", spec)
			if p, isRefused := problemOf(a); isRefused {
				require.Equal(t, client.ClaimOutcome("Refused"), told.Outcome)
				require.Equal(t, []string{p.Code, p.Detail}, []string{string(told.Code), told.Detail})
				require.Nil(t, told.PoolRef)
				require.Empty(t, told.AllocatedCIDR)
				require.NotEmpty(t, told.Remedies, "there is always something to do about it")
				if p.Steps != nil {
					require.Equal(t, p.Steps, told.Steps)
				}
				return
			}
			claim := decode[client.IPClaim](t, w.created(t, a))
			require.Equal(t, client.ClaimOutcome("Bound"), told.Outcome)
			require.Equal(t, &claim.Status.PoolRef, told.PoolRef)
			require.Equal(t, claim.Status.AllocatedCIDR, told.AllocatedCIDR)
			require.Equal(t, new(bits(claim.Status.AllocatedCIDR)), told.PrefixLength)
			require.Equal(t, []string{claim.Status.ClassProject, claim.Status.ClassName}, []string{told.ClassProject, told.ClassName})
			require.Equal(t, claim.Status.ReclaimPolicy, told.ReclaimPolicy)
			require.Empty(t, told.Remedies)
			w.ok(t, w.do(t, http.MethodPatch, at("claims", "explained"), obj{"spec": obj{"reclaimPolicy": "Delete"}}, ifMatch("*")))
			w.release(t, "explained")
		})
	}
}

// If a remedy proposes a change of the claim, the changed claim must succeed.
func TestClaimWithItsRemedySucceeds(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.class(t, "bounded", obj{"ipFamily": "IPv4", "allowedPrefixLengths": obj{"min": 24, "max": 28}, "defaultPrefixLength": 26})
	w.poolOf(t, project, "p", "10.0.0.0/24", "bounded")
	w.claim(t, "half", obj{"className": "bounded", "prefixLength": 25})
	for wanted, value := range map[int]string{30: "28", 20: "24", 24: "25"} {
		told := w.explain(t, project, obj{"className": "bounded", "prefixLength": wanted})
		require.Equal(t, client.ClaimOutcome("Refused"), told.Outcome)
		require.Equal(t, "/spec/prefixLength", told.Remedies[0].Pointer)
		require.Equal(t, value, told.Remedies[0].Value, "instead of /%d", wanted)
	}
	w.created(t, w.postClaim(t, "x", obj{"className": "bounded", "prefixLength": 25}, dryRun))
	w.created(t, w.postClaim(t, "x", obj{"className": "bounded", "prefixLength": 28}, dryRun))
}
