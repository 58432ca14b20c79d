package kinds

import (
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
)

// treeLine is one line of the drawn tree. It shows a space, a pool or a claim.
type treeLine struct {
	drawn string // the lines of the tree, and then the name
	cidr  string
	pool  *client.IPPool // set only if the line shows a pool
}

// branch is a child pool or a claim of a pool.
type branch struct {
	cidr  string
	child *tree
	claim string
}

// branches returns the child pools and the claims of a pool in one list, in the order of their addresses. Both are carved from the pool.
func (t *tree) branches() []branch {
	out := make([]branch, 0, len(t.Children)+len(t.claims))
	for _, c := range t.Children {
		out = append(out, branch{cidr: c.pool.Status.AllocatedCIDR, child: c})
	}
	for _, c := range t.claims {
		out = append(out, branch{cidr: c.Status.AllocatedCIDR, claim: c.Metadata.Name})
	}
	slices.SortStableFunc(out, func(a, b branch) int { return compareBlocks(a.cidr, b.cidr) })
	return out
}

// draw returns the lines of a forest from top to bottom. Names of the given project have no prefix.
func (f forest) draw(project string) []treeLine {
	var out []treeLine
	for _, g := range f {
		title := "space " + strings.TrimPrefix(g.Space, project+"/")
		if g.Parent != "" {
			title = "pool " + g.Parent
		}
		out = append(out, treeLine{drawn: title, cidr: " "})
		for i, t := range g.Pools {
			out = t.draw(out, "", i == len(g.Pools)-1)
		}
	}
	return out
}

// draw adds the lines of one tree. indent is the text before the tree's own branch. If last is true, no sibling follows.
func (t *tree) draw(out []treeLine, indent string, last bool) []treeLine {
	branch, below := branches(indent, last)
	out = append(out, treeLine{drawn: branch + t.pool.Metadata.Name, cidr: t.pool.Status.AllocatedCIDR, pool: &t.pool})
	limbs := t.branches()
	for i, l := range limbs {
		end := i == len(limbs)-1
		if l.child != nil {
			out = l.child.draw(out, below, end)
			continue
		}
		twig, _ := branches(below, end)
		out = append(out, treeLine{drawn: twig + "claim " + l.claim, cidr: l.cidr})
	}
	return out
}

// branches returns the text before a line, and the text before the lines below it.
func branches(indent string, last bool) (branch, below string) {
	if last {
		return indent + "└─ ", indent + "   "
	}
	return indent + "├─ ", indent + "│  "
}

// names returns the names of all pools from top to bottom.
func (f forest) names() []string {
	var out []string
	var walk func(trees []*tree)
	walk = func(trees []*tree) {
		for _, t := range trees {
			out = append(out, t.pool.Metadata.Name)
			walk(t.Children)
		}
	}
	for _, g := range f {
		walk(g.Pools)
	}
	return out
}
