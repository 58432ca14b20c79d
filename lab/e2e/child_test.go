package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

func TestChildPools(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		root    string
		lengths [3]int // prefix lengths of the child, the child of the child, and the claim
	}{
		"IPv4": {"10.0.0.0/8", [3]int{16, 20, 28}},
		"IPv6": {"2001:db8::/32", [3]int{40, 56, 64}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setup(t)
			root := w.pool(t, "root", obj{"cidr": tc.root})
			middle := w.pool(t, "middle", child("root", tc.lengths[0]))
			leaf := w.pool(t, "leaf", child("middle", tc.lengths[1]))
			claim := w.claim(t, "claim", from("leaf", tc.lengths[2]))

			t.Run("LieInsideTheirParentsToAnyDepth", func(t *testing.T) {
				require.Equal(t, tc.root, root.Status.AllocatedCIDR)
				require.True(t, inside(middle.Status.AllocatedCIDR, root.Status.AllocatedCIDR))
				require.True(t, inside(leaf.Status.AllocatedCIDR, middle.Status.AllocatedCIDR))
				require.True(t, inside(claim.Status.AllocatedCIDR, leaf.Status.AllocatedCIDR))
				require.Equal(t, tc.lengths[0], bits(middle.Status.AllocatedCIDR))
				require.Equal(t, tc.lengths[1], bits(leaf.Status.AllocatedCIDR))
			})
			t.Run("InheritFamilyAndSpace", func(t *testing.T) {
				for _, p := range []client.IPPool{root, middle, leaf} {
					require.Equal(t, client.IPFamily(name), p.Status.IPFamily)
					require.Equal(t, client.ResolvedRef{Project: project, Name: "default"}, p.Status.SpaceRef)
				}
				require.Nil(t, root.Status.ParentRef)
				require.Equal(t, &client.ResolvedRef{Project: project, Name: "middle"}, leaf.Status.ParentRef)
			})
			t.Run("AreHeldInTheirParent", func(t *testing.T) {
				require.Equal(t, size(middle.Status.AllocatedCIDR).String(), w.getPool(t, "root").Status.Capacity.Allocated)
				held := all[client.IPAllocation](t, w.caller, at("allocations")+"?pool=root")
				require.Len(t, held, 1)
				require.Equal(t, &client.ResolvedRef{Project: project, Name: "middle"}, held[0].Spec.ChildPoolRef)
			})
			t.Run("InUseAreNotDeletedAndNothingChanges", func(t *testing.T) {
				w.writesNothing(t, func() {
					p := w.refused(t, w.do(t, http.MethodDelete, at("pools", "root"), nil), "in_use")
					require.EqualValues(t, 1, *p.ChildPools)
					p = w.refused(t, w.do(t, http.MethodDelete, at("pools", "leaf"), nil), "in_use")
					require.EqualValues(t, 1, *p.Claims)
					w.refused(t, w.do(t, http.MethodDelete, at("spaces", "default"), nil), "in_use")
					w.refused(t, w.do(t, http.MethodDelete, "/v1/projects/"+project, nil), "in_use")
				})
			})
			t.Run("GoInTheOrderOfTheirDepth", func(t *testing.T) {
				w.release(t, "claim")
				for _, pool := range []string{"leaf", "middle", "root"} {
					w.deleted(t, w.do(t, http.MethodDelete, at("pools", pool), nil))
				}
				w.pool(t, "again", obj{"cidr": tc.root})
			})
		})
	}
}

func TestChildPoolWithAGivenBlock(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.pool(t, "root", obj{"cidr": "10.0.0.0/16", "allocation": obj{"minPrefixLength": 18, "maxPrefixLength": 28}})
	at20 := w.pool(t, "vpn", obj{"parentRef": obj{"name": "root"}, "cidr": "10.0.48.0/20"})
	require.Equal(t, "10.0.48.0/20", at20.Status.AllocatedCIDR)
	w.claim(t, "retained", obj{"poolRef": obj{"name": "root"}, "cidr": "10.0.0.0/24", "reclaimPolicy": "Retain"})
	w.release(t, "retained")

	parent := obj{"name": "root"}
	w.writesNothing(t, func() {
		for _, tc := range []struct {
			code    string
			pointer string
			spec    obj
		}{
			{"block_taken", "/spec/cidr", obj{"parentRef": parent, "cidr": "10.0.48.0/24"}},
			{"never_satisfiable", "/spec/cidr", obj{"parentRef": parent, "cidr": "10.1.0.0/20"}},
			{"never_satisfiable", "/spec/prefixLength", obj{"parentRef": parent, "prefixLength": 8}},
			{"prefix_length_rejected", "/spec/prefixLength", obj{"parentRef": parent, "prefixLength": 17}},
			{"prefix_length_rejected", "/spec/prefixLength", obj{"parentRef": parent, "prefixLength": 29}},
			{"prefix_length_rejected", "/spec/cidr", obj{"parentRef": parent, "cidr": "10.0.128.0/17"}},
			{"family_mismatch", "/spec/cidr", obj{"parentRef": parent, "cidr": "2001:db8::/64"}},
			{"not_found", "", obj{"parentRef": obj{"name": "nobody"}, "prefixLength": 24}},
			{"not_found", "", obj{"parentRef": obj{"name": "root", "project": "other"}, "prefixLength": 24}},
			{"invalid_argument", "/spec", obj{"parentRef": parent}},
			{"invalid_argument", "/spec", obj{"parentRef": parent, "prefixLength": 24, "cidr": "10.0.1.0/24"}},
			{"invalid_argument", "/spec/spaceRef", obj{"parentRef": parent, "prefixLength": 24, "spaceRef": obj{"name": "default"}}},
		} {
			p := w.refused(t, w.do(t, http.MethodPost, at("pools"), named("x", tc.spec)), tc.code)
			if tc.pointer != "" {
				require.Contains(t, p.pointers(), tc.pointer, "%v", tc.spec)
			}
		}
	})
}

func TestRootPools(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.created(t, w.do(t, http.MethodPost, at("spaces"), obj{"metadata": obj{"name": "lab"}}))
	w.pool(t, "one", obj{"cidr": "10.20.0.0/16"})

	t.Run("OfOneSpaceNeverOverlap", func(t *testing.T) {
		w.writesNothing(t, func() {
			for _, cidr := range []string{"10.20.0.0/16", "10.0.0.0/8", "10.20.4.0/24", "0.0.0.0/0"} {
				p := w.refused(t, w.do(t, http.MethodPost, at("pools"), named("two", obj{"cidr": cidr})), "overlap")
				require.Contains(t, p.ConflictsWith, project+"/one", cidr)
			}
			w.refused(t, w.do(t, http.MethodPost, at("pools"), named("one", obj{"cidr": "10.30.0.0/16"})), "already_exists", "/metadata/name")
		})
	})
	t.Run("OfTwoSpacesMay", func(t *testing.T) {
		p := w.pool(t, "lab-one", obj{"cidr": "10.0.0.0/8", "spaceRef": obj{"name": "lab"}})
		require.Equal(t, client.ResolvedRef{Project: project, Name: "lab"}, p.Status.SpaceRef)
		w.refused(t, w.do(t, http.MethodDelete, at("spaces", "lab"), nil), "in_use")
	})
	t.Run("OfTheOtherFamilyCanBeHalfOfIt", func(t *testing.T) {
		w.pool(t, "all6", obj{"cidr": "8000::/1"})
		require.Equal(t, "170141183460469231731687303715884105728", w.available(t, "all6").String(), "exact beyond 64 bits")
		w.pool(t, "next", obj{"cidr": "11.0.0.0/8"})
	})
	t.Run("GiveTheirBlockBack", func(t *testing.T) {
		w.deleted(t, w.do(t, http.MethodDelete, at("pools", "one"), nil))
		w.pool(t, "whole", obj{"cidr": "10.0.0.0/8"})
	})
	t.Run("NeedASpaceThatExists", func(t *testing.T) {
		w.refused(t, w.do(t, http.MethodPost, at("pools"), named("x", obj{"cidr": "10.0.0.0/8", "spaceRef": obj{"name": "nowhere"}})), "not_found")
	})
}
