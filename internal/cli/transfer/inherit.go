package transfer

import (
	"encoding/json"
	"slices"

	"github.com/carve-ipam/carve/internal/cli/converge"
)

// inherit moves items from Carve's own exports into their spaces. An item without a space gets its pool's space, because the console's tables have
// the space only for root pools. The pool is in the source or on the server. inherit also removes classes that do not exist from the pools' lists.
func (w *desired) inherit(states map[string]*state) {
	pools := map[string]*item{} // by project/name
	for _, i := range w.items {
		if i.spec != nil && i.isPool() {
			pools[i.project()+"/"+i.name] = i
		}
	}
	var byClass []*item
	for _, i := range w.items {
		if i.spec != nil && i.space() == "" {
			i.move(spaceAround(i, pools, states[i.project()]))
			if i.ownParent == "" && !i.isPool() {
				byClass = append(byClass, i)
			}
		}
		i.serves = slices.DeleteFunc(i.serves, func(class string) bool {
			_, found := states[i.project()].Classes[i.project()+"/"+class]
			return !found
		})
	}
	if len(byClass) == 0 {
		return
	}
	classes := w.serving(states)
	for _, i := range byClass {
		for _, p := range classes[i.project()+"/"+specOf(i).ClassName] {
			if around(p, i) {
				i.move(p.space())
			}
		}
	}
}

func specOf(i *item) (spec struct {
	ClassName  string
	ClassNames []string
},
) {
	_ = json.Unmarshal(i.spec, &spec) // if the spec is not valid, the request for the item reports that
	return spec
}

// serving returns the pools that list each class, by the class's project/name. A claim with a class names no pool in a plan, so its space comes from
// these pools.
func (w *desired) serving(states map[string]*state) map[string][]*item {
	all := map[string][]*item{}
	for _, i := range w.items {
		if i.spec != nil && i.isPool() {
			for _, class := range specOf(i).ClassNames {
				all[i.project()+"/"+class] = append(all[i.project()+"/"+class], i)
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

// spaceAround returns the space in which the pools around an item are.
func spaceAround(i *item, pools map[string]*item, st *state) string {
	at := i
	for range len(pools) + 1 { // the limit ends a cycle of pools that name each other
		parent := pools[at.project()+"/"+at.ownParent]
		if at.space() != "" || parent == nil {
			break
		}
		at = parent
	}
	if at.space() != "" {
		return at.space()
	}
	if pool, found := st.Pools[at.ownParent]; found {
		return converge.SpaceOf(pool)
	}
	return "default"
}
