package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

func TestClaimBatch(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/24"})
	w.pool(t, "q", obj{"cidr": "10.1.0.0/24", "allocation": obj{"maxPrefixLength": 28}})
	batch := func(claims ...obj) answer {
		return w.do(t, http.MethodPost, at("claim-batches"), obj{"claims": claims})
	}
	t.Run("BindsEveryClaimInTheOrderOfTheRequest", func(t *testing.T) {
		made := decode[client.ClaimBatch](t, w.created(t, batch(
			named("z", from("p", 26)), named("a", from("q", 28)), named("m", obj{"poolRef": obj{"name": "p"}, "address": "10.0.0.200"}),
		)))
		require.Len(t, made.Claims, 3)
		for i, name := range []string{"z", "a", "m"} {
			require.Equal(t, name, made.Claims[i].Metadata.Name)
			read := decode[client.IPClaim](t, w.ok(t, w.do(t, http.MethodGet, at("claims", name), nil)))
			require.Equal(t, made.Claims[i], read)
		}
		require.Equal(t, "10.0.0.200/32", made.Claims[2].Status.AllocatedCIDR)
	})
	t.Run("IsAllOrNothingAndNamesTheOneThatWasRefused", func(t *testing.T) {
		good := []obj{named("one", from("p", 28)), named("two", from("q", 28)), named("three", from("p", 32))}
		for _, tc := range []struct {
			code    string
			pointer string
			bad     obj
		}{
			{"never_satisfiable", "/claims/3/spec/prefixLength", named("bad", from("p", 20))},
			{"prefix_length_rejected", "/claims/3/spec/prefixLength", named("bad", from("q", 30))},
			{"pool_exhausted", "", named("bad", from("p", 25))},
			{"block_taken", "/claims/3/spec/address", named("bad", obj{"poolRef": obj{"name": "p"}, "address": "10.0.0.200"})},
			{"already_exists", "/claims/3/metadata/name", named("z", from("p", 32))},
			{"not_found", "", named("bad", from("nowhere", 32))},
			{"no_pool_matches", "", named("bad", obj{"poolSelector": obj{"matchLabels": obj{"no": "pool"}}, "prefixLength": 32})},
			{"invalid_argument", "/claims/3/spec/cidr", named("bad", obj{"poolRef": obj{"name": "p"}, "cidr": "10.0.0.1/24"})},
			{"invalid_argument", "/claims/3/metadata/name", named("two", from("p", 32))},
			{"invalid_argument", "/claims/3/spec", named("bad", obj{"prefixLength": 32, "className": "a", "poolRef": obj{"name": "p"}})},
			{"no_default_class", "/claims/3/spec", named("bad", obj{"prefixLength": 32})},
			{"not_found", "/claims/3/spec/className", named("bad", by("nothing"))},
			{"family_mismatch", "/claims/3/spec/ipFamily", named("bad", obj{"poolRef": obj{"name": "p"}, "prefixLength": 32, "ipFamily": "IPv6"})},
		} {
			w.writesNothing(t, func() {
				p := w.refused(t, batch(append(good, tc.bad)...), tc.code)
				if tc.pointer != "" {
					require.Contains(t, p.pointers(), tc.pointer, "%s: %v", tc.code, tc.bad)
				}
			})
		}
		w.created(t, batch(good...))
	})
	t.Run("HasOneToAThousandClaims", func(t *testing.T) {
		w.pool(t, "large", obj{"cidr": "10.2.0.0/16"})
		var claims []obj
		for i := range 1001 {
			claims = append(claims, named(fmt.Sprintf("n%d", i), from("large", 30)))
		}
		w.writesNothing(t, func() {
			w.refused(t, batch(claims...), "invalid_argument", "/claims")
			w.refused(t, batch([]obj{}...), "invalid_argument", "/claims")
		})
		before := w.available(t, "large")
		made := decode[client.ClaimBatch](t, w.created(t, batch(claims[:1000]...)))
		blocks := map[string]bool{}
		for _, c := range made.Claims {
			blocks[c.Status.AllocatedCIDR] = true
		}
		require.Len(t, blocks, 1000)
		require.Equal(t, before.Int64()-4000, w.available(t, "large").Int64())
	})
}
