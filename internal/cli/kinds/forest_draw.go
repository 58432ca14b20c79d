package kinds

import (
	"slices"
	"strings"

	"github.com/carve-ipam/carve/client"
)

// treeLine is one line in the drawn tree: a space, a pool or a claim.
type treeLine struct {
	Name string // in the drawn tree, with the branches before it
	CIDR string
	Pool *client.IPPool // set only if the line shows a pool
}

// draw returns a forest's lines from top to bottom. Names in the given project have no prefix.
func (f forest) draw(project string) []treeLine {
	var out []treeLine
	for _, g := range f {
		title := "space " + strings.TrimPrefix(g.Space, project+"/")
		if g.Parent != "" {
			title = "pool " + g.Parent
		}
		out = append(out, treeLine{Name: title, CIDR: " "})
		out = draw(out, g.Pools, "")
	}
	return out
}

// draw adds the lines for trees with the same parent. indent is the text before their branches.
func draw(out []treeLine, trees []*tree, indent string) []treeLine {
	for i, t := range trees {
		branch, below := "├─ ", "│  "
		if i == len(trees)-1 {
			branch, below = "└─ ", "   "
		}
		line := t.line
		line.Name = indent + branch + line.Name
		limbs := slices.Concat(t.Children, t.claims)
		slices.SortStableFunc(limbs, byBlock)
		out = draw(append(out, line), limbs, indent+below)
	}
	return out
}

// names returns all pool names from top to bottom.
func (f forest) names() []string {
	var out []string
	var walk func(trees []*tree)
	walk = func(trees []*tree) {
		for _, t := range trees {
			out = append(out, t.line.Name)
			walk(t.Children)
		}
	}
	for _, g := range f {
		walk(g.Pools)
	}
	return out
}
