package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

func TestPutClaimCreatesOrReturnsTheClaim(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{"cidr": "10.0.0.0/31"})
	put := func(spec obj, meta ...obj) answer {
		body := obj{"spec": spec}
		if len(meta) > 0 {
			body["metadata"] = meta[0]
		}
		return w.do(t, http.MethodPut, at("claims", "c"), body)
	}
	first := w.created(t, put(from("p", 32), obj{"name": "c", "labels": obj{"env": "prod"}}))
	made := decode[client.IPClaim](t, first)

	same := func(t *testing.T, a answer) {
		t.Helper()
		w.ok(t, a)
		require.JSONEq(t, string(first.body), string(a.body))
		require.Equal(t, first.etag(), a.etag())
		require.Empty(t, a.header.Get("Location"))
	}
	t.Run("ReturnsTheSameClaimForTheSameSpec", func(t *testing.T) {
		w.writesNothing(t, func() {
			same(t, put(from("p", 32), obj{"labels": obj{"env": "prod"}}))
		})
	})
	t.Run("LabelsAndAnnotationsCountAtCreationOnly", func(t *testing.T) {
		w.writesNothing(t, func() {
			same(t, put(from("p", 32)))
			same(t, put(from("p", 32), obj{"labels": obj{"env": "test"}, "annotations": obj{"note": "other"}}))
		})
	})
	t.Run("DefaultsAreTheSameSpec", func(t *testing.T) {
		spec := from("p", 32)
		spec["reclaimPolicy"] = "Delete"
		spec["poolRef"] = obj{"name": "p", "project": project}
		same(t, put(spec, obj{"labels": obj{"env": "prod"}}))
	})
	t.Run("LeavingOutReclaimPolicyDeleteIsTheSameSpec", func(t *testing.T) {
		body := func(policy string) obj {
			spec := from("p", 32)
			if policy != "" {
				spec["reclaimPolicy"] = policy
			}
			return obj{"spec": spec}
		}
		old := at("claims", "old")
		w.created(t, w.do(t, http.MethodPut, old, body("Delete")))
		w.writesNothing(t, func() {
			for _, policy := range []string{"", "Delete"} {
				got := decode[client.IPClaim](t, w.ok(t, w.do(t, http.MethodPut, old, body(policy))))
				require.Equal(t, client.ReclaimPolicy("Delete"), got.Status.ReclaimPolicy)
			}
			w.refused(t, w.do(t, http.MethodPut, old, body("Retain")), "already_exists", "/spec/reclaimPolicy")
		})
		w.release(t, "old")
	})
	t.Run("ReturnsItWhenThePoolIsFull", func(t *testing.T) {
		w.claim(t, "last", from("p", 32))
		w.refused(t, w.do(t, http.MethodPut, at("claims", "other"), obj{"spec": from("p", 32)}), "pool_exhausted")
		same(t, put(from("p", 32), obj{"labels": obj{"env": "prod"}}))
	})
	t.Run("RefusesAnotherSpecAndNamesTheFields", func(t *testing.T) {
		w.writesNothing(t, func() {
			w.refused(t, put(from("p", 31)), "already_exists", "/spec/prefixLength")
			spec := from("p", 32)
			spec["reclaimPolicy"], spec["ownerRef"] = "Retain", obj{"kind": "Cluster"}
			p := w.refused(t, put(spec), "already_exists", "/spec/reclaimPolicy", "/spec/ownerRef")
			require.NotContains(t, p.pointers(), "/spec/prefixLength")
		})
	})
	t.Run("RefusesAnotherNameThanThatInThePath", func(t *testing.T) {
		w.refused(t, put(from("p", 32), obj{"name": "d"}), "invalid_argument", "/metadata/name")
	})
	t.Run("CreatesItAgainAfterItsRelease", func(t *testing.T) {
		w.release(t, "c")
		again := decode[client.IPClaim](t, w.created(t, put(from("p", 32))))
		require.NotEqual(t, made.Metadata.UID, again.Metadata.UID)
		require.Equal(t, made.Status.AllocatedCIDR, again.Status.AllocatedCIDR)
	})
}
