package e2e

import (
	"fmt"
	"net/http"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// scopedClass makes a shared class with one pool for each combination of project, network and site. It also makes the parent pool for these pools.
func (c *caller) scopedClass(t testing.TB) {
	t.Helper()
	c.classOf(t, "platform", "vpc", obj{
		"ipFamily": "IPv4", "defaultPrefixLength": 28, "visibility": "shared", "poolPer": []string{"project", "network", "site"}, "poolPrefixLength": 22,
	})
	c.poolOf(t, "platform", "backbone", "10.0.0.0/12", "vpc")
}

// inScope returns the spec of a claim from that class.
func inScope(network, site string) obj {
	return obj{"className": "vpc", "scope": obj{"network": network, "site": site}}
}

// scopes returns the pools that the service carved for scopes.
func (c *caller) scopes(t testing.TB) (pools []client.IPPool) {
	t.Helper()
	for _, p := range all[client.IPPool](t, c, in("platform", "pools")) {
		if p.Status.Scope != nil {
			pools = append(pools, p)
		}
	}
	return pools
}

// Ten clients concurrently send first claims of one scope through two independent servers. The result must be one pool, ten blocks and no refusal.
func TestFirstClaimsOfAScopeAtTheSameTime(t *testing.T) {
	t.Parallel()
	const claims = 10
	binary, dsn := serverBinary(t), database(t)
	sites := make([]*caller, 2)
	for i := range sites {
		sites[i] = newCaller(startProcess(t, binary, nil, "--database-url="+dsn, "--max-connections=12", "--request-timeout=60s").Addr())
	}
	w := sites[0]
	w.scopedClass(t)
	for round, name := range []string{"north", "south"} {
		w.newProject(t, name)
		answers := make([]answer, claims)
		var wg sync.WaitGroup
		for i := range answers {
			wg.Go(func() {
				a, err := sites[i%len(sites)].try(t.Context(), t, http.MethodPost, in(name, "claims"), named(fmt.Sprint("c", i), inScope("prod", "fra")))
				if err != nil {
					t.Errorf("no answer: %v", err)
				}
				answers[i] = a
			})
		}
		wg.Wait()
		pools := map[string]bool{}
		var blocks []string
		for _, a := range answers {
			claim := decode[client.IPClaim](t, w.created(t, a))
			pools[claim.Status.PoolRef.Name] = true
			for _, other := range blocks {
				require.True(t, apart(other, claim.Status.AllocatedCIDR), "%s and %s", other, claim.Status.AllocatedCIDR)
			}
			blocks = append(blocks, claim.Status.AllocatedCIDR)
		}
		require.Len(t, pools, 1)
		require.Len(t, w.scopes(t), round+1, "a project shares its pool with no other, whatever values it gives")
	}
	carved := w.scopes(t)
	require.True(t, apart(carved[0].Status.AllocatedCIDR, carved[1].Status.AllocatedCIDR))
}

func TestScopes(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.newProject(t, "other")
	w.scopedClass(t)
	t.Run("AllMissingRolesAreNamedAtOnce", func(t *testing.T) {
		w.writesNothing(t, func() {
			p := w.refused(t, w.postClaim(t, "x", by("vpc")), "invalid_argument", "/spec/scope/network", "/spec/scope/site")
			require.Equal(t, []string{"network", "site"}, p.MissingRoles)
			require.Equal(t, "platform/vpc", p.Class)
			p = w.refused(t, w.postClaim(t, "x", obj{"className": "vpc", "scope": obj{"site": "fra"}}), "invalid_argument", "/spec/scope/network")
			require.Equal(t, []string{"network"}, p.MissingRoles)
			batch := obj{"claims": []obj{named("x", inScope("prod", "fra")), named("y", by("vpc"))}}
			w.refused(t, w.do(t, http.MethodPost, at("claim-batches"), batch), "invalid_argument", "/claims/1/spec/scope/network", "/claims/1/spec/scope/site")
		})
		require.Empty(t, w.scopes(t))
	})
	t.Run("TheProjectOfAScopeCannotBeGiven", func(t *testing.T) {
		w.writesNothing(t, func() {
			for _, whose := range []string{"other", project} {
				spec := inScope("prod", "fra")
				spec["scope"].(obj)["project"] = whose
				pointer := "/spec/scope/project"
				p := w.refused(t, w.postClaim(t, "x", spec), "invalid_argument", pointer)
				require.Contains(t, p.Detail, "Leave it out")
				w.refused(t, w.postClaim(t, "x", spec, dryRun), "invalid_argument", pointer)
				w.refused(t, w.do(t, http.MethodPut, at("claims", "x"), obj{"spec": spec}), "invalid_argument", pointer)
				w.refused(t, w.do(t, http.MethodPost, at("claim-explanations"), named("x", spec)), "invalid_argument", pointer)
				batch := obj{"claims": []obj{named("x", inScope("prod", "fra")), named("y", spec)}}
				w.refused(t, w.do(t, http.MethodPost, at("claim-batches"), batch), "invalid_argument", "/claims/1"+pointer)
			}
		})
	})
	t.Run("DryRunsAndRefusalsLeaveNoPool", func(t *testing.T) {
		w.writesNothing(t, func() {
			w.created(t, w.postClaim(t, "x", inScope("prod", "fra"), dryRun))
			w.explain(t, project, inScope("prod", "fra"))
			spec := inScope("prod", "fra")
			spec["prefixLength"] = 21
			w.refused(t, w.postClaim(t, "x", spec), "prefix_length_rejected")
		})
		w.quota(t, "scopes", obj{"classRef": obj{"project": "platform", "name": "vpc"}}, obj{"claims": 0})
		w.writesNothing(t, func() { w.refused(t, w.postClaim(t, "x", inScope("prod", "fra")), "quota_exceeded") })
		w.deleted(t, w.do(t, http.MethodDelete, at("quotas", "scopes"), nil))
		require.Empty(t, w.scopes(t))
	})
	first := w.claim(t, "first", inScope("prod", "fra"))
	t.Run("TheFirstClaimCarvesThePoolOfThePlatform", func(t *testing.T) {
		pools := w.scopes(t)
		require.Len(t, pools, 1)
		p := pools[0]
		require.Equal(t, client.ResolvedRef{Project: "platform", Name: p.Metadata.Name}, first.Status.PoolRef)
		require.Equal(t, project, p.Status.Scope.Project)
		require.Equal(t, map[string]string{"network": "prod", "site": "fra"}, p.Status.Scope.Values)
		require.Equal(t, 22, bits(p.Status.AllocatedCIDR))
		require.Equal(t, "backbone", p.Status.ParentRef.Name)
	})
	t.Run("LaterClaimsOfTheScopeDrawFromIt", func(t *testing.T) {
		spec := obj{"className": "vpc", "scope": obj{"site": "fra", "network": "prod", "rack": "ignored"}}
		require.Equal(t, first.Status.PoolRef, w.claim(t, "second", spec).Status.PoolRef)
	})
	t.Run("OtherValuesAndProjectsHaveTheirOwn", func(t *testing.T) {
		seen := map[string]bool{first.Status.PoolRef.Name: true}
		for _, a := range []answer{
			w.postClaim(t, "site", inScope("prod", "ber")), w.postClaim(t, "network", inScope("test", "fra")), w.postClaim(t, "swapped", inScope("fra", "prod")),
			w.claimOf(t, "other", "same", inScope("prod", "fra")), w.claimOf(t, "platform", "same", inScope("prod", "fra")),
		} {
			name := decode[client.IPClaim](t, w.created(t, a)).Status.PoolRef.Name
			require.False(t, seen[name], name)
			seen[name] = true
		}
		require.Equal(t, int64(6), w.getClass(t, "platform", "vpc").Status.ScopedPools)
		require.Equal(t, int64(1), w.getClass(t, "other", "vpc").Status.ScopedPools)
	})
	t.Run("ItCannotBeClaimedFromByName", func(t *testing.T) {
		name := first.Status.PoolRef.Name
		w.writesNothing(t, func() {
			w.refused(t, w.claimOf(t, "platform", "x", obj{"poolRef": obj{"name": name}, "prefixLength": 28}), "invalid_argument", "/spec/poolRef/name")
			w.refused(t, w.postClaim(t, "x", obj{"poolRef": obj{"project": "platform", "name": name}, "prefixLength": 28}), "not_found")
			patch := obj{"spec": obj{"classNames": []string{"vpc"}}}
			w.refused(t, w.do(t, http.MethodPatch, in("platform", "pools", name), patch, ifMatch("*")), "immutable_field", "/spec/classNames")
			w.refused(t, w.do(t, http.MethodDelete, in("platform", "pools", name), nil), "in_use")
		})
	})
	t.Run("AQuotaLimitsTheirNumber", func(t *testing.T) {
		w.quota(t, "scopes", obj{"classRef": obj{"project": "platform", "name": "vpc"}}, obj{"pools": 4})
		p := w.refused(t, w.postClaim(t, "x", inScope("five", "fra")), "quota_exceeded")
		require.Equal(t, []string{project + "/scopes", "4", "4", "1"}, []string{p.Quota, p.Limit, p.Used, p.Requested})
		w.created(t, w.postClaim(t, "fits", inScope("prod", "fra")))
		w.created(t, w.claimOf(t, "other", "fits", inScope("five", "fra")))
	})
	t.Run("AFullOneIsExhausted", func(t *testing.T) {
		spec := inScope("small", "fra")
		spec["prefixLength"] = 22
		w.created(t, w.claimOf(t, "other", "all", spec))
		p := w.refused(t, w.claimOf(t, "other", "more", inScope("small", "fra")), "pool_exhausted")
		require.Equal(t, []string{"platform/(hidden)"}, p.PoolsTried)
	})
	t.Run("TheirPoolsAreInThePlatformsTrail", func(t *testing.T) {
		require.NotEmpty(t, all[client.AuditEvent](t, w.caller, in("platform", "audit-events")+"?resourceKind=IPPool"))
		require.Empty(t, all[client.AuditEvent](t, w.caller, at("audit-events")+"?resourceKind=IPPool"), "the pools are not the project's")
	})
}
