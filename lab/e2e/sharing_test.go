package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// share changes a pool's visibility.
func (p *tenant) share(t testing.TB, pool, visibility string) {
	t.Helper()
	c := p.by["provider"]
	c.ok(t, c.do(t, http.MethodPatch, p.at("pools", pool), obj{"spec": obj{"visibility": visibility}}, ifMatch("*")))
}

// grant lets a consumer use a pool.
func (p *tenant) grant(t testing.TB, pool, consumer string) {
	t.Helper()
	c := p.by["provider"]
	c.created(t, c.do(t, http.MethodPut, p.at("pools", pool, "grants", consumer), nil))
}

// revoke revokes the grant of a consumer.
func (p *tenant) revoke(t testing.TB, pool, consumer string) {
	t.Helper()
	c := p.by["provider"]
	c.deleted(t, c.do(t, http.MethodDelete, p.at("pools", pool, "grants", consumer), nil))
}

// setupMarket makes a town. The north has a pool "market" for other projects, and the pool contains objects of the north.
func setupMarket(t testing.TB) *town {
	t.Helper()
	town := setupTown(t)
	p := town.north
	c := p.by["provider"]
	body := p.body("market", obj{"cidr": "192.0.2.0/24", "description": p.secret, "allocation": obj{"strategy": "FirstFit"}})
	body["metadata"].(obj)["labels"].(obj)["market"] = "open"
	c.created(t, c.do(t, http.MethodPost, p.at("pools"), body))
	owner := obj{"kind": "Cluster", "name": p.secret, "uid": p.secret}
	post := func(name string, spec obj) {
		c.created(t, c.do(t, http.MethodPost, p.at("claims"), p.body(p.named(name), spec)))
	}
	post("stall", obj{"poolRef": obj{"name": "market"}, "address": "192.0.2.1", "ownerRef": owner})
	post("closed", obj{"poolRef": obj{"name": "market"}, "address": "192.0.2.2", "ownerRef": owner, "reclaimPolicy": "Retain"})
	c.deleted(t, c.do(t, http.MethodDelete, p.at("claims", p.named("closed")), nil))
	return town
}

// buy returns the spec of a claim on the market that names the pool.
func buy(spec obj) obj {
	spec["poolRef"] = obj{"project": "north", "name": "market"}
	return spec
}

// take requests a block as a tenant's consumer. Each field contains the tenant's word.
func (p *tenant) take(t testing.TB, name string, spec obj, options ...option) answer {
	t.Helper()
	spec["ownerRef"] = obj{"kind": "Cluster", "name": p.secret, "uid": p.secret}
	return p.consumer().do(t, http.MethodPost, p.at("claims"), p.body(p.named(name), spec), options...)
}

// To use another project's pool, a project needs two things: the pool's visibility must allow it, and the project must have a grant.
func TestSharedPoolNeedsVisibilityAndAGrant(t *testing.T) {
	t.Parallel()
	town := setupMarket(t)
	north, south := town.north, town.south
	selector := func() obj { return obj{"poolSelector": obj{"matchLabels": obj{"market": "open"}}, "prefixLength": 32} }
	closed := func(t *testing.T) {
		t.Helper()
		town.writesNothing(t, func() {
			missing := obj{"poolRef": obj{"project": "north", "name": "markey"}, "prefixLength": 32}
			a, none := south.take(t, "x", buy(obj{"prefixLength": 32}), probe), south.take(t, "x", missing, probe)
			south.admin().refused(t, a, "not_found")
			none.body = bytes.ReplaceAll(none.body, []byte("markey"), []byte("market"))
			require.Equal(t, whole(none), whole(a))
			south.admin().refused(t, south.take(t, "x", selector()), "no_pool_matches")
			south.admin().refused(t, south.take(t, "x", buy(obj{"address": "192.0.2.1"})), "not_found")
			south.admin().refused(t, south.consumer().do(t, http.MethodPut, south.at("claims", "x"), obj{"spec": buy(obj{"prefixLength": 32})}), "not_found")
			batch := obj{"claims": []obj{named("x", buy(obj{"prefixLength": 32}))}}
			south.admin().refused(t, south.consumer().do(t, http.MethodPost, south.at("claim-batches"), batch), "not_found")
			for _, path := range []string{north.at("pools", "market"), north.at("pools", "market", "free"), north.at("allocations")} {
				south.admin().refused(t, south.admin().do(t, http.MethodGet, path, nil), "not_found")
			}
		})
	}
	n := 0
	open := func(t *testing.T) {
		t.Helper()
		n++
		claim := decode[client.IPClaim](t, south.admin().created(t, south.take(t, fmt.Sprint("c", n), buy(obj{"prefixLength": 32}))))
		require.Equal(t, client.ResolvedRef{Project: "north", Name: "market"}, claim.Status.PoolRef)
		require.True(t, inside(claim.Status.AllocatedCIDR, "192.0.2.0/24"))
		south.admin().refused(t, south.take(t, "x", selector()), "no_pool_matches") // a selector never finds another project's pool
		n++
		a := south.consumer().do(t, http.MethodPut, south.at("claims", south.named(fmt.Sprint("c", n))), obj{"spec": buy(obj{"prefixLength": 32})})
		south.admin().created(t, a)
		n++
		batch := obj{"claims": []obj{south.body(south.named(fmt.Sprint("c", n)), buy(obj{"prefixLength": 32}))}}
		require.Equal(t, http.StatusCreated, south.consumer().do(t, http.MethodPost, south.at("claim-batches"), batch).status)
		for _, path := range []string{north.at("pools", "market"), north.at("pools", "market", "grants"), north.at("allocations")} {
			south.admin().refused(t, south.admin().do(t, http.MethodGet, path, nil), "not_found") // the consumer may use the pool, but not read it
		}
		child := obj{"parentRef": obj{"project": "north", "name": "market"}, "prefixLength": 30}
		south.admin().refused(t, south.admin().do(t, http.MethodPost, south.at("pools"), named("x", child)), "not_found")
	}
	t.Run("NeitherIsNotFound", closed)
	t.Run("SharedAloneIsNotFound", func(t *testing.T) { north.share(t, "market", "shared"); closed(t) })
	t.Run("AGrantToAnotherProjectIsNotFound", func(t *testing.T) { north.grant(t, "market", "west"); closed(t) })
	t.Run("BothOpenIt", func(t *testing.T) { north.grant(t, "market", "south"); open(t) })
	t.Run("AGrantAloneIsNotFound", func(t *testing.T) { north.share(t, "market", "consumer"); closed(t) })
	t.Run("SharedAgainIsOpenAgain", func(t *testing.T) { north.share(t, "market", "shared"); open(t) })
	t.Run("RevokedIsNotFoundAtOnce", func(t *testing.T) { north.revoke(t, "market", "south"); closed(t) })
	t.Run("AGrantToEveryProjectIsIndependent", func(t *testing.T) {
		north.grant(t, "market", "*")
		open(t)
		north.grant(t, "market", "south")
		north.revoke(t, "market", "*")
		open(t)
		north.revoke(t, "market", "south")
		closed(t)
	})
	t.Run("SelectorsFindThePlatformsPools", func(t *testing.T) {
		pool := in("platform", "pools", "commons")
		body := named("commons", obj{"cidr": "100.64.0.0/24"})
		body["metadata"].(obj)["labels"] = obj{"market": "open"}
		town.created(t, town.do(t, http.MethodPost, in("platform", "pools"), body))
		closed := func() { south.admin().refused(t, south.take(t, "x", selector()), "no_pool_matches") }
		closed()
		town.created(t, town.do(t, http.MethodPut, pool+"/grants/south", nil))
		closed()
		town.ok(t, town.do(t, http.MethodPatch, pool, obj{"spec": obj{"visibility": "shared"}}, ifMatch("*")))
		claim := decode[client.IPClaim](t, south.admin().created(t, south.take(t, "common", selector())))
		require.Equal(t, client.ResolvedRef{Project: "platform", Name: "commons"}, claim.Status.PoolRef)
		town.deleted(t, town.do(t, http.MethodDelete, pool+"/grants/south", nil))
		closed()
	})
	t.Run("ALaterPoolOfTheNameInheritsNoGrant", func(t *testing.T) {
		c := north.by["provider"]
		for range 2 {
			c.created(t, c.do(t, http.MethodPost, north.at("pools"), named("stand", obj{"cidr": "198.18.0.0/24", "visibility": "shared"})))
			spec := obj{"poolRef": obj{"project": "north", "name": "stand"}, "prefixLength": 32}
			south.admin().refused(t, south.take(t, "stand", spec), "not_found")
			north.grant(t, "stand", "south")
			south.admin().created(t, south.take(t, "stand", spec))
			south.consumer().deleted(t, south.consumer().do(t, http.MethodDelete, south.at("claims", south.named("stand")), nil))
			c.deleted(t, c.do(t, http.MethodDelete, north.at("pools", "stand"), nil))
		}
	})
	t.Run("VisibilityPlatformIsForThePlatform", func(t *testing.T) {
		c := north.by["provider"]
		north.admin().refused(t, c.do(t, http.MethodPatch, north.at("pools", "market"), obj{"spec": obj{"visibility": "platform"}}, ifMatch("*")), "invalid_argument", "/spec/visibility")
		town.created(t, town.do(t, http.MethodPost, in("platform", "pools"), named("inner", obj{"cidr": "203.0.113.0/24", "visibility": "platform"})))
		town.created(t, town.do(t, http.MethodPut, in("platform", "pools", "inner", "grants", "*"), nil))
		spec := obj{"poolRef": obj{"project": "platform", "name": "inner"}, "prefixLength": 32}
		south.admin().refused(t, south.take(t, "x", spec), "not_found")
		town.created(t, town.do(t, http.MethodPost, in("platform", "claims"), named("x", obj{"poolRef": obj{"name": "inner"}, "prefixLength": 32})))
	})
	t.Run("HeldBlocksStayAndCanBeReleased", func(t *testing.T) {
		held := all[client.IPClaim](t, south.admin(), south.at("claims")+"?pool=north/market")
		require.Len(t, held, n)
		before := number(t, poolCapacity(t, north, "market").Available).Int64()
		for _, claim := range held {
			path := south.at("claims", claim.Metadata.Name)
			south.consumer().ok(t, south.consumer().do(t, http.MethodPatch, path, obj{"metadata": obj{"labels": obj{"a": "b"}}}, ifMatch("*")))
			south.consumer().deleted(t, south.consumer().do(t, http.MethodDelete, path, nil))
		}
		require.Equal(t, before+int64(n), number(t, poolCapacity(t, north, "market").Available).Int64())
	})
}

// For a claim on a shared pool, the owner sees the block and the consumer's project, and the consumer sees its claim. The test searches each response
// to one side for all other words that the other side wrote.
func TestNeitherSideOfASharedPoolSeesTheOther(t *testing.T) {
	t.Parallel()
	town := setupMarket(t)
	north, south := town.north, town.south
	north.share(t, "market", "shared")
	north.grant(t, "market", "south")
	bound := decode[client.IPClaim](t, south.admin().created(t, south.take(t, "bound", buy(obj{"address": "192.0.2.10"}))))
	kept := decode[client.IPClaim](t, south.admin().created(t, south.take(t, "kept", buy(obj{"address": "192.0.2.11", "reclaimPolicy": "Retain"}))))
	south.consumer().deleted(t, south.consumer().do(t, http.MethodDelete, south.at("claims", south.named("kept")), nil))
	south.admin().created(t, south.take(t, "brief", buy(obj{"address": "192.0.2.12"})))
	south.consumer().deleted(t, south.consumer().do(t, http.MethodDelete, south.at("claims", south.named("brief")), nil))
	north.hearsNot(bound.Metadata.UID, kept.Metadata.UID)

	t.Run("TheOwnerSeesTheAllocations", func(t *testing.T) {
		for _, role := range roles {
			c := north.by[role]
			for _, want := range []struct{ claim, cidr, phase string }{{bound.Status.AllocationRef.Name, "192.0.2.10/32", "Bound"}, {kept.Status.AllocationRef.Name, "192.0.2.11/32", "Retained"}} {
				a := decode[client.IPAllocation](t, c.ok(t, c.do(t, http.MethodGet, north.at("allocations", want.claim), nil)))
				require.Equal(t, []any{"south", want.cidr, client.IPAllocationPhase(want.phase)}, []any{a.Spec.Consumer, a.Status.AllocatedCIDR, a.Status.Phase})
				require.Nil(t, a.Spec.ClaimRef)
				require.Nil(t, a.Spec.OwnerRef)
				require.Empty(t, a.Metadata.CreatedBy)
				require.Equal(t, "north", a.Metadata.Project)
			}
		}
	})
	t.Run("TheOwnerSeesItsOwnClaimsInFull", func(t *testing.T) {
		own := all[client.IPAllocation](t, north.admin(), north.at("allocations")+"?contains=192.0.2.1")
		require.Len(t, own, 1)
		require.Equal(t, &client.ResolvedRef{Project: "north", Name: north.named("stall")}, own[0].Spec.ClaimRef)
		require.Equal(t, north.secret, own[0].Spec.OwnerRef.Name)
		require.Equal(t, "north", own[0].Spec.Consumer)
	})
	t.Run("TheConsumerSeesItsClaim", func(t *testing.T) {
		c := south.by["viewer"]
		claim := decode[client.IPClaim](t, c.ok(t, c.do(t, http.MethodGet, south.at("claims", south.named("bound")), nil)))
		require.Equal(t, bound, claim)
		require.Equal(t, south.secret, claim.Spec.OwnerRef.Name)
		require.Empty(t, all[client.IPAllocation](t, south.admin(), south.at("allocations")+"?within=192.0.2.0/24"), "the pool is the owner's")
		for _, of := range []client.IPClaim{bound, kept} { // the owner of a claim can read the objects that its claim refers to
			a := decode[client.IPAllocation](t, c.ok(t, c.do(t, http.MethodGet, south.at("allocations", of.Status.AllocationRef.Name), nil)))
			require.Equal(t, &client.ResolvedRef{Project: "south", Name: of.Metadata.Name}, a.Spec.ClaimRef)
			require.Equal(t, of.Status.AllocatedCIDR, a.Status.AllocatedCIDR)
		}
	})
	t.Run("TheConsumerListsItsBlocks", func(t *testing.T) {
		for _, role := range roles {
			held := func(filter string) (names []string) {
				for _, a := range all[client.IPAllocation](t, south.by[role], south.at("allocations")+"?holder=self&within=192.0.2.0/24"+filter) {
					require.Equal(t, []string{"south", "north/market"}, []string{a.Spec.Consumer, a.Spec.PoolRef.Project + "/" + a.Spec.PoolRef.Name})
					names = append(names, a.Metadata.Name)
				}
				return names
			}
			require.Equal(t, []string{kept.Status.AllocationRef.Name, bound.Status.AllocationRef.Name}, held(""))
			require.Equal(t, []string{kept.Status.AllocationRef.Name}, held("&phase=Retained"))
		}
		for _, a := range all[client.IPAllocation](t, north.admin(), north.at("allocations")+"?holder=self") {
			require.Equal(t, []any{"north", "north"}, []any{a.Spec.Consumer, a.Spec.ClaimRef.Project}, "of its own pool what it holds itself")
		}
		outsider := town.as(town.token)
		require.Empty(t, all[client.IPAllocation](t, outsider, in("platform", "allocations")+"?holder=self"))
		north.admin().refused(t, north.admin().do(t, http.MethodGet, south.at("allocations")+"?holder=self", nil), "not_found")
		south.admin().refused(t, south.admin().do(t, http.MethodGet, south.at("allocations")+"?holder=north", nil), "invalid_argument", "query:holder")
	})
	t.Run("HistoryNamesTheConsumersProject", func(t *testing.T) {
		for address, phases := range map[string]int{"192.0.2.10": 1, "192.0.2.11": 2, "192.0.2.12": 1} {
			entries := all[client.HistoryEntry](t, north.admin(), north.at("history")+"?address="+address)
			require.Len(t, entries, phases, address)
			for _, e := range entries {
				require.Equal(t, "south", e.Consumer)
				require.Nil(t, e.ClaimRef)
			}
		}
		for address, phase := range map[string]string{"192.0.2.10": "Bound", "192.0.2.11": "Retained", "192.0.2.12": "", "192.0.2.1": ""} {
			entries := all[client.HistoryEntry](t, south.admin(), south.at("history")+"?address="+address)
			if phase == "" {
				require.Empty(t, entries, "it is not its pool, and it holds nothing there")
				continue
			}
			require.Len(t, entries, 1, address)
			require.Equal(t, []any{client.IPAllocationPhase(phase), "south", "south"}, []any{entries[0].Phase, entries[0].Consumer, entries[0].ClaimRef.Project})
		}
	})
	t.Run("TheMapNamesTheConsumersProject", func(t *testing.T) {
		show := func(c *caller) answer {
			return c.do(t, http.MethodGet, north.at("pools", "market", "map"), nil, query("within=192.0.2.8/29"))
		}
		m := decode[client.PoolMap](t, north.admin().ok(t, show(north.admin())))
		states := map[int]client.PoolMapState{}
		for _, cells := range m.Cells {
			states[cells.First] = cells.State
			if cells.By != nil {
				require.Equal(t, []string{"south", "", "Claim"}, []string{cells.By.Project, cells.By.Name, string(cells.By.Kind)})
			}
		}
		require.Equal(t, client.PoolMapStateHeld, states[2])
		require.Equal(t, client.PoolMapStateRetained, states[3])
		south.admin().refused(t, show(south.admin()), "not_found")
	})
	t.Run("RefusalsNameNoProject", func(t *testing.T) {
		for address, code := range map[string]struct{ south, north string }{
			"192.0.2.1": {"block_taken", "block_taken"}, "192.0.2.2": {"block_taken", "allocation_retained"}, // blocks of the north
			"192.0.2.10": {"block_taken", "block_taken"}, "192.0.2.11": {"allocation_retained", "block_taken"}, // blocks of the south
		} {
			south.admin().refused(t, south.take(t, "x", buy(obj{"address": address})), code.south)
			north.admin().refused(t, north.take(t, "x", obj{"poolRef": obj{"name": "market"}, "address": address}), code.north)
		}
		south.admin().refused(t, south.take(t, "x", buy(obj{"prefixLength": 24})), "pool_exhausted")
		p := north.admin().refused(t, north.admin().do(t, http.MethodDelete, north.at("pools", "market"), nil), "in_use")
		require.Equal(t, []int64{2, 2}, []int64{*p.Claims, *p.Retained}, "of each one of its own, and one of somebody's")
		etag := ifMatch("*")
		patch := obj{"spec": obj{"reservations": []obj{{"cidr": "192.0.2.10/32"}}}}
		north.admin().refused(t, north.admin().do(t, http.MethodPatch, north.at("pools", "market"), patch, etag), "block_taken")
	})
	t.Run("OnlyTheirProjectBindsRetainedBlocksAgain", func(t *testing.T) {
		rebind := func(p *tenant, name string) answer {
			return p.consumer().do(t, http.MethodPost, p.at("claims"), named(name, obj{"allocationRef": obj{"name": kept.Status.AllocationRef.Name}}))
		}
		foreign := rebind(north, "x")
		require.False(t, foreign.ok(), "the block is kept for another project: %s", foreign.body)
		again := decode[client.IPClaim](t, south.admin().created(t, rebind(south, south.named("again"))))
		require.Equal(t, "192.0.2.11/32", again.Status.AllocatedCIDR)
		south.consumer().ok(t, south.consumer().do(t, http.MethodPatch, south.at("claims", south.named("again")), obj{"spec": obj{"reclaimPolicy": "Retain"}}, ifMatch("*")))
		south.consumer().deleted(t, south.consumer().do(t, http.MethodDelete, south.at("claims", south.named("again")), nil))
	})
	t.Run("NotOneWordGetsAcross", func(t *testing.T) {
		for _, role := range []string{"admin"} {
			north.readEverything(t, north.by[role])
			south.readEverything(t, south.by[role])
		}
	})
	t.Run("TheOwnerReleasesRetainedBlocks", func(t *testing.T) {
		c := north.by["provider"]
		theirs := south.at("allocations", kept.Status.AllocationRef.Name) // the holder may do the same
		south.admin().deleted(t, south.by["provider"].do(t, http.MethodDelete, theirs, nil, dryRun))
		south.admin().refused(t, south.consumer().do(t, http.MethodDelete, theirs, nil, dryRun), "permission_denied")
		c.deleted(t, c.do(t, http.MethodDelete, north.at("allocations", kept.Status.AllocationRef.Name), nil))
		c.refused(t, c.do(t, http.MethodDelete, north.at("allocations", bound.Status.AllocationRef.Name), nil), "in_use")
		south.admin().refused(t, south.consumer().do(t, http.MethodDelete, north.at("allocations", bound.Status.AllocationRef.Name), nil), "not_found")
	})
	t.Run("AProjectIsNotDeletedWhileItHoldsABlockElsewhere", func(t *testing.T) {
		town.refused(t, town.do(t, http.MethodDelete, "/v1/projects/south", nil), "in_use")
	})
	t.Run("AnAllocationRefIsFoundOnlyInThePoolsProject", func(t *testing.T) {
		of := func(project string) obj {
			return obj{"spec": obj{"allocationRef": obj{"project": project, "name": bound.Status.AllocationRef.Name}}}
		}
		for _, project := range []string{"south", "west", "nowhere"} {
			south.admin().refused(t, south.consumer().do(t, http.MethodPut, south.at("claims", south.named("e")), of(project)), "not_found")
		}
		south.admin().refused(t, south.consumer().do(t, http.MethodPut, south.at("claims", south.named("e")), of("north")), "in_use")
	})
}
