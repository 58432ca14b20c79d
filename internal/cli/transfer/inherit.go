package transfer

import (
	"encoding/json"
	"slices"

	"github.com/carve-ipam/carve/internal/cli/snapshot"
)

// inherit fills in the space of things from Carve's own exports. A thing without a space gets the space of its pool, in the source or else on the
// server: the console's tables list the space only for root pools. It also limits the classes of pools to existing ones.
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
		if len(i.serves) == 0 {
			continue
		}
		i.serves = slices.DeleteFunc(i.serves, func(class string) bool {
			_, found := states[i.project()].Classes[i.project()+"/"+class]
			return !found
		})
	}
	classes := map[string][]*item{} // the pools that serve each class, by project/name
	if len(byClass) > 0 {
		classes = w.serving(states)
	}
	for _, i := range byClass {
		for _, p := range classes[i.project()+"/"+specOf(i).ClassName] {
			if around(p, i) {
				i.move(p.space())
			}
		}
	}
}

// specOf returns the class names in a spec.
func specOf(i *item) (spec struct {
	ClassName  string
	ClassNames []string
},
) {
	_ = json.Unmarshal(i.spec, &spec) // the request for it reports a spec that is not valid
	return spec
}

// serving returns the pools that list each class, by project/name. In a plan, claims with a class name no pool.
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

// spaceAround returns the space of the pools around a thing.
func spaceAround(i *item, pools map[string]*item, st *state) string {
	at := i
	for range len(pools) + 1 { // pools that name each other form a cycle
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
		return snapshot.SpaceOf(pool)
	}
	return "default"
}
