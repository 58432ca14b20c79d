package e2e

import (
	"bytes"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// openClass makes a shared class of the platform. No other tenant may see the name of the pool behind it.
func (w *world) openClass(t testing.TB, pool string) {
	t.Helper()
	w.classOf(t, "platform", "pod-network", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26, "visibility": "shared"})
	w.poolOf(t, "platform", pool, "100.64.0.0/24", "pod-network")
}

// Each project can use a class of the platform without a grant. The pools behind the class stay invisible to the projects.
func TestClassOfThePlatformNeedsNoGrant(t *testing.T) {
	t.Parallel()
	town := setupTown(t)
	town.openClass(t, "kookaburra")
	south := town.south
	for _, c := range south.by {
		c.behind = []string{"kookaburra"}
	}
	consumer, provider := south.consumer(), south.by["provider"]
	held := decode[client.IPClaim](t, consumer.created(t, south.take(t, "held", by("pod-network"))))

	t.Run("TheClaimNamesItsPoolAndClass", func(t *testing.T) {
		require.Equal(t, client.ResolvedRef{Project: "platform", Name: "kookaburra"}, held.Status.PoolRef)
		require.Equal(t, "platform/pod-network", held.Status.ClassProject+"/"+held.Status.ClassName)
		a := decode[client.IPAllocation](t, consumer.ok(t, consumer.do(t, http.MethodGet, south.at("allocations", held.Status.AllocationRef.Name), nil)))
		require.Equal(t, "platform/pod-network", a.Spec.ClassProject+"/"+a.Spec.ClassName)
	})
	t.Run("ThePoolCannotBeReadOrNamed", func(t *testing.T) {
		for _, path := range []string{in("platform", "pools", "kookaburra"), in("platform", "pools"), in("platform", "classes"), in("platform", "allocations")} {
			south.admin().refused(t, south.admin().do(t, http.MethodGet, path, nil), "not_found")
		}
		town.writesNothing(t, func() {
			for _, spec := range []obj{
				{"poolRef": obj{"project": "platform", "name": "kookaburra"}, "prefixLength": 26},
				{"poolRef": obj{"project": "platform", "name": "kookaburra"}, "address": "100.64.0.200"},
			} {
				consumer.refused(t, south.take(t, "x", spec), "not_found")
			}
		})
	})
	t.Run("TheOwnerSeesBlocksAndProjectsAlone", func(t *testing.T) {
		owner := town.as(town.token, south.named("held"), south.secret)
		a := all[client.IPAllocation](t, owner, in("platform", "allocations")+"?class=pod-network")
		require.Len(t, a, 1)
		require.Equal(t, []string{"south", held.Status.AllocatedCIDR}, []string{a[0].Spec.Consumer, a[0].Status.AllocatedCIDR})
		require.Nil(t, a[0].Spec.ClaimRef)
	})
	t.Run("RefusalsDoNotNameThePool", func(t *testing.T) {
		consumer.created(t, south.take(t, "half", obj{"className": "pod-network", "prefixLength": 25}))
		p := consumer.refused(t, south.take(t, "x", obj{"className": "pod-network", "prefixLength": 25}), "pool_exhausted")
		require.Equal(t, []string{"platform/(hidden)"}, p.PoolsTried)
		for _, step := range p.Steps {
			require.Contains(t, []string{"platform/(hidden)", "platform/pod-network"}, step.Name)
		}
		consumer.refused(t, south.take(t, "x", obj{"className": "pod-network", "address": "192.0.2.1"}), "never_satisfiable")
		consumer.refused(t, south.take(t, "x", obj{"className": "pod-network", "cidr": held.Status.AllocatedCIDR}), "block_taken")
		consumer.refused(t, south.take(t, "x", obj{"className": "pod-network", "prefixLength": 8}), "never_satisfiable")
		for _, spec := range []obj{by("pod-network"), {"className": "pod-network", "prefixLength": 25}, {"className": "pod-network", "address": "192.0.2.1"}} {
			consumer.explain(t, "south", spec)
		}
		batch := obj{"claims": []obj{named("x", by("pod-network")), named("y", obj{"className": "pod-network", "prefixLength": 25})}}
		consumer.refused(t, consumer.do(t, http.MethodPost, south.at("claim-batches"), batch), "pool_exhausted")
	})
	t.Run("TheProjectsOwnPoolBacksItToo", func(t *testing.T) {
		provider.created(t, provider.do(t, http.MethodPost, south.at("pools"), named("extra", obj{"cidr": "10.9.0.0/24", "classNames": []string{"pod-network"}})))
		mine := decode[client.IPClaim](t, consumer.created(t, south.take(t, "mine", obj{"className": "pod-network", "prefixLength": 25})))
		require.Equal(t, client.ResolvedRef{Project: "south", Name: "extra"}, mine.Status.PoolRef)
		p := consumer.refused(t, town.north.take(t, "x", obj{"className": "pod-network", "prefixLength": 25}), "pool_exhausted")
		require.Equal(t, []string{"platform/(hidden)"}, p.PoolsTried, "what backs it for the south backs it for nobody else")
		require.Equal(t, int64(2), consumer.getClass(t, "south", "pod-network").Status.BackingPools)
		require.Equal(t, int64(1), town.north.consumer().getClass(t, "north", "pod-network").Status.BackingPools)
		p = provider.refused(t, provider.do(t, http.MethodPost, south.at("classes"), named("pod-network", obj{"ipFamily": "IPv4"})), "in_use")
		require.Contains(t, p.Detail, "1 pool")
	})
	t.Run("AfterItsSharingEndsItServesNoClaim", func(t *testing.T) {
		town.ok(t, town.do(t, http.MethodPatch, in("platform", "classes", "pod-network"), obj{"spec": obj{"visibility": "platform"}}, ifMatch("*")))
		consumer.refused(t, south.take(t, "x", by("pod-network")), "not_found")
		consumer.refused(t, consumer.do(t, http.MethodGet, south.at("classes", "pod-network"), nil), "not_found")
		require.Equal(t, held, decode[client.IPClaim](t, consumer.ok(t, consumer.do(t, http.MethodGet, south.at("claims", south.named("held")), nil))))
		town.created(t, town.claimOf(t, "platform", "own", by("pod-network"), dryRun)) // a control: the platform's own class serves this claim
	})
}

// A project may not use three kinds of classes: another project's class, a class that the platform keeps to itself, and a missing class. All get the
// same response.
func TestForeignClassGetsTheResponseOfAMissingOne(t *testing.T) {
	t.Parallel()
	town := setupTown(t)
	town.classOf(t, "platform", "inner-01", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26})
	town.classOf(t, "platform", "inner-02", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26, "visibility": "platform"})
	town.classOf(t, "north", "inner-03", obj{"ipFamily": "IPv4", "defaultPrefixLength": 26})
	town.poolOf(t, "platform", "inner", "100.64.0.0/24", "inner-01", "inner-02")
	town.poolOf(t, "north", "inner", "100.64.0.0/24", "inner-03")
	c := town.south.admin()
	requests := func(class string) []answer {
		at := town.south.at
		patch := obj{"spec": obj{"description": "mine"}}
		return []answer{
			c.do(t, http.MethodGet, at("classes", class), nil, probe),
			c.do(t, http.MethodPatch, at("classes", class), patch, ifMatch("*"), probe),
			c.do(t, http.MethodDelete, at("classes", class), nil, probe),
			c.do(t, http.MethodPost, at("claims"), named("x", by(class)), probe),
			c.do(t, http.MethodPut, at("claims", "x"), obj{"spec": by(class)}, probe),
			c.do(t, http.MethodPost, at("claim-batches"), obj{"claims": []obj{named("x", by(class))}}, probe),
			c.do(t, http.MethodPost, at("pools"), named("x", obj{"cidr": "10.77.0.0/16", "classNames": []string{class}}), probe),
		}
	}
	town.writesNothing(t, func() {
		missing := requests("inner-00")
		for _, foreign := range []string{"inner-01", "inner-02", "inner-03"} {
			for i, a := range requests(foreign) {
				c.refused(t, a, "not_found")
				want := missing[i]
				want.body = bytes.ReplaceAll(want.body, []byte("inner-00"), []byte(foreign))
				require.Equal(t, whole(want), whole(a))
			}
		}
		for _, class := range all[client.IPClass](t, c, town.south.at("classes")) {
			require.Equal(t, "south", class.Metadata.Project)
		}
	})
	town.created(t, town.claimOf(t, "platform", "x", by("inner-01")))
	town.created(t, town.claimOf(t, "platform", "y", by("inner-02")))
	town.created(t, town.claimOf(t, "north", "x", by("inner-03")))
}
