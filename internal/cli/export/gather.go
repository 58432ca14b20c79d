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
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
)

// inventory has the objects of a project in the order in which an import can create them. A pool follows the pool that contains it.
type inventory struct {
	project string
	spaces  []client.Space
	classes []client.IPClass
	pools   []*outPool
	claims  []outClaim
	notes   []string // omissions, with reasons
	auxiliary
}

type outPool struct {
	client.IPPool
	space    string
	block    netip.Prefix
	depth    int
	children []*outPool
	claims   []outClaim
	spec     snapshot.Spec // without the fields for the pool's position
}

type outClaim struct {
	client.IPClaim
	pool  string // name, or project/name
	space string // the space of the pool; "" if the pool belongs to another project and cannot be read
	spec  snapshot.Spec
}

// gather reads the whole project.
func gather(ctx context.Context, s *session.Session) (*inventory, error) {
	st, claims, err := snapshot.ReadWhole(ctx, s)
	if err != nil {
		return nil, err
	}
	out := &inventory{project: s.Project}
	for _, name := range slices.Sorted(maps.Keys(st.Spaces)) {
		out.spaces = append(out.spaces, st.Spaces[name])
	}
	for _, name := range slices.Sorted(maps.Keys(st.Classes)) {
		if st.Classes[name].Metadata.Project == s.Project {
			out.classes = append(out.classes, st.Classes[name])
		}
	}
	byName := map[string]*outPool{}
	for name, pool := range st.Pools {
		p := &outPool{IPPool: pool, space: snapshot.SpaceOf(pool)}
		if p.block, err = netip.ParsePrefix(pool.Status.AllocatedCIDR); err != nil {
			return nil, fmt.Errorf("pool %s: %w", name, err)
		}
		if p.spec, err = snapshot.PoolRest(pool); err != nil {
			return nil, err
		}
		byName[name] = p
	}
	out.nest(byName)
	classes := out.backing()
	elsewhere := map[string]string{}
	for _, name := range slices.Sorted(maps.Keys(claims)) {
		c := claims[name]
		claim := outClaim{IPClaim: c, pool: show.RefText(&c.Status.PoolRef, s.Project)}
		if claim.spec, err = snapshot.ClaimRest(c); err != nil {
			return nil, err
		}
		if p := byName[claim.pool]; p != nil && p.Status.Scope != nil {
			delete(claim.spec, "className") // an ordinary pool serves no scope, so only the block counts
			delete(claim.spec, "scope")
		}
		if p := byName[claim.pool]; p != nil && claim.byClass() && classes.elsewhere(c.Status.ClassName, p, c.Status.AllocatedCIDR) {
			delete(claim.spec, "className")
			out.notes = append(out.notes, "claim "+name+" is exported as a claim from its pool: class "+c.Status.ClassName+" could also allocate from a pool of another space")
		}
		if p := byName[claim.pool]; p != nil {
			claim.space = p.space
			p.claims = append(p.claims, claim)
		} else if claim.space, err = spaceElsewhere(ctx, s, c.Status.PoolRef, elsewhere); err != nil {
			return nil, err
		}
		out.claims = append(out.claims, claim)
	}
	return out, nil
}

// spaceElsewhere returns the space of another project's pool, in the form that is valid in this project. If the caller cannot read the pool, it
// returns "".
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

// spacesElsewhere lists the spaces of other projects that contain pools or claims of this project.
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

// backing maps the name of a class to the pools that list the class.
type backing map[string][]*outPool

func (v *inventory) backing() backing {
	all := backing{}
	for _, p := range v.pools {
		for _, class := range p.Spec.ClassNames {
			all[class] = append(all[class], p)
		}
	}
	return all
}

// elsewhere reports whether pools of the class in other spaces also contain this block. If there are such pools, a claim by the class for this block
// could get it from any of them.
func (b backing) elsewhere(class string, from *outPool, cidr string) bool {
	block, err := netip.ParsePrefix(cidr)
	return err == nil && slices.ContainsFunc(b[class], func(p *outPool) bool {
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

// noteDrains adds a note for each draining pool, because only the Terraform export has a field for draining.
func (v *inventory) noteDrains() {
	for _, p := range v.pools {
		if p.Spec.Drain != "" {
			v.notes = append(v.notes, "pool "+p.Metadata.Name+" is draining, and the export omits this state")
		}
	}
}

// labelsText returns labels as the text of one cell.
func labelsText(labels map[string]string) string {
	return strings.ReplaceAll(show.JoinPairs(labels), ",", ";") // a label contains neither a comma nor a semicolon
}
