package kinds

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
)

// forest has a project's pools as trees. Each root pool in each space is a tree's root.
type forest []ground

// ground has the trees with one origin: a space, or another project's pool from which the roots were carved.
type ground struct {
	Space  string  `json:"space,omitempty"`  // the space, as project/name
	Parent string  `json:"parent,omitempty"` // the other project's pool, as project/name
	Pools  []*tree `json:"pools"`
}

// tree is a pool with all child pools and claims that were carved from it.
type tree struct {
	Doc       json.RawMessage   `json:"pool"` // the document as the server returned it
	Children  []*tree           `json:"pools,omitempty"`
	ClaimDocs []json.RawMessage `json:"claims,omitempty"`

	line   treeLine
	claims []*tree
}

// grow puts every pool below its parent and every claim into its pool. It sorts each parent's pools by address.
func grow(project string, spaces []client.Space, pools []client.IPPool, poolDocs []json.RawMessage, claims []client.IPClaim, claimDocs []json.RawMessage) forest {
	byName := make(map[string]*tree, len(pools))
	for i, p := range pools {
		byName[p.Metadata.Name] = &tree{Doc: poolDocs[i], line: treeLine{p.Metadata.Name, p.Status.AllocatedCIDR, &pools[i]}}
	}
	grounds := map[[2]string]*ground{} // by space and parent
	at := func(g ground) *ground {
		key := [2]string{g.Space, g.Parent}
		if grounds[key] == nil {
			g.Pools = []*tree{}
			grounds[key] = &g
		}
		return grounds[key]
	}
	for _, s := range spaces {
		at(ground{Space: project + "/" + s.Metadata.Name})
	}
	for _, p := range pools {
		t, parent := byName[p.Metadata.Name], p.Status.ParentRef
		switch {
		case parent == nil:
			g := at(ground{Space: p.Status.SpaceRef.Project + "/" + p.Status.SpaceRef.Name})
			g.Pools = append(g.Pools, t)
		case parent.Project == project && byName[parent.Name] != nil:
			above := byName[parent.Name]
			above.Children = append(above.Children, t)
		default:
			g := at(ground{Parent: parent.Project + "/" + parent.Name})
			g.Pools = append(g.Pools, t)
		}
	}
	for i, c := range claims {
		if t := byName[c.Status.PoolRef.Name]; t != nil && c.Status.PoolRef.Project == project {
			t.claims = append(t.claims, &tree{line: treeLine{Name: "claim " + c.Metadata.Name, CIDR: c.Status.AllocatedCIDR}})
			t.ClaimDocs = append(t.ClaimDocs, claimDocs[i])
		}
	}
	for _, t := range byName {
		slices.SortFunc(t.Children, byAddress)
	}
	out := make(forest, 0, len(grounds))
	for _, g := range grounds {
		slices.SortFunc(g.Pools, byAddress)
		out = append(out, *g)
	}
	slices.SortFunc(out, func(a, b ground) int {
		return cmp.Or(cmp.Compare(a.Parent, b.Parent), cmp.Compare(a.Space, b.Space))
	})
	return out
}

func byAddress(a, b *tree) int {
	return cmp.Or(byBlock(a, b), cmp.Compare(a.line.Name, b.line.Name))
}

// byBlock orders trees by their blocks: by family, address and length. A text that is not a block comes first.
func byBlock(a, b *tree) int {
	x, _ := netip.ParsePrefix(a.line.CIDR)
	y, _ := netip.ParsePrefix(b.line.CIDR)
	return x.Compare(y)
}

// below returns the tree that starts at one pool.
func (f forest) below(project, name string) (forest, error) {
	for _, g := range f {
		for _, t := range g.Pools {
			if found := t.find(name); found != nil {
				g.Pools = []*tree{found}
				return forest{g}, nil
			}
		}
	}
	return nil, exit.Endf(exit.NotFound, "pool %s/%s was not found", project, name)
}

func (t *tree) find(name string) *tree {
	if t.line.Name == name {
		return t
	}
	for _, c := range t.Children {
		if found := c.find(name); found != nil {
			return found
		}
	}
	return nil
}
