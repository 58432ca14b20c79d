package transfer

import (
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
	for _, i := range w.items {
		if i.spec != nil && i.space == "" {
			i.space = spaceAround(i, pools, states[i.project])
		}
		i.serves = slices.DeleteFunc(i.serves, func(class string) bool {
			_, found := states[i.project].Classes[i.project+"/"+class]
			return !found
		})
	}
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
