package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// sourceName is the annotation with a thing's name in the source. On a space it names the routing domain that an import put there.
const sourceName = "source-name"

// origin is a routing domain of the source that maps to a space.
type origin struct {
	key      string // the values of the fields in `spaceBy`
	identity string // the source's own key
	explicit bool   // the mapping names the space
}

// said returns an origin's name for people.
func (o origin) said() string { return fmt.Sprintf("%q", cmp.Or(o.identity, o.key)) }

// from notes that a row of a routing domain maps to a space.
func (w *desired) from(d domain, o origin, r *source.Record) {
	if w.origins[d] == nil {
		w.origins[d] = map[origin]string{}
	}
	if _, known := w.origins[d][o]; !known {
		w.origins[d][o] = r.ID
	}
}

// refuseMergedDomains refuses an import that would merge two routing domains of the source into one space: their equal addresses would then count as the same. A
// mapping that names each key's space is an explicit decision, and apart allows it.
func (w *desired) refuseMergedDomains() error {
	for _, d := range slices.SortedFunc(maps.Keys(w.origins), func(a, b domain) int {
		return cmp.Or(cmp.Compare(a.project(), b.project()), cmp.Compare(a.space(), b.space()))
	}) {
		all := slices.SortedFunc(maps.Keys(w.origins[d]), func(a, b origin) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.identity, b.identity)) })
		for n, o := range all {
			row := w.origins[d][o]
			switch {
			case !o.explicit && o.key != "" && rules.Name(o.key) == "":
				return exit.Usagef("the routing domain %s (%s) has no name that can become a space name: name its space in `spaces` of a mapping; --write-mapping writes one", o.said(), row)
			case !o.explicit && o.key != "" && d.space() == "default":
				return exit.Usagef("the routing domain %s (%s) would map to the space default, which is for rows without a routing domain: name its space in `spaces` of a mapping; "+
					"--write-mapping writes one", o.said(), row)
			case o.key == "" && o.identity != "":
				return exit.Usagef("the row %s is in the routing domain %s, but has no value in the fields of `spaceBy`: use `spaceBy: [routing-domain]`", row, o.said())
			case n == 0:
				continue
			}
			other := all[n-1]
			if o.key == other.key || !o.explicit || !other.explicit {
				return exit.Usagef("two routing domains would map to the space %s: %s (%s) and %s (%s). Name a space for each in `spaces` of a mapping, or separate them "+
					"by `spaceBy: [routing-domain]`; --write-mapping writes one", d.space(), other.said(), w.origins[d][other], o.said(), row)
			}
		}
	}
	return nil
}

// refuseForeignSpace refuses to put a routing domain into a space that an earlier import made for another one.
func (w *desired) refuseForeignSpace(states map[string]*state) error {
	for d, origins := range w.origins {
		if states[d.project()] == nil {
			continue
		}
		is, found := states[d.project()].Spaces[d.space()]
		name := is.Metadata.Annotations[sourceName]
		if !found || name == "" {
			continue
		}
		for o, row := range origins {
			if !o.explicit && cmp.Or(o.identity, o.key) != name {
				return exit.Usagef("the space %s was created for the routing domain %q, and %s (%s) would map to it too: name its space in `spaces` of a mapping; "+
					"--write-mapping writes one", d.space(), name, o.said(), row)
			}
		}
	}
	return nil
}

// spaceItem returns the item of a new space for a routing domain. It keeps the domain's name in the source as an annotation.
func (w *desired) spaceItem(d domain) *item {
	i := &item{itemDetails: &itemDetails{}, ending: pending, domain: d, kind: string(source.Space), name: d.space()}
	var names []string
	for o := range w.origins[d] {
		if name := cmp.Or(o.identity, o.key); name != "" {
			names = append(names, name)
		}
	}
	if slices.Sort(names); len(names) > 0 {
		i.annotations = map[string]string{sourceName: rules.Text(strings.Join(slices.Compact(names), ", "), 1000)}
	}
	return i
}
