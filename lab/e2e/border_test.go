package e2e

import (
	"bytes"
	"fmt"
	"net/http"
	"net/url"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// Two tenants have pools with the same name and addresses. A request of one tenant must never change or show an object of the other tenant.
func TestTenantsWithEqualNamesSeeOnlyTheirOwnObjects(t *testing.T) {
	t.Parallel()
	town := setupTown(t)
	north, south := town.north, town.south

	t.Run("EachReadsItsOwnObjects", func(t *testing.T) {
		for _, p := range []*tenant{north, south} {
			p.readEverything(t, p.admin())
			pool := decode[client.IPPool](t, p.admin().ok(t, p.admin().do(t, http.MethodGet, p.at("pools", "default"), nil)))
			require.Equal(t, p.secret, pool.Spec.Description)
			require.Equal(t, p.project, pool.Metadata.Project)
		}
	})
	t.Run("ANameRefersToTheCallersProject", func(t *testing.T) {
		before := poolCapacity(t, south, "default")
		body := named("same", from("default", 26))
		mine := decode[client.IPClaim](t, north.consumer().created(t, north.consumer().do(t, http.MethodPost, north.at("claims"), body)))
		require.Equal(t, client.ResolvedRef{Project: "north", Name: "default"}, mine.Status.PoolRef)
		require.Equal(t, before, poolCapacity(t, south, "default"), "the other's pool is as it was")
		theirs := decode[client.IPClaim](t, south.consumer().created(t, south.consumer().do(t, http.MethodPost, south.at("claims"), body)))
		require.Equal(t, client.ResolvedRef{Project: "south", Name: "default"}, theirs.Status.PoolRef)
		require.Equal(t, mine.Status.AllocatedCIDR, theirs.Status.AllocatedCIDR, "both have the whole address space to themselves")
		south.consumer().deleted(t, south.consumer().do(t, http.MethodDelete, south.at("claims", "same"), nil))
		north.consumer().ok(t, north.consumer().do(t, http.MethodGet, north.at("claims", "same"), nil))
	})
	t.Run("ListsAndCountsAreOfTheCallersProject", func(t *testing.T) {
		for _, list := range []string{
			"spaces", "pools", "classes", "claims", "allocations", "members", "api-keys", "quotas", "audit-events", "pools/default/grants", "spaces/default/grants",
			"pools?class=" + north.named("class"), "claims?class=" + north.named("class"), "allocations?class=" + north.named("class"),
			"pools/default/free", "history?address=10.0.1.0", "claims?pool=default", "claims?pool=north/default", "claims?contains=10.0.1.0", "pools?contains=10.0.0.1",
			"allocations?holder=self", "allocations?holder=self&pool=north/default", "allocations?holder=self&contains=10.0.1.0",
			"pools?space=north/default", "pools?parent=north/default", "allocations?pool=north/default", "allocations?within=10.0.0.0/8",
			"claims?labelSelector=kind=network", "audit-events?subject=key:north/" + north.named("admin"),
		} {
			a := south.admin().do(t, http.MethodGet, south.at(list), nil, query("limit=500"))
			if strings.Contains(list, "=north/") || strings.Contains(list, "class=") { // another tenant's name must count as a missing name
				south.admin().refused(t, a, "invalid_argument")
				continue
			}
			south.admin().ok(t, a)
		}
		for _, list := range []string{"claims?pool=", "allocations?pool=", "pools?space=", "pools?parent="} {
			foreign := south.admin().do(t, http.MethodGet, south.at(list)+"north/default", nil, probe)
			nothing := south.admin().do(t, http.MethodGet, south.at(list)+"north/nothing", nil, probe)
			nowhere := south.admin().do(t, http.MethodGet, south.at(list)+"never/default", nil, probe)
			asked := strings.NewReplacer("north/nothing", "that", "never/default", "that", "north/default", "that")
			for _, a := range []*answer{&foreign, &nothing, &nowhere} { // each response contains the name that its request used
				a.body = []byte(asked.Replace(string(a.body)))
			}
			require.Equal(t, whole(nothing), whole(foreign), list)
			require.Equal(t, whole(nowhere), whole(foreign), list)
		}
	})
	t.Run("SearchFindsOnlyTheCallersProject", func(t *testing.T) {
		for _, p := range []*tenant{north, south} {
			found := 0
			for _, q := range []string{
				"north", "south", "default", north.named("class"), south.named("class"), "10.0.1.0", "10.0.0.0/8", "kind=network", "north/default", "south/default", "north/10.0.1.0",
			} {
				result := decode[client.SearchResult](t, p.admin().ok(t, p.admin().do(t, http.MethodGet, "/v1/search", nil, query("limit=100&q="+url.QueryEscape(q)))))
				require.False(t, result.Truncated)
				for _, item := range result.Items {
					if item.Kind == client.SearchKindProject {
						item.Project = item.Name
					}
					require.Equal(t, p.project, item.Project, "%s: %s %s", q, item.Kind, item.Name)
					found++
				}
			}
			require.Greater(t, found, 5, "the control: it finds what is its own")
		}
	})
	t.Run("ForeignCursorsAreUseless", func(t *testing.T) { cursorsOpenNothing(t, north, south) })
	t.Run("IdempotencyKeysAreSeparate", func(t *testing.T) {
		body := named("keyed", from("default", 28))
		first := north.consumer().created(t, north.consumer().do(t, http.MethodPost, north.at("claims"), body, key("shared-key")))
		second := south.consumer().created(t, south.consumer().do(t, http.MethodPost, south.at("claims"), body, key("shared-key")))
		require.Empty(t, second.header.Get("Idempotency-Replayed"))
		require.NotEqual(t, decode[client.IPClaim](t, first).Metadata.UID, decode[client.IPClaim](t, second).Metadata.UID)
		other := named("keyed-2", from("default", 27))
		south.consumer().created(t, south.consumer().do(t, http.MethodPost, south.at("claims"), other, key("other-key")))
		a := north.consumer().created(t, north.consumer().do(t, http.MethodPost, north.at("claims"), named("keyed-3", from("default", 28)), key("other-key")))
		require.Empty(t, a.header.Get("Idempotency-Replayed"), "no mismatch tells that the other used the key")
		again := north.consumer().do(t, http.MethodPost, north.at("claims"), body, key("shared-key"))
		require.Equal(t, "true", north.consumer().created(t, again).header.Get("Idempotency-Replayed"), "the control: one's own key is known")
	})
	t.Run("ConflictsNameOnlyTheCallersProject", func(t *testing.T) {
		p := south.admin().refused(t, south.admin().do(t, http.MethodPost, south.at("pools"), named("x", obj{"cidr": "10.0.0.0/8"})), "overlap")
		require.Equal(t, []string{"south/default"}, p.ConflictsWith)
		p = south.admin().refused(t, south.admin().do(t, http.MethodDelete, south.at("pools", "default"), nil), "in_use")
		require.Equal(t, []int64{int64(len(all[client.IPClaim](t, south.admin(), south.at("claims")))), 1}, []int64{*p.Claims, *p.Retained})
		town.refused(t, town.do(t, http.MethodDelete, "/v1/projects/south", nil), "in_use")
	})
	t.Run("NorthReadsWhatItReadBefore", func(t *testing.T) { north.readEverything(t, north.admin()) })
}

// cursorsOpenNothing takes a cursor from each list of one tenant and uses it on the same list of the other tenant. The response must reveal nothing.
func cursorsOpenNothing(t *testing.T, north, south *tenant) {
	t.Helper()
	lists := []string{
		"spaces", "pools", "classes", "claims", "allocations", "members", "api-keys", "audit-events", "claims?pool=default", "allocations?pool=default", "pools/default/free",
		"allocations?holder=self",
	}
	north.consumer().created(t, north.consumer().do(t, http.MethodPost, north.at("claims"), named("last", from("default", 27))))
	north.admin().created(t, north.admin().do(t, http.MethodPut, north.at("members", "zoo:keeper"), obj{"spec": obj{"role": "viewer"}}))
	for _, list := range lists {
		first := decode[page](t, north.admin().ok(t, north.admin().do(t, http.MethodGet, north.at(list), nil, query("limit=1"))))
		require.NotEmpty(t, first.NextCursor, list)
		next := decode[page](t, north.admin().ok(t, north.admin().do(t, http.MethodGet, north.at(list), nil, query("limit=1"), query("cursor="+first.NextCursor))))
		require.NotEmpty(t, next.Items, "the control: it is good for its own list %s", list)
		a := south.admin().do(t, http.MethodGet, south.at(list), nil, query("limit=500"), query("cursor="+first.NextCursor))
		if a.status != http.StatusOK { // the cursor may be refused, or may mean a position in the second list
			south.admin().refused(t, a, "invalid_argument", "query:cursor")
			continue
		}
		own := map[string]bool{}
		for _, name := range decode[page](t, south.admin().ok(t, south.admin().do(t, http.MethodGet, south.at(list), nil, query("limit=500")))).names() {
			own[name] = true
		}
		for _, name := range decode[page](t, a).names() {
			require.True(t, own[name], "%s: %s is in the list without the cursor", list, name)
		}
	}
}

func poolCapacity(t testing.TB, p *tenant, pool string) client.Capacity {
	t.Helper()
	return decode[client.IPPool](t, p.admin().ok(t, p.admin().do(t, http.MethodGet, p.at("pools", pool), nil))).Status.Capacity
}

// reference is a request that names an object of another project. take makes the request for the owner's project and the object's name. It returns
// the method, the path below the project, and the body.
type reference struct {
	take func(project, name string) (method, path string, body obj)
	name func(owner *tenant) string // name of an existing object
}

// references returns all kinds of requests that can name an object of another project.
func references(t testing.TB, owner *tenant) map[string]reference {
	t.Helper()
	pool, class := func(*tenant) string { return "default" }, func(owner *tenant) string { return owner.named("class") }
	ref := func(project, name string) obj { return obj{"project": project, "name": name} }
	kept := owner.retainedBlock(t)
	held := decode[client.IPClaim](t, owner.admin().ok(t, owner.admin().do(t, http.MethodGet, owner.at("claims", owner.named("claim")), nil))).Status.AllocationRef.Name
	return map[string]reference{
		"PoolRef": {func(project, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"poolRef": ref(project, name), "prefixLength": 28})
		}, pool},
		"PoolRefWithAnAddress": {func(project, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"poolRef": ref(project, name), "address": "10.0.77.7"})
		}, pool},
		"PoolRefWithAHeldAddress": {func(project, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"poolRef": ref(project, name), "address": "10.0.0.1"})
		}, pool},
		"PoolRefWithALengthThatIsRefused": {func(project, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"poolRef": ref(project, name), "prefixLength": 8})
		}, pool},
		"Put": {func(project, name string) (string, string, obj) {
			return http.MethodPut, "claims/x", obj{"spec": obj{"poolRef": ref(project, name), "prefixLength": 28}}
		}, pool},
		"Batch": {func(project, name string) (string, string, obj) {
			return http.MethodPost, "claim-batches", obj{"claims": []obj{
				named("own", from("default", 28)), named("x", obj{"poolRef": ref(project, name), "prefixLength": 28}),
			}}
		}, pool},
		"ParentRef": {func(project, name string) (string, string, obj) {
			return http.MethodPost, "pools", named("x", obj{"parentRef": ref(project, name), "prefixLength": 28})
		}, pool},
		"SpaceRef": {func(project, name string) (string, string, obj) {
			return http.MethodPost, "pools", named("x", obj{"spaceRef": ref(project, name), "cidr": "172.16.0.0/12"})
		}, func(owner *tenant) string { return owner.named("space") }},
		"SpaceRefWithAnOverlap": {func(project, name string) (string, string, obj) {
			return http.MethodPost, "pools", named("x", obj{"spaceRef": ref(project, name), "cidr": "2001:db8::/32"})
		}, func(owner *tenant) string { return owner.named("space") }},
		"ClassName": {func(_, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"className": name})
		}, class},
		"ClassNameWithALengthThatIsRefused": {func(_, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"className": name, "prefixLength": 8})
		}, class},
		"ClassNameOfTheOtherFamily": {func(_, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"className": name, "ipFamily": "IPv6"})
		}, class},
		"ClassNameWithoutAScope": {func(_, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"className": name})
		}, func(owner *tenant) string { return owner.named("scoped") }},
		"ClassNameInAPut": {func(_, name string) (string, string, obj) {
			return http.MethodPut, "claims/x", obj{"spec": obj{"className": name}}
		}, class},
		"ClassNameInABatch": {func(_, name string) (string, string, obj) {
			return http.MethodPost, "claim-batches", obj{"claims": []obj{named("own", from("default", 28)), named("x", obj{"className": name})}}
		}, class},
		"ClassNamesOfAPool": {func(_, name string) (string, string, obj) {
			return http.MethodPost, "pools", named("x", obj{"cidr": "172.16.0.0/12", "classNames": []string{name}})
		}, class},
		"ClassNamesOfAPatchedPool": {func(_, name string) (string, string, obj) {
			return http.MethodPatch, "pools/default", obj{"spec": obj{"classNames": []string{name}}}
		}, func(owner *tenant) string { return owner.named("scoped") }},
		"ReadingAClass": {func(_, name string) (string, string, obj) {
			return http.MethodGet, "classes/" + name, nil
		}, class},
		"ChangingAClass": {func(_, name string) (string, string, obj) {
			return http.MethodPatch, "classes/" + name, obj{"spec": obj{"isDefault": true}}
		}, class},
		"DeletingAClass": {func(_, name string) (string, string, obj) {
			return http.MethodDelete, "classes/" + name, nil
		}, class},
		"ReadingAnAllocation": {func(_, name string) (string, string, obj) {
			return http.MethodGet, "allocations/" + name, nil
		}, func(*tenant) string { return kept }},
		"DeletingAnAllocation": {func(_, name string) (string, string, obj) {
			return http.MethodDelete, "allocations/" + name, nil
		}, func(*tenant) string { return kept }},
		"ReadingABoundAllocation": {func(_, name string) (string, string, obj) {
			return http.MethodGet, "allocations/" + name, nil
		}, func(*tenant) string { return held }},
		"DeletingABoundAllocation": {func(_, name string) (string, string, obj) {
			return http.MethodDelete, "allocations/" + name, nil
		}, func(*tenant) string { return held }},
		"AllocationRefOfABoundOne": {func(_, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"allocationRef": obj{"name": name}})
		}, func(*tenant) string { return held }},
		"AllocationRef": {func(_, name string) (string, string, obj) {
			return http.MethodPost, "claims", named("x", obj{"allocationRef": obj{"name": name}})
		}, func(*tenant) string { return kept }},
	}
}

// A request that names an object of another project cannot use it. The response is the same as for an object that does not exist.
func TestForeignObjectGetsTheResponseOfAMissingOne(t *testing.T) {
	t.Parallel()
	town := setupTown(t)
	north, south := town.north, town.south
	for name, way := range references(t, north) {
		t.Run(name, func(t *testing.T) {
			thing := way.name(north)
			nothing := thing[:len(thing)-1] + "0" // a name of the same length that no object has
			if nothing == thing {
				nothing = thing[:len(thing)-1] + "1"
			}
			send := func(p *tenant, project, name string, options ...option) answer {
				method, path, body := way.take(project, name)
				if method == http.MethodGet {
					options = nil // a GET has no dry run
				}
				var sent any
				if body != nil {
					sent = body
				}
				if method == http.MethodPatch {
					options = append(options, ifMatch("*"))
				}
				return p.by["provider"].do(t, method, p.at(path), sent, append(options, probe)...)
			}
			town.writesNothing(t, func() {
				foreign := send(south, "north", thing)
				south.admin().refused(t, foreign, "not_found")
				missing := send(south, "north", nothing)
				missing.body = bytes.ReplaceAll(missing.body, []byte(nothing), []byte(thing))
				require.Equal(t, whole(missing), whole(foreign), "as for a thing that does not exist")
				elsewhere := send(south, "n0rth", thing)
				elsewhere.body = bytes.ReplaceAll(elsewhere.body, []byte("n0rth"), []byte("north"))
				require.Equal(t, whole(elsewhere), whole(foreign), "as in a project that does not exist")
				own := send(north, "north", thing, dryRun)
				if p, isRefused := problemOf(own); isRefused {
					require.Contains(t, []string{"block_taken", "overlap", "prefix_length_rejected", "never_satisfiable", "family_mismatch", "invalid_argument", "in_use"}, p.Code,
						"the control: its owner gets to where the request itself is judged")
				}
			})
		})
	}
	t.Run("Selector", func(t *testing.T) {
		spec := obj{"poolSelector": obj{"matchLabels": obj{"owner": north.secret}}, "prefixLength": 28}
		missing := obj{"poolSelector": obj{"matchLabels": obj{"owner": "nobody"}}, "prefixLength": 28}
		town.writesNothing(t, func() {
			foreign := south.consumer().do(t, http.MethodPost, south.at("claims"), named("x", spec), probe)
			nothing := south.consumer().do(t, http.MethodPost, south.at("claims"), named("x", missing), probe)
			south.consumer().refused(t, foreign, "no_pool_matches")
			require.Equal(t, whole(nothing), whole(foreign))
			north.consumer().created(t, north.consumer().do(t, http.MethodPost, north.at("claims"), named("x", spec), dryRun))
		})
		t.Run("TriesOnlyTheCallersPools", func(t *testing.T) {
			both := obj{"poolSelector": obj{"matchLabels": obj{"kind": "network"}}, "ipFamily": "IPv4", "prefixLength": 18}
			for i := 0; ; i++ {
				a := south.consumer().do(t, http.MethodPost, south.at("claims"), obj{"metadata": obj{"generateName": "s-"}, "spec": both})
				if p, isRefused := problemOf(a); isRefused {
					require.Equal(t, "pool_exhausted", p.Code)
					require.Positive(t, i)
					for _, tried := range p.PoolsTried {
						require.Contains(t, tried, "south/")
					}
					break
				}
				require.Equal(t, "south", decode[client.IPClaim](t, a).Status.PoolRef.Project)
			}
		})
	})
	t.Run("Explanation", func(t *testing.T) {
		ask := func(p *tenant, class string) answer {
			return p.by["viewer"].do(t, http.MethodPost, p.at("claim-explanations"), obj{"spec": by(class)}, probe)
		}
		foreign, nothing := ask(south, north.named("class")), ask(south, north.named("clas0"))
		require.Equal(t, client.ClaimOutcome("Refused"), decode[client.ClaimExplanation](t, south.admin().ok(t, foreign)).Outcome)
		nothing.body = bytes.ReplaceAll(nothing.body, []byte("-clas0"), []byte("-class"))
		require.Equal(t, whole(nothing), whole(foreign))
		require.Equal(t, client.ClaimOutcome("Bound"), decode[client.ClaimExplanation](t, north.admin().ok(t, ask(north, north.named("class")))).Outcome, "the control")
	})
	t.Run("QuotaReferencesRevealNothing", func(t *testing.T) {
		town.classOf(t, "north", "plain", obj{"ipFamily": "IPv4"})
		for i, scope := range []obj{
			{"poolRef": obj{"project": "north", "name": "default"}}, {"poolRef": obj{"project": "north", "name": "nothing"}},
			{"classRef": obj{"project": "north", "name": "plain"}}, {"classRef": obj{"project": "north", "name": "nothing"}},
		} {
			spec := obj{"scope": scope, "limits": obj{"claims": 1}}
			q := decode[client.Quota](t, south.admin().created(t, south.admin().do(t, http.MethodPut, south.at("quotas", fmt.Sprint("on-", i)), obj{"spec": spec})))
			require.Zero(t, q.Status.Used.Claims)
		}
	})
	t.Run("GrantsDoNotRevealProjects", func(t *testing.T) {
		known := south.admin().do(t, http.MethodPut, south.at("pools", "default", "grants", "north"), nil, probe)
		unknown := south.admin().do(t, http.MethodPut, south.at("pools", "default", "grants", "n0rth"), nil, probe)
		require.Equal(t, known.status, unknown.status)
		require.Equal(t, lasting(t, known), lasting(t, answer{body: bytes.ReplaceAll(unknown.body, []byte("n0rth"), []byte("north"))}))
	})
}
