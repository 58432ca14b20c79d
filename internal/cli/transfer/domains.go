package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// sourceName is the key of an annotation with an object's name in the source. On a space, it names the routing domain that an import put into the
// space.
const sourceName = "source-name"

// origin is a routing domain in the source that maps to a space in Carve.
type origin struct {
	key      string // the mapping's SpaceKey
	identity string // the domain's own key in the source
	explicit bool   // the mapping names its space
}

// messageName returns an origin's name for messages.
func (o origin) messageName() string { return fmt.Sprintf("%q", cmp.Or(o.identity, o.key)) }

// from records that a routing domain maps to a space. r is one of its rows.
func (w *desired) from(d domain, o origin, r *source.Record) {
	if w.origins[d] == nil {
		w.origins[d] = map[origin]string{}
	}
	if _, known := w.origins[d][o]; !known {
		w.origins[d][o] = r.ID
	}
}

// refuseMergedDomains returns an error if the import would put two routing domains into one space. Equal addresses in the two domains would then
// count as the same address. The function allows the merge only if the mapping names the space for each domain's key.
func (w *desired) refuseMergedDomains() error {
	for _, d := range w.targets() {
		all := slices.SortedFunc(maps.Keys(w.origins[d]), func(a, b origin) int { return cmp.Or(cmp.Compare(a.key, b.key), cmp.Compare(a.identity, b.identity)) })
		for n, o := range all {
			row := w.origins[d][o]
			switch {
			case !o.explicit && o.key != "" && rules.Name(o.key) == "":
				return exit.Usagef("the routing domain %s (%s) has no name that can become a space name: name its space in `spaces` of a mapping; --write-mapping writes one", o.messageName(), row)
			case !o.explicit && o.key != "" && d.space() == "default":
				return exit.Usagef("the routing domain %s (%s) would map to the space default, which is for rows without a routing domain: name its space in `spaces` of a mapping; "+
					"--write-mapping writes one", o.messageName(), row)
			case o.key == "" && o.identity != "":
				return exit.Usagef("the row %s is in the routing domain %s, but has no value in the fields of `spaceBy`: use `spaceBy: [routing-domain]`", row, o.messageName())
			case n == 0:
				continue
			}
			other := all[n-1]
			if o.key == other.key || !o.explicit || !other.explicit {
				return exit.Usagef("two routing domains would map to the space %s: %s (%s) and %s (%s). Name a space for each in `spaces` of a mapping, or separate them "+
					"by `spaceBy: [routing-domain]`; --write-mapping writes one", d.space(), other.messageName(), w.origins[d][other], o.messageName(), row)
			}
		}
	}
	return w.refuseDividedDomains()
}

// refuseDividedDomains returns an error if the import would put one routing domain into two spaces. A block could then be used twice. The function
// allows it only if `spaceBy` has a field that is not about the source's own domains.
func (w *desired) refuseDividedDomains() error {
	if w.mapping.Divides() {
		return nil
	}
	type target struct{ space, row string }
	found := map[string]target{} // by routing domain
	for _, d := range w.targets() {
		for o, row := range w.origins[d] {
			other, twice := found[o.identity]
			if twice && o.identity != "" {
				return exit.Usagef("the routing domain %s would map to two spaces: %s (%s) and %s (%s). Name one space for it: use `spaceBy: [routing-domain]` in a mapping; "+
					"--write-mapping writes one", o.messageName(), other.space, other.row, d.space(), row)
			}
			found[o.identity] = target{d.space(), row}
		}
	}
	return nil
}

// targets returns the spaces to which routing domains map, in order.
func (w *desired) targets() []domain {
	return slices.SortedFunc(maps.Keys(w.origins), func(a, b domain) int {
		return cmp.Or(cmp.Compare(a.project(), b.project()), cmp.Compare(a.space(), b.space()))
	})
}

// refuseForeignSpace returns an error if a routing domain would go into a space that an earlier import created for another domain.
func (w *desired) refuseForeignSpace(states map[string]*state) error {
	for d, origins := range w.origins {
		is, found := states[d.project()].Spaces[d.space()]
		name := is.Metadata.Annotations[sourceName]
		if !found || name == "" {
			continue
		}
		for o, row := range origins {
			if !o.explicit && cmp.Or(o.identity, o.key) != name {
				return exit.Usagef("the space %s was created for the routing domain %q, and %s (%s) would map to it too: name its space in `spaces` of a mapping; "+
					"--write-mapping writes one", d.space(), name, o.messageName(), row)
			}
		}
	}
	return nil
}

// spaceItem returns the item for a new space. Its annotation has the routing domain's name in the source.
func (w *desired) spaceItem(d domain) *item {
	i := newItem(d, string(source.Space), d.space(), netip.Prefix{}, &itemDetails{})
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
