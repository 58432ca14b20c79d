package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

func TestSmallPoolServesClaimsToItsLastAddress(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pool   string
		length int
		claims int
	}{
		"EightOfA29":       {"192.0.2.8/29", 32, 8},
		"EightOfA125":      {"2001:db8::8/125", 128, 8},
		"FourPairsOfA29":   {"192.0.2.0/29", 31, 4},
		"OneOfA32":         {"192.0.2.1/32", 32, 1},
		"OneOfA128":        {"2001:db8::1/128", 128, 1},
		"TheWholeOfA29":    {"192.0.2.0/29", 29, 1},
		"TheWholeOfA125":   {"2001:db8::/125", 125, 1},
		"FourPairsOfA125":  {"2001:db8::/125", 127, 4},
		"SixteenOfA28":     {"255.255.255.240/28", 32, 16},
		"SixteenOfTheLast": {"ffff:ffff:ffff:ffff:ffff:ffff:ffff:fff0/124", 128, 16},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.pool(t, "p", obj{"cidr": tc.pool})
			held := map[string]string{} // block → claim
			for i := range tc.claims {
				claim := w.claim(t, fmt.Sprintf("c%d", i), from("p", tc.length))
				require.True(t, inside(claim.Status.AllocatedCIDR, tc.pool))
				held[claim.Status.AllocatedCIDR] = claim.Metadata.Name
			}
			require.Len(t, held, tc.claims, "all different")
			full := w.getPool(t, "p")
			require.Equal(t, client.IPPoolPhase("Exhausted"), full.Status.Phase)
			require.Equal(t, client.Count("0"), full.Status.Capacity.Available)
			require.Nil(t, full.Status.LargestFreePrefixLength)
			require.InDelta(t, 100, full.Status.UtilizationPercent, 0)

			w.writesNothing(t, func() { // by every kind of request
				for _, a := range []answer{
					w.postClaim(t, "more", from("p", tc.length)),
					w.postClaim(t, "more", from("p", tc.length), key("more")),
					w.do(t, http.MethodPut, at("claims", "more"), obj{"spec": from("p", tc.length)}),
					w.do(t, http.MethodPost, at("claim-batches"), obj{"claims": []obj{named("more", from("p", tc.length))}}),
					w.do(t, http.MethodPost, at("pools"), named("more", child("p", tc.length))),
				} {
					p := w.refused(t, a, "pool_exhausted")
					require.Equal(t, tc.length, *p.WantedPrefixLength)
					require.Nil(t, p.LargestFreePrefixLength)
					require.Equal(t, client.Count("0"), p.AvailableAddresses)
					require.Equal(t, []string{project + "/p"}, p.PoolsTried)
				}
			})

			block := slices.Sorted(maps.Keys(held))[tc.claims/2]
			w.release(t, held[block])
			next := w.claim(t, "next", from("p", tc.length))
			require.Equal(t, block, next.Status.AllocatedCIDR, "the only one that is free")
		})
	}
}

// A fragmented pool has many free addresses, but no free block of the requested size. The refusal must contain the length of the largest free block.
func TestFragmentedPoolReturnsItsLargestFreeLength(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/24", "allocation": obj{"strategy": "FirstFit"}})
	for i := range 16 {
		w.claim(t, fmt.Sprintf("c%d", i), from("p", 28))
	}
	for _, i := range []int{0, 2, 4, 5, 9, 15} { // one pair of neighbours
		w.release(t, fmt.Sprintf("c%d", i))
	}
	for wanted, code := range map[int]string{24: "pool_exhausted", 26: "pool_exhausted", 27: "", 28: "", 32: ""} {
		a := w.postClaim(t, "try", from("p", wanted), dryRun)
		if code == "" {
			w.created(t, a)
			continue
		}
		p := w.refused(t, a, code)
		require.Equal(t, wanted, *p.WantedPrefixLength)
		require.Equal(t, 27, *p.LargestFreePrefixLength)
		require.Equal(t, client.Count("96"), p.AvailableAddresses)
		require.Contains(t, p.Detail, "/27", "a person is told as well")
	}
	require.Equal(t, new(27), w.getPool(t, "p").Status.LargestFreePrefixLength)

	free := decode[client.PoolFree](t, w.ok(t, w.do(t, http.MethodGet, at("pools", "p", "free"), nil)))
	var blocks []string
	for _, b := range free.Items {
		blocks = append(blocks, b.CIDR)
	}
	require.Equal(t, []string{"10.0.0.64/27", "10.0.0.0/28", "10.0.0.32/28", "10.0.0.144/28", "10.0.0.240/28"}, blocks)
	require.Equal(t, []client.FreeSummary{
		{PrefixLength: 27, FreeBlocks: "1", Available: "1"},
		{PrefixLength: 28, FreeBlocks: "4", Available: "6"},
		{PrefixLength: 29, FreeBlocks: "0", Available: "12"},
		{PrefixLength: 30, FreeBlocks: "0", Available: "24"},
		{PrefixLength: 31, FreeBlocks: "0", Available: "48"},
		{PrefixLength: 32, FreeBlocks: "0", Available: "96"},
	}, free.Summary)
	only := decode[client.PoolFree](t, w.ok(t, w.do(t, http.MethodGet, at("pools", "p", "free"), nil, query("prefixLength=27&limit=1"))))
	require.Len(t, only.Items, 1)
	require.Empty(t, only.NextCursor)

	w.claim(t, "the-27", from("p", 27))
	require.Equal(t, 28, *w.refused(t, w.postClaim(t, "try", from("p", 27)), "pool_exhausted").LargestFreePrefixLength)
}

func TestPrefixLengthThatCannotFitIsRefused(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/20"})
	w.pool(t, "bound", obj{"cidr": "10.1.0.0/16", "allocation": obj{"minPrefixLength": 20, "maxPrefixLength": 28, "defaultPrefixLength": 24}})
	w.writesNothing(t, func() {
		p := w.refused(t, w.postClaim(t, "x", from("p", 16)), "never_satisfiable", "/spec/prefixLength")
		require.Equal(t, 16, *p.WantedPrefixLength)
		require.Equal(t, &client.PrefixLengthRange{Min: 20, Max: 32}, p.AllowedPrefixLengths)
		w.refused(t, w.postClaim(t, "x", from("p", 33)), "never_satisfiable", "/spec/prefixLength")
		w.refused(t, w.postClaim(t, "x", from("p", 128)), "never_satisfiable", "/spec/prefixLength")
		for _, length := range []int{19, 29, 32, 16} {
			p := w.refused(t, w.postClaim(t, "x", from("bound", length)), "prefix_length_rejected", "/spec/prefixLength")
			require.Equal(t, &client.PrefixLengthRange{Min: 20, Max: 28}, p.AllowedPrefixLengths)
		}
		w.refused(t, w.postClaim(t, "x", from("bound", 15)), "never_satisfiable", "/spec/prefixLength")
		w.refused(t, w.postClaim(t, "x", obj{"poolRef": obj{"name": "bound"}, "cidr": "10.1.0.0/29"}), "prefix_length_rejected", "/spec/cidr")
		w.refused(t, w.postClaim(t, "x", obj{"poolRef": obj{"name": "bound"}, "address": "10.1.0.1"}), "prefix_length_rejected", "/spec/address")
		w.refused(t, w.postClaim(t, "x", obj{"poolRef": obj{"name": "p"}}), "invalid_argument", "/spec/prefixLength")
	})
	require.Equal(t, 24, bits(w.claim(t, "default", obj{"poolRef": obj{"name": "bound"}}).Status.AllocatedCIDR))
}
