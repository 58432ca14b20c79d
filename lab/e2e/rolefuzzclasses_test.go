package e2e

import (
	"fmt"
	"maps"
	"slices"
	"testing"
)

// commons maps the platform's shared classes, which random requests use, to the pools behind them.
var commons = map[string]string{"common": "common-eu", "scarce": "scarce-eu", "commune": "commune-eu"}

// openCommons makes two shared classes of the platform in addition to the stage's default class. One is soon exhausted, and the other has a pool for
// each scope. Only a tenant with a block from the pool behind a class may see the name of that pool.
func (f *roleFuzz) openCommons(t testing.TB) {
	t.Helper()
	w := f.town.world
	w.classOf(t, "platform", "scarce", obj{"ipFamily": "IPv4", "defaultPrefixLength": 30, "reuseAfter": "2s", "visibility": "shared"})
	w.classOf(t, "platform", "commune", obj{
		"ipFamily": "IPv4", "defaultPrefixLength": 28, "visibility": "shared", "poolPer": []string{"project", "cluster"}, "poolPrefixLength": 24,
	})
	w.poolOf(t, "platform", "scarce-eu", "10.100.0.0/25", "scarce")
	w.poolOf(t, "platform", "commune-eu", "10.101.0.0/21", "commune")
	for _, c := range f.callers {
		c.behind = slices.Collect(maps.Values(commons))
	}
}

// fromCommons returns how many claims are bound by the shared classes.
func (f *roleFuzz) fromCommons(t testing.TB) map[string]int {
	t.Helper()
	out := map[string]int{}
	for _, e := range f.town.events(t) {
		if class, _ := e.After["classRef"].(obj); e.Kind == "IPClaim" && class["project"] == "platform" {
			name, _ := class["name"].(string)
			out[name]++
		}
	}
	return out
}

// byClass turns a specimen into a claim by class. The class is the tenant's own, another tenant's, a shared one or the default, and the tenant can
// mostly use it. The claim has the roles of a scope or not, and a valid length or not. It has a new name, so that it can succeed repeatedly.
func (f *roleFuzz) byClass(each specimen, own, other *tenant) specimen {
	spec := obj{}
	classes := append(slices.Sorted(maps.Keys(commons)), "", own.named("class"), own.named("scoped"), other.named("class"), "nothing")
	if class := pick(f.fuzzer, classes); class != "" {
		spec["className"] = class
	}
	if f.IntN(5) > 0 {
		spec["scope"] = obj{"cluster": pick(f.fuzzer, []string{"a", "b", "a", "b", f.word()})}
	}
	if f.IntN(2) == 0 {
		spec["prefixLength"] = pick(f.fuzzer, []int{24, 25, 26, 28, 30, 32, 8, 129})
	}
	if f.IntN(8) == 0 {
		spec["address"] = pick(f.fuzzer, []string{"10.99.0.1", "10.100.0.1", "10.101.0.1", "10.0.0.7", "192.0.2.1", "2001:db8::1"})
		delete(spec, "prefixLength")
	}
	each.body = clone(each.body)
	meta := obj{"generateName": fmt.Sprintf("by-%d-", f.IntN(3))}
	switch each.op.id {
	case "createClaim":
		each.body["metadata"], each.body["spec"] = meta, spec
	case "createClaimBatch":
		each.body["claims"] = []any{obj{"metadata": meta, "spec": spec}, obj{"metadata": meta, "spec": spec}}
	case "putClaim", "explainClaim":
		each.body["spec"] = spec
	}
	return each
}

// claiming returns the specimens of the operations that make or explain claims.
func (f *roleFuzz) claiming() (out []specimen) {
	for _, each := range f.specimens {
		if slices.Contains([]string{"createClaim", "createClaimBatch", "putClaim", "explainClaim"}, each.op.id) {
			out = append(out, each)
		}
	}
	return out
}
