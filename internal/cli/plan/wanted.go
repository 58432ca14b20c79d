package plan

import (
	"encoding/json"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// The kinds in a plan, in the order of their creation.
const (
	kindProject = "project"
	kindSpace   = "space"
	kindClass   = "class"
	kindPool    = "pool"
	kindClaim   = "claim"
)

// defaultSpace exists as long as its project.
const defaultSpace = "default"

// kindsInOrder are all kinds with their collections.
var kindsInOrder = []struct{ kind, collection string }{
	{kindProject, ""}, {kindSpace, "spaces"}, {kindClass, "classes"}, {kindPool, "pools"}, {kindClaim, "claims"},
}

// fixed are a spec's fields that cannot be changed, by kind. A claim has only one changeable field.
var fixed = map[string][]string{
	kindClass: {"ipFamily", "provisioner", "poolPer", "poolPrefixLength"},
	kindPool:  {"cidr", "prefixLength", "parentRef", "spaceRef", "region"},
	kindClaim: {
		"className", "scope", "poolRef", "poolSelector", "allocationRef", "prefixLength", "ipFamily", "cidr", "address", "ownerRef",
		"maxConsumers", "whenUnused", "consumers",
	},
}

// wanted is one thing of a plan.
type wanted struct {
	kind, name, cidr string
	parent           string // the pool from which a pool is carved
	after            int    // the index of the wanted that must be made before this one, because it takes its block first; -1: none
	depth            int    // of a pool
	create           json.RawMessage
	fields           object // the content of create: metadata and spec
}

// object is a JSON object for comparisons.
type object = map[string]any

// wantedOf lists a plan's things in its order.
func wantedOf(p plan, project string) ([]wanted, error) {
	l := listing{owner: p.Name}
	l.add(wanted{kind: kindProject, name: project}, p.Project.create(project))
	for _, s := range p.Spaces {
		l.add(wanted{kind: kindSpace, name: s.Name}, s.create())
	}
	for _, c := range p.Classes {
		l.add(wanted{kind: kindClass, name: c.Name}, c.create())
	}
	l.pools(p.Pools, "", 0)
	l.claimsOf(p.Pools)
	l.claims(p.Claims, "")
	return l.all, l.err
}

// listing collects wanted things.
type listing struct {
	owner string
	all   []wanted
	err   error
}

func (l *listing) add(w wanted, create any) {
	text, err := show.Marshal(create)
	if err == nil {
		err = json.Unmarshal(text, &w.fields)
	}
	if err == nil && l.owner != "" {
		recordPlan(w.kind, w.fields, l.owner)
		text, err = show.Marshal(w.fields)
	}
	if l.err == nil {
		l.err = err
	}
	if w.kind != kindPool {
		w.after = -1
	}
	w.create = text
	l.all = append(l.all, w)
}

// pools lists pools and all below them. If the parent places one of several siblings, its block depends on the siblings before it, so they are made
// one after the other.
func (l *listing) pools(pools []planPool, parent string, depth int) {
	inTurn, before := false, -1
	for _, p := range pools {
		inTurn = inTurn || p.PrefixLength != nil
	}
	for _, p := range pools {
		at := len(l.all)
		l.add(wanted{kind: kindPool, name: p.Name, cidr: p.CIDR, parent: parent, after: before, depth: depth}, p.create(parent))
		if inTurn {
			before = at
		}
		l.pools(p.Pools, p.Name, depth+1)
	}
}

func (l *listing) claimsOf(pools []planPool) {
	for _, p := range pools {
		l.claims(p.Claims, p.Name)
		l.claimsOf(p.Pools)
	}
}

func (l *listing) claims(claims []planClaim, pool string) {
	for _, c := range claims {
		cidr := c.CIDR
		if c.Address != "" {
			cidr = c.Address
		}
		l.add(wanted{kind: kindClaim, name: c.Name, cidr: cidr}, c.create(pool))
	}
}
