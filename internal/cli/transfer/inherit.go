package transfer

import (
	"encoding/json"
	"slices"

	"github.com/carve-ipam/carve/internal/cli/stock"
)

// inherit gives things of Carve's own what their rows leave to others. A thing that says no space has that of the pool which it names, in
// the source or else on the server: tables of the console say it only of pools at the top. Pools serve those classes that there are.
func (w *wishes) inherit(states map[string]*state) {
	pools := map[string]*item{} // by project/name
	for _, i := range w.items {
		if i.spec != nil && i.isPool() {
			pools[i.project+"/"+i.name] = i
		}
	}
	var byClass []*item
	for _, i := range w.items {
		if i.spec != nil && i.space == "" {
			i.space = spaceAround(i, pools, states[i.project])
			if i.ownParent == "" && !i.isPool() {
				byClass = append(byClass, i)
			}
		}
		if len(i.serves) == 0 {
			continue
		}
		i.serves = slices.DeleteFunc(i.serves, func(class string) bool {
			_, found := states[i.project].Classes[i.project+"/"+class]
			return !found
		})
	}
	classes := map[string][]*item{} // the pools that serve them, by project/name
	if len(byClass) > 0 {
		classes = w.serving(states)
	}
	for _, i := range byClass {
		for _, p := range classes[i.project+"/"+specOf(i).ClassName] {
			if around(p, i) {
				i.space = p.space
			}
		}
	}
}

// specOf is what a spec says of classes.
func specOf(i *item) (spec struct {
	ClassName  string
	ClassNames []string
},
) {
	_ = json.Unmarshal(i.spec, &spec) // what cannot be read is said where the request is made
	return spec
}

// serving are the pools that list a class, by its project/name. In a plan, claims of a class name no pool.
func (w *wishes) serving(states map[string]*state) map[string][]*item {
	all := map[string][]*item{}
	for _, i := range w.items {
		if i.spec != nil && i.isPool() {
			for _, class := range specOf(i).ClassNames {
				all[i.project+"/"+class] = append(all[i.project+"/"+class], i)
			}
		}
	}
	for project, st := range states {
		for _, i := range st.items {
			if i.isPool() {
				for _, class := range st.Pools[i.name].Spec.ClassNames {
					all[project+"/"+class] = append(all[project+"/"+class], i)
				}
			}
		}
	}
	return all
}

// spaceAround looks for a space in the pools around a thing.
func spaceAround(i *item, pools map[string]*item, st *state) string {
	at := i
	for range len(pools) + 1 { // pools that name each other have no end
		parent := pools[at.project+"/"+at.ownParent]
		if at.space != "" || parent == nil {
			break
		}
		at = parent
	}
	if at.space != "" {
		return at.space
	}
	if pool, found := st.Pools[at.ownParent]; found {
		return stock.SpaceOf(pool)
	}
	return "default"
}
