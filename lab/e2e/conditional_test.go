package e2e

import (
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// Each resource that can be patched, with a patch that changes something.
func TestConditionalRequests(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.created(t, w.do(t, http.MethodPost, at("spaces"), obj{"metadata": obj{"name": "lab"}}))
	w.pool(t, "p", obj{"cidr": "10.0.0.0/16", "description": "before"})
	w.class(t, "k", obj{"ipFamily": "IPv4"})
	w.claim(t, "c", from("p", 24))
	for name, tc := range map[string]struct {
		path  string
		patch func(text string) obj
	}{
		"Project": {"/v1/projects/" + project, func(text string) obj { return obj{"spec": obj{"description": text}} }},
		"Space":   {at("spaces", "lab"), func(text string) obj { return obj{"spec": obj{"description": text}} }},
		"Pool":    {at("pools", "p"), func(text string) obj { return obj{"spec": obj{"description": text}} }},
		"Class":   {at("classes", "k"), func(text string) obj { return obj{"spec": obj{"description": text}} }},
		"Claim":   {at("claims", "c"), func(text string) obj { return obj{"metadata": obj{"annotations": obj{"note": text}}} }},
	} {
		t.Run(name, func(t *testing.T) {
			read := func() answer { return w.ok(t, w.do(t, http.MethodGet, tc.path, nil)) }
			patch := func(body any, options ...option) answer {
				return w.do(t, http.MethodPatch, tc.path, body, options...)
			}
			first := read()
			t.Run("ETagIsStrongAndTheRevision", func(t *testing.T) {
				revision := decode[client.IPClaim](t, first).Metadata.Revision // each resource has its revision there
				require.Equal(t, `"`+revision+`"`, first.etag())
			})
			t.Run("PatchNeedsIfMatch", func(t *testing.T) {
				w.writesNothing(t, func() {
					w.refused(t, patch(tc.patch("x")), "precondition_required", "header:If-Match")
				})
			})
			t.Run("PatchWithAStaleETagIsRefusedWithTheCurrentOne", func(t *testing.T) {
				w.writesNothing(t, func() {
					for _, stale := range []string{`"stale"`, `W/` + first.etag(), `"a", "b"`} {
						p := w.refused(t, patch(tc.patch("x"), ifMatch(stale)), "precondition_failed")
						require.Equal(t, first.etag(), p.CurrentETag)
					}
				})
			})
			t.Run("PatchChangesTheETagAndTheGenerationOfASpec", func(t *testing.T) {
				a := w.ok(t, patch(tc.patch("x"), ifMatch(first.etag())))
				require.NotEqual(t, first.etag(), a.etag())
				require.Equal(t, a.etag(), read().etag())
				require.JSONEq(t, string(a.body), string(read().body))
				generations := int64(1)
				if name == "Claim" {
					generations = 0 // the patch changes an annotation, which does not change the generation
				}
				require.Equal(t, decode[client.IPClaim](t, first).Metadata.Generation+generations, decode[client.IPClaim](t, a).Metadata.Generation)
				w.refused(t, patch(tc.patch("y"), ifMatch(first.etag())), "precondition_failed")
			})
			t.Run("PatchThatChangesNothingWritesNothing", func(t *testing.T) {
				now := read()
				w.writesNothing(t, func() {
					for _, body := range []any{tc.patch("x"), obj{}, obj{"metadata": obj{}, "spec": obj{}}, obj{"metadata": obj{"labels": nil}}, now.body} {
						a := w.ok(t, patch(body, ifMatch(now.etag())))
						require.Equal(t, now.etag(), a.etag())
						require.JSONEq(t, string(now.body), string(a.body))
					}
				})
			})
			t.Run("ListAndStarMatch", func(t *testing.T) {
				w.ok(t, patch(tc.patch("z"), ifMatch(`"other", `+read().etag())))
				w.ok(t, patch(tc.patch("z2"), ifMatch(`"other"`), ifMatch(read().etag())))
				w.ok(t, patch(tc.patch("z3"), ifMatch("*")))
			})
			t.Run("MalformedIfMatchIsRefused", func(t *testing.T) {
				for _, bad := range []string{"x", `"x`, `"a" "b"`, "", `"a",`, "*, *", "\x01"} {
					if strings.ContainsAny(bad, "\x01") {
						continue // the HTTP client refuses to send this header
					}
					w.refused(t, patch(tc.patch("q"), ifMatch(bad)), "invalid_argument", "header:If-Match")
				}
			})
			t.Run("PatchOfAnImmutableFieldIsRefused", func(t *testing.T) {
				w.writesNothing(t, func() {
					w.refused(t, patch(obj{"metadata": obj{"name": "other"}}, ifMatch("*")), "immutable_field", "/metadata/name")
					w.refused(t, patch(obj{"metadata": obj{"uid": nil}}, ifMatch("*")), "immutable_field", "/metadata/uid")
					w.refused(t, patch(obj{"status": nil}, ifMatch("*")), "immutable_field")
					w.refused(t, patch(obj{"metadata": obj{"unheard": 1}}, ifMatch("*")), "invalid_argument", "/metadata/unheard")
					w.refused(t, patch(obj{"spec": obj{"unheard": 1}}, ifMatch("*")), "invalid_argument", "/spec/unheard")
					w.refused(t, patch(obj{"unheard": obj{}}, ifMatch("*")), "invalid_argument", "/unheard")
				})
			})
			t.Run("DeleteTakesIfMatch", func(t *testing.T) {
				w.writesNothing(t, func() {
					w.refused(t, w.do(t, http.MethodDelete, tc.path, nil, ifMatch(first.etag())), "precondition_failed")
				})
			})
		})
	}
}

func TestPatchOfAPool(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "p", obj{
		"cidr": "10.0.0.0/24", "allocation": obj{"strategy": "FirstFit", "maxPrefixLength": 30},
		"reservations": []obj{{"first": 4, "reason": "Routers"}},
	})
	w.claim(t, "c", obj{"poolRef": obj{"name": "p"}, "cidr": "10.0.0.16/28"})
	patch := func(spec obj) answer {
		return w.do(t, http.MethodPatch, at("pools", "p"), obj{"spec": spec}, ifMatch("*"))
	}
	t.Run("ReplacesReservationsAsAWholeInOneTransaction", func(t *testing.T) {
		p := decode[client.IPPool](t, w.ok(t, patch(obj{"reservations": []obj{{"last": 8}, {"from": "10.0.0.64", "to": "10.0.0.66"}, {"cidr": "10.0.0.128/26"}}})))
		require.Equal(t, client.Count("75"), p.Status.Capacity.Reserved)
		require.Equal(t, "10.0.0.0/28", w.claim(t, "low", from("p", 28)).Status.AllocatedCIDR, "free again")
	})
	t.Run("RefusesAReservationOfAHeldBlock", func(t *testing.T) {
		w.writesNothing(t, func() {
			w.refused(t, patch(obj{"reservations": []obj{{"last": 8}, {"cidr": "10.0.0.16/29"}}}), "block_taken", "/spec/reservations/1")
			w.refused(t, patch(obj{"reservations": []obj{{"cidr": "10.0.0.0/24"}}}), "block_taken", "/spec/reservations/0")
			w.refused(t, patch(obj{"reservations": []obj{{"cidr": "2001:db8::/64"}}}), "family_mismatch", "/spec/reservations/0/cidr")
			w.refused(t, patch(obj{"reservations": []obj{{"cidr": "10.0.1.0/28"}}}), "invalid_argument", "/spec/reservations/0/cidr")
			w.refused(t, patch(obj{"reservations": []obj{{"from": "10.0.0.9", "to": "10.0.0.8"}}}), "invalid_argument")
			w.refused(t, patch(obj{"reservations": []obj{{"first": 257}}}), "invalid_argument")
			w.refused(t, patch(obj{"reservations": []obj{{"reason": "of nothing"}}}), "invalid_argument", "/spec/reservations/0")
		})
	})
	t.Run("RefusesAReservationOfARetainedBlock", func(t *testing.T) {
		w.claim(t, "r", obj{"poolRef": obj{"name": "p"}, "cidr": "10.0.0.32/28", "reclaimPolicy": "Retain"})
		w.release(t, "r")
		w.writesNothing(t, func() {
			w.refused(t, patch(obj{"reservations": []obj{{"cidr": "10.0.0.32/28"}}}), "allocation_retained", "/spec/reservations/0")
		})
	})
	t.Run("AppliesToLaterBlocks", func(t *testing.T) {
		w.ok(t, patch(obj{"allocation": obj{"minPrefixLength": 30, "maxPrefixLength": nil}}))
		w.refused(t, w.postClaim(t, "x", from("p", 28)), "prefix_length_rejected")
		w.claim(t, "x", from("p", 32))
		require.Equal(t, client.IPClaimPhaseBound, decode[client.IPClaim](t, w.ok(t, w.do(t, http.MethodGet, at("claims", "c"), nil))).Status.Phase)
	})
	t.Run("NullGivesTheDefault", func(t *testing.T) {
		p := decode[client.IPPool](t, w.ok(t, patch(obj{"allocation": nil, "reservations": nil, "visibility": nil, "description": nil})))
		require.Equal(t, &client.PoolAllocation{Strategy: "BestFit"}, p.Spec.Allocation)
		require.Empty(t, p.Spec.Reservations)
		require.Equal(t, client.PoolVisibility("consumer"), p.Spec.Visibility)
		require.Equal(t, client.Count("0"), p.Status.Capacity.Reserved)
	})
	t.Run("RefusesImmutableFields", func(t *testing.T) {
		w.writesNothing(t, func() {
			w.refused(t, patch(obj{"cidr": "10.0.0.0/25"}), "immutable_field", "/spec/cidr")
			w.refused(t, patch(obj{"spaceRef": obj{"name": "lab"}}), "immutable_field", "/spec/spaceRef/name")
			w.refused(t, patch(obj{"prefixLength": 24}), "immutable_field", "/spec/prefixLength")
			w.refused(t, patch(obj{"parentRef": obj{"name": "p"}}), "immutable_field", "/spec/parentRef")
		})
	})
}
