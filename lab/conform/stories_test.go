package conform

import (
	"encoding/json"
	"fmt"
	"net/http"

	"github.com/stretchr/testify/require"
)

// stories sends requests that lead to refusals which random requests seldom cause. Each story ends with its expected code.
func (w *world) stories() {
	team := "/v1/projects/" + tenant
	w.serial++
	third := w.serial % 256
	name := w.fresh("story")
	pool := func(name string, spec obj) {
		w.made("createPool", team+"/pools", obj{"metadata": obj{"name": name}, "spec": spec})
	}
	claim := func(name string, spec obj) *request {
		r := w.plain(contract().named("createClaim"), team+"/claims")
		r.kind, r.body = "story", mustJSON(obj{"metadata": obj{"name": name}, "spec": spec})
		return r
	}
	from := func(pool string, more obj) obj {
		more["poolRef"] = obj{"name": pool}
		return more
	}
	due := func(r *request, status int, code string) *request {
		r.want, r.code = []int{status}, code
		return r
	}
	// A small pool is filled and returns each kind of refusal of a full pool.
	pool(name, obj{"cidr": fmt.Sprintf("192.168.%d.0/30", third), "allocation": obj{"minPrefixLength": 31}, "reuseAfter": "1h"})
	for i := range 2 {
		w.do(due(claim(fmt.Sprintf("%s-%d", name, i), from(name, obj{"prefixLength": 31})), http.StatusCreated, ""))
	}
	gone := func(id, path string) *request {
		r := w.plain(contract().named(id), path)
		r.kind = "story"
		return r
	}
	full := claim("x", from(name, obj{"prefixLength": 31}))
	child := w.plain(contract().named("createPool"), team+"/pools")
	child.body = mustJSON(obj{"metadata": obj{"name": "x"}, "spec": obj{"parentRef": obj{"name": name}, "prefixLength": 31}})
	root := child.clone("story")
	root.body = mustJSON(obj{"metadata": obj{"name": "x"}, "spec": obj{"cidr": fmt.Sprintf("192.168.%d.0/31", third)}})
	batch := w.plain(contract().named("createClaimBatch"), team+"/claim-batches")
	batch.kind, batch.body = "story", mustJSON(obj{"claims": []any{obj{"metadata": obj{"name": "x"}, "spec": from(name, obj{"prefixLength": 31})}}})
	put := w.plain(contract().named("putClaim"), team+"/claims/"+name+"-0")
	put.kind, put.body = "story", mustJSON(obj{"spec": from(name, obj{"prefixLength": 32})})
	w.writesNothing([]*request{
		due(full, http.StatusConflict, "pool_exhausted"), due(child, http.StatusConflict, "pool_exhausted"), due(root, http.StatusConflict, "overlap"),
		due(batch, http.StatusConflict, "pool_exhausted"), due(put, http.StatusConflict, "already_exists"),
		due(claim("x", from(name, obj{"address": fmt.Sprintf("192.168.%d.1", third)})), http.StatusConflict, "block_taken"),
		due(claim("x", from(name, obj{"prefixLength": 30})), http.StatusUnprocessableEntity, "prefix_length_rejected"),
		due(claim("x", from(name, obj{"prefixLength": 8})), http.StatusUnprocessableEntity, "never_satisfiable"),
		due(claim("x", from(name, obj{"prefixLength": 64, "ipFamily": "IPv6"})), http.StatusUnprocessableEntity, "family_mismatch"),
		due(gone("deletePool", team+"/pools/"+name), http.StatusConflict, "in_use"),
		due(gone("deleteSpace", team+"/spaces/default"), http.StatusConflict, "in_use"),
		due(gone("deleteProject", team), http.StatusConflict, "in_use"),
	})
	// A released block cools down. No claim may get it before the cool-down ends.
	w.do(due(gone("deleteClaim", team+"/claims/"+name+"-0"), http.StatusNoContent, ""))
	w.writesNothing([]*request{due(full, http.StatusConflict, "exhausted_by_cooldown"), due(child, http.StatusConflict, "exhausted_by_cooldown")})
	w.retainedStory(team, name+"-r", third, claim, gone, due)
	w.quotaStory(name)
	// A scope can get its pool before its first claim.
	w.made("createClass", team+"/classes", obj{"metadata": obj{"name": name}, "spec": obj{
		"ipFamily": "IPv4", "poolPer": []any{"project", "cluster"}, "poolPrefixLength": 28, "defaultPrefixLength": 30,
	}})
	pool(name+"-c", obj{"cidr": fmt.Sprintf("198.18.%d.0/24", third), "classNames": []any{name}})
	w.scopes = team + "/classes/" + name + "/scopes"
	w.do(due(gone("putScopePool", w.scopes+"/cluster=a"), http.StatusCreated, ""))
	// A claim that fits must succeed in each form of request. Random requests might never produce such a claim.
	fits := from(name+"-r", obj{"prefixLength": 32})
	w.made("createClaimBatch", team+"/claim-batches", obj{"claims": []any{obj{"metadata": obj{"name": name + "-b"}, "spec": fits}}})
	w.made("putClaim", team+"/claims/"+name+"-p", obj{"spec": fits})
	explain := w.plain(contract().named("explainClaim"), team+"/claim-explanations")
	explain.kind, explain.body = "story", mustJSON(obj{"spec": fits})
	w.do(due(explain, http.StatusOK, ""))
}

// retainedStory retains a block. The block then prevents the deletion of its pool. At the end, a claim binds the block again.
func (w *world) retainedStory(team, name string, third int, claim func(string, obj) *request, gone func(string, string) *request, due func(*request, int, string) *request) {
	w.made("createPool", team+"/pools", obj{"metadata": obj{"name": name}, "spec": obj{"cidr": fmt.Sprintf("192.168.%d.64/28", third)}})
	spec := obj{"poolRef": obj{"name": name}, "address": fmt.Sprintf("192.168.%d.65", third), "reclaimPolicy": "Retain"}
	a := w.do(due(claim(name, spec), http.StatusCreated, ""))
	var made struct {
		Status struct{ AllocationRef struct{ Name string } }
	}
	require.NoError(w.t, json.Unmarshal(a.body, &made))
	allocation := team + "/allocations/" + made.Status.AllocationRef.Name
	w.writesNothing([]*request{due(gone("deleteAllocation", allocation), http.StatusConflict, "in_use")})
	w.do(due(gone("deleteClaim", team+"/claims/"+name), http.StatusNoContent, ""))
	w.writesNothing([]*request{
		due(gone("deletePool", team+"/pools/"+name), http.StatusConflict, "allocation_retained"),
		due(claim("x", obj{"poolRef": obj{"name": name}, "address": spec["address"]}), http.StatusConflict, "allocation_retained"),
	})
	other := w.do(due(claim(name+"-other", obj{"poolRef": obj{"name": name}, "prefixLength": 32, "reclaimPolicy": "Retain"}), http.StatusCreated, ""))
	kept := made
	require.NoError(w.t, json.Unmarshal(other.body, &kept))
	w.do(due(gone("deleteClaim", team+"/claims/"+name+"-other"), http.StatusNoContent, ""))
	w.do(due(gone("deleteAllocation", team+"/allocations/"+kept.Status.AllocationRef.Name), http.StatusNoContent, ""))
	again := obj{"allocationRef": obj{"name": made.Status.AllocationRef.Name}}
	w.do(due(claim(name+"-again", again), http.StatusCreated, ""))
	w.writesNothing([]*request{due(claim("x", again), http.StatusConflict, "in_use")})
}

// quotaStory makes a project with a quota that allows no further pool and no claim.
func (w *world) quotaStory(name string) {
	project := "/v1/projects/" + name
	w.made("createProject", "/v1/projects", obj{"metadata": obj{"name": name}})
	w.made("createPool", project+"/pools", obj{"metadata": obj{"name": "p"}, "spec": obj{"cidr": "10.0.0.0/24"}})
	w.made("putQuota", project+"/quotas/q", obj{"spec": obj{"limits": obj{"claims": 0, "pools": 1}}})
	refused := func(id, path string, body any) *request {
		r := w.plain(contract().named(id), project+path)
		r.kind, r.body, r.want, r.code = "story", mustJSON(body), []int{http.StatusConflict}, "quota_exceeded"
		return r
	}
	spec := obj{"poolRef": obj{"name": "p"}, "prefixLength": 28}
	w.writesNothing([]*request{
		refused("createClaim", "/claims", obj{"metadata": obj{"name": "x"}, "spec": spec}), refused("putClaim", "/claims/x", obj{"spec": spec}),
		refused("createClaimBatch", "/claim-batches", obj{"claims": []any{obj{"metadata": obj{"name": "x"}, "spec": spec}}}),
		refused("createPool", "/pools", obj{"metadata": obj{"name": "x"}, "spec": obj{"cidr": "10.1.0.0/24"}}),
	})
	w.do(w.plain(contract().named("deletePool"), project+"/pools/p"))
	gone := w.plain(contract().named("deleteProject"), project)
	gone.want = []int{http.StatusNoContent}
	w.do(gone)
}
