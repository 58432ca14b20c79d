package e2e

import (
	"math/big"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

func TestClaim(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		pool          string
		length, small int
	}{
		"IPv4": {"10.20.0.0/16", 24, 32},
		"IPv6": {"2001:db8:20::/48", 64, 128},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			w.pool(t, "p", obj{"cidr": tc.pool})
			whole := w.available(t, "p")
			require.Equal(t, size(tc.pool), whole)

			a := w.claim(t, "a", from("p", tc.length))
			b := w.claim(t, "b", from("p", tc.length))
			host := w.claim(t, "host", from("p", tc.small))
			t.Run("ReturnsABlockOfTheLengthInThePool", func(t *testing.T) {
				for claim, length := range map[*client.IPClaim]int{&a: tc.length, &b: tc.length, &host: tc.small} {
					block := claim.Status.AllocatedCIDR
					require.True(t, inside(block, tc.pool), block)
					require.Equal(t, new(big.Int).Lsh(big.NewInt(1), uint(tc.small-length)), size(block))
					require.Equal(t, client.IPClaimPhaseBound, claim.Status.Phase)
					require.Equal(t, client.ResolvedRef{Project: project, Name: "p"}, claim.Status.PoolRef)
				}
				require.Empty(t, a.Status.Address, "a block of many addresses has no address")
				require.Equal(t, host.Status.AllocatedCIDR[:len(host.Status.Address)], host.Status.Address)
			})
			t.Run("NeverGivesTwoClaimsTheSameAddress", func(t *testing.T) {
				require.True(t, apart(a.Status.AllocatedCIDR, b.Status.AllocatedCIDR))
				require.True(t, apart(a.Status.AllocatedCIDR, host.Status.AllocatedCIDR))
				require.True(t, apart(b.Status.AllocatedCIDR, host.Status.AllocatedCIDR))
			})
			t.Run("ReadsAsItWasReturned", func(t *testing.T) {
				require.Equal(t, a, decode[client.IPClaim](t, w.ok(t, w.do(t, http.MethodGet, at("claims", "a"), nil))))
			})
			t.Run("HasAnAllocationOfTheSameBlock", func(t *testing.T) {
				held := decode[client.IPAllocation](t, w.ok(t, w.do(t, http.MethodGet, at("allocations", a.Status.AllocationRef.Name), nil)))
				require.Equal(t, a.Status.AllocatedCIDR, held.Status.AllocatedCIDR)
				require.Equal(t, &client.ResolvedRef{Project: project, Name: "a"}, held.Spec.ClaimRef)
				require.Equal(t, client.IPAllocationPurpose("Claim"), held.Spec.Purpose)
			})
			t.Run("ReleaseRaisesAvailableByExactlyItsSize", func(t *testing.T) {
				before := w.available(t, "p")
				w.release(t, "a")
				require.Equal(t, before.Add(before, size(a.Status.AllocatedCIDR)), w.available(t, "p"))
				w.refused(t, w.do(t, http.MethodGet, at("claims", "a"), nil), "not_found")
				w.refused(t, w.do(t, http.MethodGet, at("allocations", a.Status.AllocationRef.Name), nil), "not_found")
			})
			t.Run("ReleasedBlockCanBeHadAgain", func(t *testing.T) {
				again := w.claim(t, "again", obj{"poolRef": obj{"name": "p"}, "cidr": a.Status.AllocatedCIDR})
				require.Equal(t, a.Status.AllocatedCIDR, again.Status.AllocatedCIDR)
			})
			t.Run("EverythingReleasedIsTheWholePoolAgain", func(t *testing.T) {
				for _, name := range []string{"again", "b", "host"} {
					w.release(t, name)
				}
				require.Equal(t, whole, w.available(t, "p"))
				require.Equal(t, w.getPool(t, "p").Status.LargestFreePrefixLength, new(bits(tc.pool)))
			})
		})
	}
}

func TestClaimOfAnExactBlockOrAddress(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.20.0.0/16"})
	w.pool(t, "six", obj{"cidr": "2001:db8::/64"})
	pool := obj{"name": "p"}

	t.Run("GetsIt", func(t *testing.T) {
		require.Equal(t, "10.20.7.0/24", w.claim(t, "block", obj{"poolRef": pool, "cidr": "10.20.7.0/24"}).Status.AllocatedCIDR)
		four := w.claim(t, "address", obj{"poolRef": pool, "address": "10.20.0.17"})
		require.Equal(t, "10.20.0.17/32", four.Status.AllocatedCIDR)
		require.Equal(t, "10.20.0.17", four.Status.Address)
		six := w.claim(t, "address6", obj{"poolRef": obj{"name": "six"}, "address": "2001:DB8:0::00ff"})
		require.Equal(t, "2001:db8::ff/128", six.Status.AllocatedCIDR)
		require.Equal(t, "2001:db8::ff", six.Status.Address)
	})
	t.Run("IsRefusedAHeldBlock", func(t *testing.T) {
		w.writesNothing(t, func() {
			for _, spec := range []obj{
				{"cidr": "10.20.7.0/24"}, {"cidr": "10.20.7.128/25"}, {"cidr": "10.20.0.0/20"}, {"address": "10.20.7.1"}, {"address": "10.20.0.17"},
			} {
				spec["poolRef"] = pool
				w.refused(t, w.postClaim(t, "second", spec), "block_taken")
			}
		})
	})
	t.Run("IsRefusedABlockOutsideOfThePool", func(t *testing.T) {
		w.writesNothing(t, func() {
			w.refused(t, w.postClaim(t, "x", obj{"poolRef": pool, "cidr": "10.21.0.0/24"}), "never_satisfiable", "/spec/cidr")
			w.refused(t, w.postClaim(t, "x", obj{"poolRef": pool, "address": "10.21.0.1"}), "never_satisfiable", "/spec/address")
			w.refused(t, w.postClaim(t, "x", obj{"poolRef": pool, "cidr": "2001:db8::/64"}), "family_mismatch", "/spec/cidr")
			w.refused(t, w.postClaim(t, "x", obj{"poolRef": obj{"name": "six"}, "ipFamily": "IPv4", "prefixLength": 32}), "family_mismatch", "/spec/ipFamily")
		})
	})
}

// By contract, the service tries all matching pools before it returns pool_exhausted.
func TestClaimBySelector(t *testing.T) {
	t.Parallel()
	w := setup(t)
	for name, labels := range map[string]obj{"a": {"env": "prod", "geo": "eu"}, "b": {"env": "prod", "geo": "uk"}, "c": {"env": "test"}} {
		body := named(name, obj{"cidr": "10.0." + map[string]string{"a": "1", "b": "2", "c": "3"}[name] + ".0/31"})
		body["metadata"].(obj)["labels"] = labels
		w.created(t, w.do(t, http.MethodPost, at("pools"), body))
	}
	prod := obj{"poolSelector": obj{"matchLabels": obj{"env": "prod"}}, "prefixLength": 32}

	var got []string
	for _, name := range []string{"one", "two", "three", "four"} {
		got = append(got, w.claim(t, name, prod).Status.PoolRef.Name)
	}
	require.Equal(t, []string{"a", "a", "b", "b"}, got, "in order of name, each until it is full")

	w.writesNothing(t, func() {
		p := w.refused(t, w.postClaim(t, "five", prod), "pool_exhausted")
		require.Equal(t, []string{project + "/a", project + "/b"}, p.PoolsTried)
		require.Equal(t, client.Count("0"), p.AvailableAddresses)
		require.Equal(t, 32, *p.WantedPrefixLength)
		w.refused(t, w.postClaim(t, "five", obj{"poolSelector": obj{"matchLabels": obj{"env": "dev"}}, "prefixLength": 32}), "no_pool_matches")
	})
	w.release(t, "two")
	require.Equal(t, "a", w.claim(t, "five", prod).Status.PoolRef.Name)

	for expression, want := range map[string][]obj{
		"In":           {{"key": "geo", "operator": "In", "values": []string{"us", "uk"}}},
		"NotIn":        {{"key": "env", "operator": "NotIn", "values": []string{"prod"}}},
		"Exists":       {{"key": "env", "operator": "Exists"}, {"key": "geo", "operator": "DoesNotExist"}},
		"DoesNotExist": {{"key": "geo", "operator": "DoesNotExist"}},
	} {
		t.Run(expression, func(t *testing.T) {
			spec := obj{"poolSelector": obj{"matchExpressions": want}, "prefixLength": 32}
			a := w.postClaim(t, "by-expression", spec, dryRun)
			if expression == "In" { // the expression selects pool b, which is full
				require.Equal(t, []string{project + "/b"}, w.refused(t, a, "pool_exhausted").PoolsTried)
				return
			}
			require.Equal(t, "c", decode[client.IPClaim](t, w.created(t, a)).Status.PoolRef.Name)
		})
	}
}
