package kinds

import (
	"cmp"
	"encoding/json"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/exit"
)

// forest has all pools of a project as trees. Each root pool of each space is the root of a tree.
type forest []ground

// ground is a group of trees with the same origin. The origin is a space, or a pool of another project from which the roots were carved.
type ground struct {
	Space  string  `json:"space,omitempty"`  // project/name of the space
	Parent string  `json:"parent,omitempty"` // project/name of the other project's pool
	Pools  []*tree `json:"pools"`
}

// tree is a pool with all child pools and claims that were carved from it.
type tree struct {
	Doc       json.RawMessage   `json:"pool"` // the document as the server returned it
	Children  []*tree           `json:"pools,omitempty"`
	ClaimDocs []json.RawMessage `json:"claims,omitempty"`

	pool   client.IPPool
	claims []client.IPClaim
}

// grow puts every pool below its parent and every claim into its pool. It sorts the pools of one parent by address.
func grow(project string, spaces []client.Space, pools []client.IPPool, poolDocs []json.RawMessage, claims []client.IPClaim, claimDocs []json.RawMessage) forest {
	byName := make(map[string]*tree, len(pools))
	for i, p := range pools {
		byName[p.Metadata.Name] = &tree{Doc: poolDocs[i], pool: p}
	}
	type place struct{ space, parent string }
	grounds := map[place]*ground{}
	at := func(g ground) *ground {
		key := place{g.Space, g.Parent}
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
			t.claims = append(t.claims, c)
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
	return cmp.Or(
		compareBlocks(a.pool.Status.AllocatedCIDR, b.pool.Status.AllocatedCIDR),
		cmp.Compare(a.pool.Metadata.Name, b.pool.Metadata.Name),
	)
}

// compareBlocks orders blocks by family, address and length. A text that is not a block comes first.
func compareBlocks(a, b string) int {
	x, _ := netip.ParsePrefix(a)
	y, _ := netip.ParsePrefix(b)
	return x.Compare(y)
}

// below returns the tree of one pool with everything below it.
func (f forest) below(project, name string) (forest, error) {
	for _, g := range f {
		for _, t := range g.Pools {
			if found := t.find(name); found != nil {
				g.Pools = []*tree{found}
				return forest{g}, nil
			}
		}
	}
	return nil, notFoundError("pool " + project + "/" + name + " was not found")
}

// notFoundError reports that a complete list does not contain an object.
type notFoundError string

func (e notFoundError) Error() string { return string(e) }
func (notFoundError) ExitCode() int   { return exit.NotFound }

func (t *tree) find(name string) *tree {
	if t.pool.Metadata.Name == name {
		return t
	}
	for _, c := range t.Children {
		if found := c.find(name); found != nil {
			return found
		}
	}
	return nil
}
