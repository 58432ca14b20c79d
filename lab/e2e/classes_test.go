package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// class creates a class in the test's project.
func (c *caller) class(t testing.TB, name string, spec obj) client.IPClass {
	t.Helper()
	return c.classOf(t, project, name, spec)
}

// classOf creates a class in any project.
func (c *caller) classOf(t testing.TB, project, name string, spec obj) client.IPClass {
	t.Helper()
	return decode[client.IPClass](t, c.created(t, c.do(t, http.MethodPost, in(project, "classes"), named(name, spec))))
}

// getClass returns a class as the given project sees it.
func (c *caller) getClass(t testing.TB, project, name string) client.IPClass {
	t.Helper()
	return decode[client.IPClass](t, c.ok(t, c.do(t, http.MethodGet, in(project, "classes", name), nil)))
}

// poolOf creates a pool in any project, behind the given classes.
func (c *caller) poolOf(t testing.TB, project, name, cidr string, classes ...string) {
	t.Helper()
	spec := obj{"cidr": cidr, "allocation": obj{"strategy": "FirstFit"}, "classNames": classes}
	c.created(t, c.do(t, http.MethodPost, in(project, "pools"), named(name, spec)))
}

// claimOf requests a block for any project. The service may refuse it.
func (c *caller) claimOf(t testing.TB, project, name string, spec obj, options ...option) answer {
	t.Helper()
	return c.do(t, http.MethodPost, in(project, "claims"), named(name, spec), options...)
}

// by returns the spec of a claim that uses a class.
func by(class string) obj { return obj{"className": class} }

// explain requests an explanation of a claim: the service's decision without the claim itself.
func (c *caller) explain(t testing.TB, project string, spec obj) client.ClaimExplanation {
	t.Helper()
	return decode[client.ClaimExplanation](t, c.ok(t, c.do(t, http.MethodPost, in(project, "claim-explanations"), obj{"spec": spec})))
}

// The test follows the life of a class. A class is created, read by its users and changed for later claims. It cannot be deleted while an object uses
// it.
func TestClass(t *testing.T) {
	t.Parallel()
	w := setup(t)
	made := w.class(t, "gold", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26, "allowedPrefixLengths": obj{"min": 24, "max": 28}})
	t.Run("IsNotReadyWithoutPools", func(t *testing.T) {
		require.Equal(t, "False", string(made.Status.Conditions[0].Status))
		require.Equal(t, "NoBackingPools", made.Status.Conditions[0].Reason)
		require.Nil(t, made.Status.LargestPrefixLength)
	})
	t.Run("HasTheCapacityOfItsPools", func(t *testing.T) {
		w.poolOf(t, project, "a", "10.0.0.0/24", "gold")
		w.poolOf(t, project, "b", "10.1.0.0/25", "gold")
		w.claim(t, "one", by("gold"))
		status := w.getClass(t, project, "gold").Status
		require.Equal(t, int64(2), status.BackingPools)
		require.Equal(t, client.ClassCapacity{Total: "384", Available: "320"}, status.Capacity)
		require.InDelta(t, 16.67, status.UtilizationPercent, 0.005)
		require.Equal(t, new(25), status.LargestPrefixLength)
		require.Equal(t, "True", string(status.Conditions[0].Status))
	})
	t.Run("PassesOverAFullPoolInTheSameRequest", func(t *testing.T) {
		for _, each := range []struct{ name, want string }{{"first", "10.0.0.128/25"}, {"second", "10.1.0.0/25"}} {
			c := w.claim(t, each.name, obj{"className": "gold", "prefixLength": 25})
			require.Equal(t, each.want, c.Status.AllocatedCIDR)
		}
	})
	t.Run("ChangesForLaterClaimsAlone", func(t *testing.T) {
		before := w.do(t, http.MethodGet, at("claims", "one"), nil)
		w.ok(t, w.do(t, http.MethodPatch, at("classes", "gold"), obj{"spec": obj{"defaultPrefixLength": 28, "reclaimPolicy": "Retain"}}, ifMatch("*")))
		require.Equal(t, before.body, w.do(t, http.MethodGet, at("claims", "one"), nil).body)
		later := w.claim(t, "later", by("gold"))
		require.Equal(t, 28, bits(later.Status.AllocatedCIDR))
		require.Equal(t, client.ReclaimPolicy("Retain"), later.Status.ReclaimPolicy)
	})
	t.Run("NeverChangesItsFamily", func(t *testing.T) {
		w.writesNothing(t, func() {
			for name, value := range map[string]any{"ipFamily": "IPv6", "provisioner": "other", "poolPer": []string{"project"}, "poolPrefixLength": 20} {
				w.refused(t, w.do(t, http.MethodPatch, at("classes", "gold"), obj{"spec": obj{name: value}}, ifMatch("*")), "immutable_field", "/spec/"+name)
			}
		})
	})
	t.Run("IsKeptWhilePoolsAndClaimsNameIt", func(t *testing.T) {
		w.writesNothing(t, func() {
			p := w.refused(t, w.do(t, http.MethodDelete, at("classes", "gold"), nil), "in_use")
			require.Equal(t, []int64{2, 4}, []int64{*p.Pools, *p.Claims})
		})
		for _, pool := range []string{"a", "b"} {
			w.ok(t, w.do(t, http.MethodPatch, at("pools", pool), obj{"spec": obj{"classNames": []string{}}}, ifMatch("*")))
		}
		w.refused(t, w.postClaim(t, "x", by("gold")), "no_pool_for_class")
		for _, claim := range []string{"one", "first", "second", "later"} {
			w.refused(t, w.do(t, http.MethodDelete, at("classes", "gold"), nil), "in_use")
			w.release(t, claim)
		}
		w.deleted(t, w.do(t, http.MethodDelete, at("classes", "gold"), nil))
		w.refused(t, w.do(t, http.MethodGet, at("classes", "gold"), nil), "not_found")
	})
	t.Run("IsNamedByEarlierClaimsAfterItsDeletion", func(t *testing.T) {
		kept := all[client.IPAllocation](t, w.caller, at("allocations")+"?phase=Retained")
		require.Len(t, kept, 1)
		require.Equal(t, "gold", kept[0].Spec.ClassName)
		again := w.claim(t, "again", obj{"allocationRef": obj{"name": kept[0].Metadata.Name}})
		require.Equal(t, client.ReclaimPolicy("Retain"), again.Status.ReclaimPolicy, "what was kept goes on to be kept, although its class is gone")
		w.release(t, "again")
		require.Len(t, all[client.IPAllocation](t, w.caller, at("allocations")+"?phase=Retained"), 1)
		w.claim(t, "again", obj{"allocationRef": obj{"name": kept[0].Metadata.Name}, "reclaimPolicy": "Delete"})
		w.release(t, "again")
		require.Empty(t, all[client.IPAllocation](t, w.caller, at("allocations")+"?phase=Retained"))
	})
}
