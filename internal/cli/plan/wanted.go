package plan

import (
	"cmp"
	"encoding/json"
	"slices"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// These are the kinds in a plan.
const (
	kindProject = "project"
	kindSpace   = "space"
	kindClass   = "class"
	kindPool    = "pool"
	kindClaim   = "claim"
)

// defaultSpace is the space that every project has from its creation to its deletion.
const defaultSpace = "default"

// kindsInOrder lists the kinds in the order in which apply creates them.
var kindsInOrder = []string{kindProject, kindSpace, kindClass, kindPool, kindClaim}

// fixed lists the fields in each kind's spec that cannot be changed. A claim has only one other field.
var fixed = map[string][]string{
	kindClass: {"ipFamily", "provisioner", "poolPer", "poolPrefixLength"},
	kindPool:  {"cidr", "prefixLength", "parentRef", "spaceRef", "region"},
	kindClaim: {
		"className", "scope", "poolRef", "poolSelector", "allocationRef", "prefixLength", "ipFamily", "cidr", "address", "ownerRef",
		"maxConsumers", "whenUnused", "consumers",
	},
}

// object is a JSON object in the form that comparisons need.
type object = map[string]any

// stepsOf returns the steps that create all objects in a plan, in order.
func stepsOf(p plan, project string) ([]step, error) {
	l := listing{owner: p.Name}
	p.Project.Name = project
	l.add(step{key: key{kindProject, project}}, client.ProjectCreate{Metadata: p.Project.create(), Spec: &p.Project.ProjectSpec})
	for _, s := range p.Spaces {
		l.add(step{key: key{kindSpace, s.Name}}, client.SpaceCreate{Metadata: s.create(), Spec: &s.SpaceSpec})
	}
	for _, c := range p.Classes {
		l.add(step{key: key{kindClass, c.Name}}, client.IPClassCreate{Metadata: c.create(), Spec: c.IPClassSpec})
	}
	l.pools(p.Pools, "", 0)
	l.claimsOf(p.Pools)
	l.claims(p.Claims, "")
	return l.all, l.err
}

// listing collects the steps for a plan.
type listing struct {
	owner string
	all   []step
	err   error
}

func (l *listing) add(st step, create any) {
	text, err := show.Marshal(create)
	if err == nil {
		err = json.Unmarshal(text, &st.fields)
	}
	if err == nil && l.owner != "" {
		recordPlan(st.Kind, st.fields, l.owner)
		text, err = show.Marshal(st.fields)
	}
	l.err = cmp.Or(l.err, err)
	st.Action, st.body = actionToCreate, text
	l.all = append(l.all, st)
}

// pools lists pools and all pools below them. If a sibling has no fixed address, its block depends on the siblings before it. In that case, apply
// creates the siblings one after the other.
func (l *listing) pools(pools []planPool, parent string, depth int) {
	inTurn := slices.ContainsFunc(pools, func(p planPool) bool { return p.PrefixLength != nil })
	for _, p := range pools {
		l.add(step{key: key{kindPool, p.Name}, CIDR: p.CIDR, parent: parent, inTurn: inTurn, depth: depth}, p.create(parent))
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
		l.add(step{key: key{kindClaim, c.Name}, CIDR: show.FirstOf(c.Address, c.CIDR)}, c.create(pool))
	}
}
