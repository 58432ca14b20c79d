package transfer

import (
	"cmp"
	"context"
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// inventory is what a project has, in an order that can be created: pools come behind the pool around them.
type inventory struct {
	project string
	spaces  []client.Space
	classes []client.IPClass
	pools   []*outPool
	claims  []outClaim
	notes   []string // what is left out, and why
}

type outPool struct {
	client.IPPool
	space    string
	depth    int
	children []*outPool
	claims   []outClaim
	spec     map[string]json.RawMessage // without what its place says
}

type outClaim struct {
	client.IPClaim
	pool string // name, or project/name
	spec map[string]json.RawMessage
}

// gather reads everything of the project.
func gather(ctx context.Context, s *session.Session) (*inventory, error) {
	st, err := read(ctx, s)
	if err != nil {
		return nil, err
	}
	out := &inventory{project: s.Project}
	for _, name := range slices.Sorted(maps.Keys(st.spaces)) {
		out.spaces = append(out.spaces, st.spaces[name])
	}
	for _, name := range slices.Sorted(maps.Keys(st.classes)) {
		if st.classes[name].Metadata.Project == s.Project {
			out.classes = append(out.classes, st.classes[name])
		}
	}
	byName := map[string]*outPool{}
	blocks := map[string]*item{}
	for _, i := range st.items {
		if i.isPool() {
			blocks[i.name] = i
		}
	}
	for _, name := range slices.Sorted(maps.Keys(st.pools)) {
		p := &outPool{IPPool: st.pools[name], space: blocks[name].space}
		if p.spec, err = poolRest(p.IPPool); err != nil {
			return nil, err
		}
		byName[name] = p
	}
	out.nest(byName, blocks)
	for _, name := range slices.Sorted(maps.Keys(st.claims)) {
		c := st.claims[name]
		claim := outClaim{IPClaim: c, pool: show.RefText(&c.Status.PoolRef, s.Project)}
		if claim.spec, err = claimRest(c); err != nil {
			return nil, err
		}
		if p := byName[claim.pool]; p != nil && p.Status.Scope != nil {
			delete(claim.spec, "className") // an ordinary pool serves no scope: the block is what counts
			delete(claim.spec, "scope")
		}
		if p := byName[claim.pool]; p != nil {
			p.claims = append(p.claims, claim)
		}
		out.claims = append(out.claims, claim)
	}
	return out, nil
}

// claimRest is what a claim says beside its block and its pool. A class is one of its own project, or else the pool counts alone.
func claimRest(c client.IPClaim) (map[string]json.RawMessage, error) {
	spec, err := rest(c.Spec, "cidr", "address", "prefixLength", "ipFamily", "poolRef", "poolSelector", "allocationRef", "consumers", "className")
	if err != nil {
		return nil, err
	}
	if c.Status.ClassProject != c.Metadata.Project || c.Status.ClassName == "" {
		delete(spec, "scope")
		return spec, nil
	}
	spec["className"], err = show.Marshal(c.Status.ClassName)
	return spec, err
}

// poolRest is what a pool says beside its place.
func poolRest(p client.IPPool) (map[string]json.RawMessage, error) {
	return rest(p.Spec, "cidr", "prefixLength", "parentRef", "spaceRef", "description", "drain")
}

// nest puts pools below the pools they were carved from, in order of place.
func (v *inventory) nest(byName map[string]*outPool, blocks map[string]*item) {
	names := slices.SortedFunc(maps.Keys(byName), func(a, b string) int {
		x, y := blocks[a], blocks[b]
		return cmp.Or(cmp.Compare(x.space, y.space), x.from().Compare(y.from()), cmp.Compare(x.block.Bits(), y.block.Bits()), cmp.Compare(a, b))
	})
	var roots []*outPool
	for _, name := range names {
		p := byName[name]
		if p.Status.Scope != nil {
			v.notes = append(v.notes, "pool "+name+" was carved for a scope of class "+p.Status.Scope.ClassName+": it is exported as an ordinary pool")
		}
		if p.Spec.Drain != "" {
			v.notes = append(v.notes, "pool "+name+" is draining, which is not exported")
		}
		if ref := p.Status.ParentRef; ref != nil && byName[ref.Name] != nil {
			byName[ref.Name].children = append(byName[ref.Name].children, p)
		} else {
			roots = append(roots, p)
		}
	}
	var walk func(list []*outPool, depth int)
	walk = func(list []*outPool, depth int) {
		for _, p := range list {
			p.depth = depth
			v.pools = append(v.pools, p)
			walk(p.children, depth+1)
		}
	}
	walk(roots, 0)
}

// rest is a spec without some members, and without what the server says by default.
func rest(spec any, but ...string) (map[string]json.RawMessage, error) {
	text, err := show.Marshal(spec)
	if err != nil {
		return nil, err
	}
	var all map[string]json.RawMessage
	if err := json.Unmarshal(text, &all); err != nil {
		return nil, err
	}
	for _, name := range but {
		delete(all, name)
	}
	for name, preset := range map[string]string{"visibility": `"consumer"`, "allocation": `{"strategy":"BestFit"}`, "region": `"local"`} {
		if string(all[name]) == preset {
			delete(all, name)
		}
	}
	for name, value := range all {
		if text := string(value); text == `""` || text == "null" || text == "[]" || text == "{}" {
			delete(all, name)
		}
	}
	return all, nil
}

// labelsText are labels as one cell.
func labelsText(labels map[string]string) string {
	return strings.ReplaceAll(show.JoinPairs(labels), ",", ";") // neither is in a label
}
