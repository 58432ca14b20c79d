package plan

import (
	"encoding/json"

	"github.com/carve-ipam/carve/internal/cli/show"
)

// These are the kinds in a plan, in the order in which apply creates them.
const (
	kindProject = "project"
	kindSpace   = "space"
	kindClass   = "class"
	kindPool    = "pool"
	kindClaim   = "claim"
)

// defaultSpace is the space that every project has from its creation to its deletion.
const defaultSpace = "default"

// kindsInOrder lists the kinds with the names of their collections in the API's paths.
var kindsInOrder = []struct{ kind, collection string }{
	{kindProject, ""}, {kindSpace, "spaces"}, {kindClass, "classes"}, {kindPool, "pools"}, {kindClaim, "claims"},
}

// fixed lists the fields of each kind's spec that cannot be changed. A claim has only one field that can be changed.
var fixed = map[string][]string{
	kindClass: {"ipFamily", "provisioner", "poolPer", "poolPrefixLength"},
	kindPool:  {"cidr", "prefixLength", "parentRef", "spaceRef", "region"},
	kindClaim: {
		"className", "scope", "poolRef", "poolSelector", "allocationRef", "prefixLength", "ipFamily", "cidr", "address", "ownerRef",
		"maxConsumers", "whenUnused", "consumers",
	},
}

// wanted is one object of a plan.
type wanted struct {
	kind, name, cidr string
	parent           string // the pool from which a pool is carved
	after            int    // index of the object that must be created first, because it takes its block first; -1 if there is none
	depth            int    // of a pool: the number of pools above it
	create           json.RawMessage
	fields           object // the fields of create: metadata and spec
}

// object is a JSON object in the form that comparisons need.
type object = map[string]any

// wantedOf lists the objects of a plan in the order of their creation.
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

// listing collects the objects of a plan.
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

// pools lists pools and all pools below them. If a sibling has no fixed address, its block depends on the siblings before it. In that case, apply
// creates the siblings one after the other.
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
