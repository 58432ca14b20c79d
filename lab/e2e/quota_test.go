package e2e

import (
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// quota puts a quota of the project.
func (c *caller) quota(t testing.TB, name string, scope, limits obj) client.Quota {
	t.Helper()
	a := c.do(t, http.MethodPut, at("quotas", name), obj{"spec": obj{"scope": scope, "limits": limits}})
	require.True(t, a.ok(), string(a.body))
	return decode[client.Quota](t, a)
}

func (c *caller) getQuota(t testing.TB, name string) client.Quota {
	t.Helper()
	return decode[client.Quota](t, c.ok(t, c.do(t, http.MethodGet, at("quotas", name), nil)))
}

// used requires that a quota reports the given use.
func (c *caller) used(t testing.TB, name, addresses string, claims, pools int64) {
	t.Helper()
	require.Equal(t, client.QuotaUsed{Addresses: addresses, Claims: claims, Pools: pools}, c.getQuota(t, name).Status.Used)
}

func TestQuotas(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/16"})
	w.claim(t, "before", from("p", 24))
	t.Run("CountHeldBlocks", func(t *testing.T) {
		q := w.quota(t, "q", obj{}, obj{"claims": 3, "addresses": "1024", "pools": 2})
		require.Equal(t, client.QuotaUsed{Addresses: "256", Claims: 1, Pools: 1}, q.Status.Used)
		require.Equal(t, client.QuotaAvailable{Addresses: "768", Claims: new(int64(2)), Pools: new(int64(1))}, q.Status.Available)
	})
	t.Run("CountRetainedBlocksUntilTheyAreGone", func(t *testing.T) {
		kept := w.claim(t, "kept", obj{"poolRef": obj{"name": "p"}, "prefixLength": 24, "reclaimPolicy": "Retain"})
		w.used(t, "q", "512", 2, 1)
		w.release(t, "kept")
		w.used(t, "q", "512", 1, 1)
		w.refused(t, w.postClaim(t, "x", from("p", 22)), "quota_exceeded")
		again := w.claim(t, "again", obj{"allocationRef": obj{"name": kept.Status.AllocationRef.Name}})
		require.Equal(t, kept.Status.AllocatedCIDR, again.Status.AllocatedCIDR)
		w.used(t, "q", "512", 2, 1)
		w.ok(t, w.do(t, http.MethodPatch, at("claims", "again"), obj{"spec": obj{"reclaimPolicy": "Retain"}}, ifMatch("*")))
		w.release(t, "again")
		w.used(t, "q", "512", 1, 1)
		w.deleted(t, w.do(t, http.MethodDelete, at("allocations", kept.Status.AllocationRef.Name), nil))
		w.used(t, "q", "256", 1, 1)
	})
	t.Run("BoundPools", func(t *testing.T) {
		w.pool(t, "child", child("p", 24))
		w.used(t, "q", "256", 1, 2)
		w.writesNothing(t, func() {
			for _, spec := range []obj{child("p", 24), {"cidr": "172.16.0.0/12"}} {
				p := w.refused(t, w.do(t, http.MethodPost, at("pools"), named("x", spec)), "quota_exceeded")
				require.Equal(t, []any{client.QuotaMeasure("pools"), "2", "2", "1", project + "/q"},
					[]any{p.Measure, p.Limit, p.Used, p.Requested, p.Quota})
			}
		})
		w.deleted(t, w.do(t, http.MethodDelete, at("pools", "child"), nil))
		w.used(t, "q", "256", 1, 1)
	})
	t.Run("BoundBatchesAsAWhole", func(t *testing.T) {
		batch := func(n int) obj {
			var claims []obj
			for i := range n {
				claims = append(claims, named(fmt.Sprintf("b%d", i), from("p", 28)))
			}
			return obj{"claims": claims}
		}
		w.writesNothing(t, func() {
			w.refused(t, w.do(t, http.MethodPost, at("claim-batches"), batch(3)), "quota_exceeded")
		})
		require.Equal(t, http.StatusCreated, w.do(t, http.MethodPost, at("claim-batches"), batch(2)).status)
		w.used(t, "q", "288", 3, 1)
		for i := range 2 {
			w.release(t, fmt.Sprintf("b%d", i))
		}
	})
	t.Run("RefuseADryRunToo", func(t *testing.T) {
		w.writesNothing(t, func() {
			w.refused(t, w.postClaim(t, "x", from("p", 17), dryRun), "quota_exceeded")
			w.created(t, w.postClaim(t, "x", from("p", 25), dryRun))
		})
	})
	t.Run("AllowReplaysAndExistingClaimsWhenFull", func(t *testing.T) {
		first := w.created(t, w.postClaim(t, "keyed", from("p", 24), key("k")))
		w.claim(t, "last", from("p", 24))
		w.refused(t, w.postClaim(t, "x", from("p", 32)), "quota_exceeded")
		again := w.created(t, w.postClaim(t, "keyed", from("p", 24), key("k")))
		require.JSONEq(t, string(first.body), string(again.body))
		w.ok(t, w.do(t, http.MethodPut, at("claims", "last"), obj{"spec": from("p", 24)}))
		w.used(t, "q", "768", 3, 1)
	})
	t.Run("LoweredBelowTheirUseStopNewClaims", func(t *testing.T) {
		q := w.quota(t, "q", obj{}, obj{"claims": 1, "addresses": "1024"})
		require.Equal(t, client.QuotaUsed{Addresses: "768", Claims: 3, Pools: 1}, q.Status.Used)
		require.Equal(t, client.QuotaAvailable{Addresses: "256", Claims: new(int64)}, q.Status.Available, "nothing, and not less")
		refused := func() {
			t.Helper()
			p := w.refused(t, w.postClaim(t, "more", from("p", 32)), "quota_exceeded")
			require.Equal(t, "1", p.Limit)
		}
		refused()
		w.release(t, "last")
		refused()
		w.release(t, "keyed")
		refused()
		w.release(t, "before")
		w.claim(t, "x", from("p", 32))
		refused()
		w.used(t, "q", "1", 1, 1)
	})
	t.Run("BindRetainedBlocksAgainWhateverTheAddresses", func(t *testing.T) {
		w.quota(t, "q", obj{}, obj{"claims": 5})
		kept := w.claim(t, "kept", obj{"poolRef": obj{"name": "p"}, "prefixLength": 24, "reclaimPolicy": "Retain"})
		w.release(t, "kept")
		w.quota(t, "q", obj{}, obj{"claims": 5, "addresses": "10"})
		w.refused(t, w.postClaim(t, "more", from("p", 32)), "quota_exceeded")
		w.claim(t, "again", obj{"allocationRef": obj{"name": kept.Status.AllocationRef.Name}, "reclaimPolicy": "Delete"}) // its addresses count already
		w.used(t, "q", "257", 2, 1)
		w.release(t, "again")
		w.used(t, "q", "1", 1, 1)
		w.claim(t, "more", from("p", 32))
		w.release(t, "more")
	})
	t.Run("BoundChildPoolsOfAPool", func(t *testing.T) {
		w.quota(t, "children", obj{"poolRef": obj{"name": "p"}}, obj{"pools": 1})
		w.pool(t, "one", child("p", 28))
		w.refused(t, w.do(t, http.MethodPost, at("pools"), named("two", child("p", 28))), "quota_exceeded")
		w.pool(t, "grandchild", child("one", 30)) // the quota does not count pools below the child
		w.pool(t, "root", obj{"cidr": "172.16.0.0/24"})
		w.used(t, "children", "1", 1, 1)
		for _, name := range []string{"grandchild", "one", "root"} {
			w.deleted(t, w.do(t, http.MethodDelete, at("pools", name), nil))
		}
		w.used(t, "children", "1", 1, 0)
		w.deleted(t, w.do(t, http.MethodDelete, at("quotas", "children"), nil))
	})
	t.Run("AdmitClaimsAtOnceWhenRaised", func(t *testing.T) {
		w.quota(t, "q", obj{}, obj{"claims": 2})
		w.claim(t, "y", from("p", 24))
		w.refused(t, w.postClaim(t, "z", from("p", 32)), "quota_exceeded")
	})
	t.Run("ApplyTogether", func(t *testing.T) {
		w.quota(t, "q", obj{}, obj{"claims": 10})
		w.quota(t, "tight", obj{"poolRef": obj{"name": "p"}, "ipFamily": "IPv4"}, obj{"addresses": "260"})
		w.quota(t, "elsewhere", obj{"ipFamily": "IPv6"}, obj{"claims": 0})
		p := w.refused(t, w.postClaim(t, "z", from("p", 29)), "quota_exceeded")
		require.Equal(t, project+"/tight", p.Quota)
		w.claim(t, "z", from("p", 32))
		w.used(t, "q", "258", 3, 1)
		w.used(t, "tight", "258", 3, 0)
		w.used(t, "elsewhere", "0", 0, 0)
	})
	t.Run("NeverChangeTheirScope", func(t *testing.T) {
		a := w.do(t, http.MethodPut, at("quotas", "tight"), obj{"spec": obj{"scope": obj{"ipFamily": "IPv4"}, "limits": obj{"addresses": "260"}}})
		w.refused(t, a, "immutable_field")
	})
	t.Run("PutAgainWriteNothing", func(t *testing.T) {
		was := w.do(t, http.MethodGet, at("quotas", "q"), nil).etag()
		w.writesNothing(t, func() {
			a := w.ok(t, w.do(t, http.MethodPut, at("quotas", "q"), obj{"spec": obj{"limits": obj{"claims": 10}}}))
			require.Equal(t, was, a.etag())
		})
	})
	t.Run("BoundNothingAfterTheirDeletion", func(t *testing.T) {
		w.deleted(t, w.do(t, http.MethodDelete, at("quotas", "tight"), nil))
		w.claim(t, "wide", from("p", 20))
		w.refused(t, w.do(t, http.MethodGet, at("quotas", "tight"), nil), "not_found")
		w.used(t, "q", "4354", 4, 1)
	})
}

// A block from another project's pool counts in the consumer's quotas, and not in the quotas of the pool's owner.
func TestQuotaOfASharedPool(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.created(t, w.do(t, http.MethodPost, in("platform", "pools"), named("shared", obj{"cidr": "192.0.2.0/24", "visibility": "shared"})))
	w.created(t, w.do(t, http.MethodPut, in("platform", "pools", "shared", "grants", project), nil))
	w.pool(t, "own", obj{"cidr": "10.0.0.0/16"})
	w.quota(t, "q", obj{"poolRef": obj{"project": "platform", "name": "shared"}}, obj{"addresses": "16", "claims": 2})
	a := w.do(t, http.MethodPut, in("platform", "quotas", "owner"), obj{"spec": obj{"limits": obj{"claims": 0, "addresses": "0"}}})
	w.created(t, a)
	spec := func(length int) obj {
		return obj{"poolRef": obj{"project": "platform", "name": "shared"}, "prefixLength": length}
	}
	w.claim(t, "own", from("own", 24))
	w.claim(t, "a", spec(29))
	w.refused(t, w.postClaim(t, "b", spec(28)), "quota_exceeded")
	w.claim(t, "b", spec(29))
	p := w.refused(t, w.postClaim(t, "c", spec(32)), "quota_exceeded")
	require.Equal(t, project+"/q", p.Quota)
	w.used(t, "q", "16", 2, 0)
	owner := decode[client.Quota](t, w.ok(t, w.do(t, http.MethodGet, in("platform", "quotas", "owner"), nil)))
	require.Equal(t, client.QuotaUsed{Addresses: "0", Pools: 1}, owner.Status.Used)
	w.release(t, "a")
	w.used(t, "q", "8", 1, 0)
	w.claim(t, "c", spec(29))
}
