package export

import (
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// inventory has a project's objects in the order in which an import can create them. A pool follows the pool that contains it.
type inventory struct {
	project string
	spaces  []object
	classes []object
	pools   []*outPool
	claims  []outClaim
	notes   []string // omissions, with reasons
	auxiliary
}

// object has the fields that all formats write.
type object struct {
	kind, name          string
	space               string // for a claim: its pool's space, or "" if the caller cannot read that pool
	parent              string // the pool that contains a pool or a claim: name, or project/name
	cidr, description   string
	labels, annotations map[string]string
	spec                converge.Spec // without the fields for the position
}

func objectOf(kind string, m client.Metadata) object {
	return object{kind: kind, name: m.Name, labels: m.Labels, annotations: m.Annotations}
}

type outPool struct {
	object
	client.IPPool
	block    netip.Prefix
	depth    int
	children []*outPool
	claims   []outClaim
}

type outClaim struct {
	object
	client.IPClaim
}

// objects returns all objects in the order in which an import can create them.
func (v *inventory) objects() []object {
	all := slices.Concat(v.spaces, v.classes)
	for _, p := range v.pools {
		all = append(all, p.object)
	}
	for _, c := range v.claims {
		all = append(all, c.object)
	}
	return all
}

// gather reads the whole project.
func gather(ctx context.Context, s *session.Session) (*inventory, error) {
	st, claims, err := converge.ReadWhole(ctx, s)
	if err != nil {
		return nil, err
	}
	out := &inventory{project: s.Project}
	for _, space := range show.Sorted(st.Spaces) {
		o := objectOf("space", space.Metadata)
		o.description = space.Spec.Description
		out.spaces = append(out.spaces, o)
	}
	for _, c := range show.Sorted(st.Classes) {
		if c.Metadata.Project != s.Project {
			continue
		}
		o := objectOf("class", c.Metadata)
		if o.spec, err = converge.Rest(c.Spec); err != nil {
			return nil, err
		}
		out.classes = append(out.classes, o)
	}
	byName := map[string]*outPool{}
	for name, pool := range st.Pools {
		p := &outPool{IPPool: pool, object: objectOf("pool", pool.Metadata)}
		p.space, p.parent, p.cidr, p.description = converge.SpaceOf(pool), converge.ParentOf(pool), pool.Status.AllocatedCIDR, pool.Spec.Description
		if p.block, err = netip.ParsePrefix(pool.Status.AllocatedCIDR); err != nil {
			return nil, fmt.Errorf("pool %s: %w", name, err)
		}
		if p.spec, err = converge.PoolRest(pool); err != nil {
			return nil, err
		}
		byName[name] = p
	}
	out.nest(byName)
	backing := map[string][]*outPool{} // the pools that list each class
	for _, p := range out.pools {
		for _, class := range p.Spec.ClassNames {
			backing[class] = append(backing[class], p)
		}
	}
	elsewhere := map[string]string{}
	for _, c := range show.Sorted(claims) {
		claim := outClaim{IPClaim: c, object: objectOf("claim", c.Metadata)}
		claim.parent, claim.cidr = show.RefText(&c.Status.PoolRef, s.Project), c.Status.AllocatedCIDR
		if claim.spec, err = converge.ClaimRest(c); err != nil {
			return nil, err
		}
		if p := byName[claim.parent]; p != nil {
			if p.Status.Scope != nil {
				delete(claim.spec, "className") // an ordinary pool serves no scope, so only the block counts
				delete(claim.spec, "scope")
			}
			if claim.byClass() && elsewhereToo(backing[c.Status.ClassName], p, claim.cidr) {
				delete(claim.spec, "className")
				out.notes = append(out.notes, "claim "+claim.name+" is exported as a claim from its pool: class "+c.Status.ClassName+" could also allocate from a pool of another space")
			}
			claim.space = p.space
			p.claims = append(p.claims, claim)
		} else if claim.space, err = spaceElsewhere(ctx, s, c.Status.PoolRef, elsewhere); err != nil {
			return nil, err
		}
		out.claims = append(out.claims, claim)
	}
	return out, nil
}

// spaceElsewhere returns the space of another project's pool, as this project names it. If the caller cannot read the pool, it returns "".
func spaceElsewhere(ctx context.Context, s *session.Session, pool client.ResolvedRef, known map[string]string) (string, error) {
	key := pool.Project + "/" + pool.Name
	if space, found := known[key]; found {
		return space, nil
	}
	a, err := s.Ask(ctx, session.Get("projects", pool.Project, "pools", pool.Name))
	if code := exit.CodeOf(err); code == exit.NotFound || code == exit.Failed { // the caller may not read the pool
		known[key] = ""
		return "", nil
	}
	if err != nil {
		return "", err
	}
	var read client.IPPool
	if err := json.Unmarshal(a.Body, &read); err != nil {
		return "", fmt.Errorf("cannot read pool %s: %w", key, err)
	}
	known[key] = read.Status.SpaceRef.Project + "/" + read.Status.SpaceRef.Name
	if read.Status.SpaceRef.Project == s.Project {
		known[key] = read.Status.SpaceRef.Name
	}
	return known[key], nil
}

// spacesElsewhere lists other projects' spaces that contain this project's pools or claims.
func (v *inventory) spacesElsewhere() (out []string) {
	seen := map[string]bool{}
	note := func(space string) {
		if strings.Contains(space, "/") && !seen[space] {
			seen[space] = true
			out = append(out, space)
		}
	}
	for _, p := range v.pools {
		note(p.space)
	}
	for _, c := range v.claims {
		note(c.space)
	}
	return out
}

// elsewhereToo reports whether a pool in another space contains this block too. A claim by the pools' class could then get the block from that pool.
func elsewhereToo(pools []*outPool, from *outPool, cidr string) bool {
	block, err := netip.ParsePrefix(cidr)
	return err == nil && slices.ContainsFunc(pools, func(p *outPool) bool {
		return p.space != from.space && p.block.Bits() <= block.Bits() && p.block.Contains(block.Addr())
	})
}

// nest puts each pool below its parent and sorts the pools by their position.
func (v *inventory) nest(byName map[string]*outPool) {
	names := slices.SortedFunc(maps.Keys(byName), func(a, b string) int {
		x, y := byName[a], byName[b]
		return cmp.Or(cmp.Compare(x.space, y.space), x.block.Addr().Compare(y.block.Addr()), cmp.Compare(x.block.Bits(), y.block.Bits()), cmp.Compare(a, b))
	})
	var roots []*outPool
	for _, name := range names {
		p := byName[name]
		if p.Status.Scope != nil {
			v.notes = append(v.notes, "pool "+name+" was carved for a scope of class "+p.Status.Scope.ClassName+": it is exported as an ordinary pool")
		}
		if parent := byName[p.parent]; parent != nil {
			parent.children = append(parent.children, p)
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

// noteDrains adds a note for each draining pool, because only the Terraform export has a field for draining.
func (v *inventory) noteDrains() {
	for _, p := range v.pools {
		if p.Spec.Drain != "" {
			v.notes = append(v.notes, "pool "+p.name+" is draining, and the export omits this state")
		}
	}
}

func labelsText(labels map[string]string) string {
	return strings.ReplaceAll(show.JoinPairs(labels), ",", ";") // a label contains neither a comma nor a semicolon
}
