package e2e

import (
	"maps"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

func TestRetainedBlockOutlivesItsClaim(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/30"})
	spec := obj{"poolRef": obj{"name": "p"}, "address": "10.0.0.2", "reclaimPolicy": "Retain", "ownerRef": obj{"kind": "Router"}}
	first := w.claim(t, "vip", spec)
	name := first.Status.AllocationRef.Name
	allocation := func() client.IPAllocation {
		return decode[client.IPAllocation](t, w.ok(t, w.do(t, http.MethodGet, at("allocations", name), nil)))
	}
	rebind := func(claim string, more obj) answer {
		spec := obj{"allocationRef": obj{"name": name}}
		maps.Copy(spec, more)
		return w.postClaim(t, claim, spec)
	}
	t.Run("IsBoundWhileItsClaimExistsAndCannotBeDeleted", func(t *testing.T) {
		require.Equal(t, client.IPAllocationPhase("Bound"), allocation().Status.Phase)
		w.writesNothing(t, func() {
			p := w.refused(t, w.do(t, http.MethodDelete, at("allocations", name), nil), "in_use")
			require.Equal(t, []string{project + "/vip"}, p.ConflictsWith)
			w.refused(t, rebind("other", nil), "in_use", "/spec/allocationRef/name")
		})
	})
	t.Run("OutlivesItsClaim", func(t *testing.T) {
		before := w.available(t, "p")
		w.release(t, "vip")
		require.Equal(t, before, w.available(t, "p"), "nothing is free that was not")
		held := allocation()
		require.Equal(t, client.IPAllocationPhase("Retained"), held.Status.Phase)
		require.Equal(t, &client.ResolvedRef{Project: project, Name: "vip"}, held.Spec.ClaimRef, "who held it last")
		require.Len(t, all[client.IPAllocation](t, w.caller, at("allocations")+"?phase=Retained"), 1)
	})
	t.Run("IsGivenToNoOtherClaim", func(t *testing.T) {
		w.writesNothing(t, func() {
			p := w.refused(t, w.postClaim(t, "other", spec), "allocation_retained", "/spec/address")
			require.Equal(t, []string{project + "/" + name}, p.ConflictsWith)
			p = w.refused(t, w.do(t, http.MethodDelete, at("pools", "p"), nil), "allocation_retained")
			require.Equal(t, []string{project + "/" + name}, p.ConflictsWith)
			w.refused(t, w.postClaim(t, "all", from("p", 30)), "pool_exhausted")
		})
	})
	t.Run("IsBoundAgainByItsName", func(t *testing.T) {
		again := decode[client.IPClaim](t, w.created(t, rebind("vip2", obj{"reclaimPolicy": "Retain"})))
		require.Equal(t, "10.0.0.2/32", again.Status.AllocatedCIDR)
		require.Equal(t, name, again.Status.AllocationRef.Name)
		held := allocation()
		require.Equal(t, client.IPAllocationPhase("Bound"), held.Status.Phase)
		require.Equal(t, &client.ResolvedRef{Project: project, Name: "vip2"}, held.Spec.ClaimRef)
		require.Nil(t, held.Spec.OwnerRef, "the new claim has none")
		w.refused(t, rebind("vip3", nil), "in_use")
	})
	t.Run("IsReleasedWithItsClaimAfterThePolicyHasChanged", func(t *testing.T) {
		patched := w.do(t, http.MethodPatch, at("claims", "vip2"), obj{"spec": obj{"reclaimPolicy": "Delete"}}, ifMatch("*"))
		require.Equal(t, client.ReclaimPolicy("Delete"), decode[client.IPClaim](t, w.ok(t, patched)).Spec.ReclaimPolicy)
		require.Equal(t, client.ReclaimPolicy("Delete"), allocation().Spec.ReclaimPolicy)
		w.release(t, "vip2")
		require.Equal(t, size("10.0.0.0/30"), w.available(t, "p"))
		w.refused(t, rebind("vip3", nil), "not_found", "/spec/allocationRef/name")
	})
	t.Run("IsFreeWhenTheAllocationIsDeleted", func(t *testing.T) {
		second := w.claim(t, "vip", spec)
		w.release(t, "vip")
		gone := second.Status.AllocationRef.Name
		read := w.ok(t, w.do(t, http.MethodGet, at("allocations", gone), nil))
		w.refused(t, w.do(t, http.MethodDelete, at("allocations", gone), nil, ifMatch(`"stale"`)), "precondition_failed")
		w.deleted(t, w.do(t, http.MethodDelete, at("allocations", gone), nil, ifMatch(read.etag())))
		w.claim(t, "whole", from("p", 30))
	})
	t.Run("OfAChildPoolOrReservationCannotBeDeleted", func(t *testing.T) {
		w.pool(t, "q", obj{"cidr": "10.1.0.0/24", "reservations": []obj{{"first": 3, "reason": "Routers"}}})
		w.pool(t, "q-child", child("q", 26))
		held := all[client.IPAllocation](t, w.caller, at("allocations")+"?pool=q")
		require.Len(t, held, 3, "3 addresses are two blocks")
		w.writesNothing(t, func() {
			for _, a := range held {
				w.refused(t, w.do(t, http.MethodDelete, at("allocations", a.Metadata.Name), nil), "in_use")
			}
		})
	})
}
