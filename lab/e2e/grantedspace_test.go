package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// Two tenants declare their public blocks in a space of the platform. A tenant that wants a block of the other tenant is refused and does not learn
// the owner.
func TestGrantedSpaceServesOnlyProjectsWithAGrant(t *testing.T) {
	t.Parallel()
	town := setupTown(t)
	town.created(t, town.do(t, http.MethodPost, in("platform", "spaces"), obj{"metadata": obj{"name": "internet"}}))
	grant := func(consumer string) {
		town.created(t, town.do(t, http.MethodPut, in("platform", "spaces", "internet", "grants", consumer), nil))
	}
	declare := func(p *tenant, name, cidr string, options ...option) answer {
		spec := obj{"spaceRef": obj{"project": "platform", "name": "internet"}, "cidr": cidr, "description": p.secret}
		return p.by["provider"].do(t, http.MethodPost, p.at("pools"), p.body(name, spec), options...)
	}
	north, south := town.north, town.south
	t.Run("WithoutAGrantItIsNotFound", func(t *testing.T) {
		grant("west")
		town.writesNothing(t, func() { north.admin().refused(t, declare(north, "public", "198.51.100.0/24"), "not_found") })
	})
	grant("north")
	public := decode[client.IPPool](t, north.admin().created(t, declare(north, north.named("public"), "198.51.100.0/24")))
	require.Equal(t, &client.Ref{Project: "platform", Name: "internet"}, public.Spec.SpaceRef)
	south.hearsNot(public.Metadata.UID)
	t.Run("WithAGrantItServesPools", func(t *testing.T) {
		north.admin().created(t, north.take(t, "public", obj{"poolRef": obj{"name": north.named("public")}, "prefixLength": 32}))
	})
	t.Run("AForeignBlockIsRefusedWithoutItsHolder", func(t *testing.T) {
		grant("*")
		town.writesNothing(t, func() {
			for _, cidr := range []string{"198.51.100.0/24", "198.51.100.128/25", "198.51.0.0/16", "0.0.0.0/0"} {
				p := south.admin().refused(t, declare(south, "public", cidr), "overlap")
				require.Empty(t, p.ConflictsWith)
				require.NotContains(t, p.Detail, "north")
				own := north.admin().refused(t, declare(north, "other", cidr), "overlap")
				require.Equal(t, []string{"north/" + north.named("public")}, own.ConflictsWith, "the control: one's own is named")
			}
		})
		south.admin().created(t, declare(south, south.named("public"), "203.0.113.0/24"))
		p := south.admin().refused(t, declare(south, "both", "192.0.0.0/2"), "overlap")
		require.Equal(t, []string{"south/" + south.named("public")}, p.ConflictsWith, "of two, one's own")
	})
	t.Run("ItCannotBeReadWithAGrant", func(t *testing.T) {
		for _, p := range []*tenant{north, south} {
			p.admin().refused(t, p.admin().do(t, http.MethodGet, in("platform", "spaces", "internet"), nil), "not_found")
			p.admin().refused(t, p.admin().do(t, http.MethodGet, in("platform", "pools"), nil), "not_found")
			mine := all[client.IPPool](t, p.admin(), p.at("pools")+"?space=platform/internet")
			require.Len(t, mine, 1)
			require.Equal(t, p.named("public"), mine[0].Metadata.Name)
		}
		require.Empty(t, all[client.IPPool](t, town.caller, in("platform", "pools")), "the pools are their projects'")
	})
	t.Run("AfterTheRevocationItIsNotFoundAndPoolsStay", func(t *testing.T) {
		for _, consumer := range []string{"*", "north"} {
			town.deleted(t, town.do(t, http.MethodDelete, in("platform", "spaces", "internet", "grants", consumer), nil))
		}
		north.admin().refused(t, declare(north, "more", "192.0.2.0/24"), "not_found")
		north.admin().created(t, north.take(t, "more", obj{"poolRef": obj{"name": north.named("public")}, "prefixLength": 32}))
		town.refused(t, town.do(t, http.MethodDelete, in("platform", "spaces", "internet"), nil), "in_use")
		for _, claim := range []string{"public", "more"} {
			north.consumer().deleted(t, north.consumer().do(t, http.MethodDelete, north.at("claims", north.named(claim)), nil))
		}
		c := north.by["provider"]
		c.deleted(t, c.do(t, http.MethodDelete, north.at("pools", north.named("public")), nil))
	})
	t.Run("NotOneWordGetsAcross", func(t *testing.T) {
		north.readEverything(t, north.admin())
		south.readEverything(t, south.admin())
	})
}
