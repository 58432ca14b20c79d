package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// Each reason to refuse a claim by class has its own code and figures. Each case also makes the smallest change after which the claim succeeds.
func TestRefusalsByClass(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.class(t, "bounded", obj{"ipFamily": "IPv4", "allowedPrefixLengths": obj{"min": 24, "max": 28}, "defaultPrefixLength": 26})
	w.class(t, "bare", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26})
	w.class(t, "full", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26})
	w.class(t, "resting", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26, "reuseAfter": "1h"})
	w.class(t, "common", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26, "isDefault": true})
	w.poolOf(t, project, "wide", "10.0.0.0/16", "bounded", "common")
	w.poolOf(t, project, "narrow-1", "10.1.0.0/26", "full")
	w.poolOf(t, project, "narrow-2", "10.1.1.0/26", "full")
	w.poolOf(t, project, "rested", "10.2.0.0/25", "resting")
	w.claim(t, "fills-1", by("full"))
	w.claim(t, "fills-2", obj{"className": "full", "cidr": "10.1.1.0/27"})
	w.claim(t, "stays", by("resting"))
	w.claim(t, "rests", by("resting"))
	w.release(t, "rests")

	for name, tc := range map[string]struct {
		spec, control obj
		pointers      []string
		figures       func(t *testing.T, p problem)
	}{
		"not_found": {by("unheard-of"), by("bounded"), []string{"/spec/className"}, func(t *testing.T, p problem) {
			t.Helper()
			require.Empty(t, p.Class)
			require.Empty(t, p.Steps, "of what there is not, nothing is told")
		}},
		"no_default_class": {obj{"ipFamily": "IPv6"}, obj{}, []string{"/spec"}, func(t *testing.T, p problem) {
			t.Helper()
			require.Contains(t, p.Detail, "IPv6")
		}},
		"no_pool_for_class": {by("bare"), by("bounded"), []string{"/spec/className"}, func(t *testing.T, p problem) {
			t.Helper()
			require.Equal(t, project+"/bare", p.Class)
			require.Equal(t, new(int64(0)), p.Pools)
		}},
		"prefix_length_rejected": {obj{"className": "bounded", "prefixLength": 29}, obj{"className": "bounded", "prefixLength": 28}, []string{"/spec/prefixLength"}, func(t *testing.T, p problem) {
			t.Helper()
			require.Equal(t, project+"/bounded", p.Class)
			require.Equal(t, new(29), p.WantedPrefixLength)
			require.Equal(t, &client.PrefixLengthRange{Min: 24, Max: 28}, p.AllowedPrefixLengths)
		}},
		"family_mismatch": {obj{"className": "bounded", "ipFamily": "IPv6"}, obj{"className": "bounded", "ipFamily": "IPv4"}, []string{"/spec/ipFamily"}, func(t *testing.T, p problem) {
			t.Helper()
			require.Equal(t, project+"/bounded", p.Class)
		}},
		"pool_exhausted": {by("full"), obj{"className": "full", "prefixLength": 27}, nil, func(t *testing.T, p problem) {
			t.Helper()
			require.Equal(t, project+"/full", p.Class)
			require.Equal(t, []*int{new(26), new(27)}, []*int{p.WantedPrefixLength, p.LargestFreePrefixLength})
			require.Equal(t, client.Count("32"), p.AvailableAddresses)
			require.Equal(t, []string{project + "/narrow-1", project + "/narrow-2"}, p.PoolsTried)
			require.Nil(t, p.CooledDownAt)
		}},
		"exhausted_by_cooldown": {by("resting"), by("bounded"), nil, func(t *testing.T, p problem) {
			t.Helper()
			require.Equal(t, project+"/resting", p.Class)
			require.Equal(t, client.Count("64"), p.CoolingDownAddresses)
			require.Equal(t, client.Count("0"), p.AvailableAddresses)
			cooling := all[client.IPAllocation](t, w.caller, at("allocations")+"?phase=CoolingDown")
			require.Len(t, cooling, 1)
			require.True(t, cooling[0].Status.CoolUntil.Equal(*p.CooledDownAt))
		}},
	} {
		t.Run(name, func(t *testing.T) {
			w.writesNothing(t, func() {
				var first problem
				for i, a := range []answer{
					w.postClaim(t, "x", tc.spec),
					w.postClaim(t, "x", tc.spec, dryRun),
					w.do(t, http.MethodPut, at("claims", "x"), obj{"spec": tc.spec}),
				} {
					p := w.refused(t, a, name, tc.pointers...)
					tc.figures(t, p)
					if i == 0 {
						first = p
					}
					require.Equal(t, first.Detail, p.Detail)
				}
				batch := w.refused(t, w.do(t, http.MethodPost, at("claim-batches"), obj{"claims": []obj{named("x", tc.spec)}}), name)
				tc.figures(t, batch)
				for _, pointer := range tc.pointers {
					require.Contains(t, batch.pointers(), "/claims/0"+pointer)
				}
				w.created(t, w.postClaim(t, "x", tc.control, dryRun))
			})
		})
	}
}
