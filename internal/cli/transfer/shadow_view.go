package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// view is the result after comparing both sides.
type view struct {
	*plan
	made     []*item           // the mirror's objects in pools where the other system leads
	why      map[string]string // the reason for each object that stays although the source no longer has it
	keeps    []*item           // the objects in why
	still    []*item           // objects that the source still has, but whose rows are refused now
	releases []*item           // objects that the source no longer has
	gone     []*item           // objects that this pass has released or has tried to release
	changes  []change
	led      []ledPool
	inLed    map[string]bool  // the IDs of objects in led
	aside    []*item          // the source's items in pools where Carve leads
	lone     []*item          // objects in a mirrored pool that the other system does not have
	back     map[place]string // for blocks in pools where Carve leads: a sentence about the block's release by Carve
	safety   string           // the reason why nothing is released
	begun    bool             // the pass has started to create objects
	missed   *missingTables   // the tables that no longer have some objects, which are not released yet
}

// ledPool is a pool in which Carve leads, with the objects in it.
type ledPool struct {
	*item
	since string
	holds []*item
}

// id returns a key that identifies an item on the server.
func (i *item) id() string { return i.project() + "/" + i.kind + "/" + i.name }

// pool returns a pool's own name. For any other item on the server, it returns the name of the pool that contains it.
func (i *item) pool() string {
	if i.isPool() {
		return i.name
	}
	return i.ownParent
}

// compare plans an import as if the mirror's objects were not on the server, and then finds them again in the plan. The mirror releases the objects
// that the plan does not have.
func (m *mirror) compare(records *source.Records, why map[string]string) (*view, error) {
	w, err := desiredItems(m.mapping, m.Project, records)
	if err != nil {
		return nil, err
	}
	v := &view{plan: &plan{desired: w, states: map[string]*state{}}, why: why, inLed: map[string]bool{}}
	for _, project := range m.projects() {
		if err := v.sort(m, project); err != nil {
			return nil, err
		}
	}
	if err := w.refuseForeignSpace(v.states); err != nil {
		return nil, err
	}
	w.inherit(v.states)
	w.names()
	v.mark(m.name)
	v.setAside()
	v.grow()
	v.match(m)
	v.judgeAside(m)
	v.alone()
	return v, nil
}

// sort separates the mirror's objects from all other objects.
func (v *view) sort(m *mirror, project string) error {
	st := &state{Snapshot: m.states[project]}
	if err := st.place(project); err != nil {
		return err
	}
	switched := switchedPools(st.Snapshot)
	led := map[string]*ledPool{}
	var others []*item
	for _, e := range st.items {
		top := switched[e.pool()]
		if top != "" {
			if led[top] == nil {
				led[top] = &ledPool{since: st.Pools[top].Metadata.Annotations[shadowSwitched]}
			}
			if e.isPool() && e.name == top {
				led[top].item = e
			}
			led[top].holds = append(led[top].holds, e)
			v.inLed[e.id()] = true
		}
		why, keep := v.why[e.id()]
		switch {
		case top == "" && e.labelMap()[shadowLabel] == m.name && !keep:
			v.made = append(v.made, e)
			continue
		case keep:
			e.end(e.outcome, why)
			v.keeps = append(v.keeps, e)
		}
		others = append(others, e)
	}
	for _, l := range led {
		v.led = append(v.led, *l)
	}
	slices.SortFunc(v.led, func(a, b ledPool) int { return cmp.Compare(a.id(), b.id()) })
	for _, a := range m.held[project] {
		i, err := heldItem(project, a, st.Pools)
		if err != nil {
			return err
		}
		others = append(others, i)
	}
	st.items = others
	v.states[project] = st
	return nil
}

// switchedPools maps each pool to the pool in which Carve leads and that contains it or is equal to it.
func switchedPools(st *converge.Snapshot) map[string]string {
	all := map[string]string{}
	for name := range st.Pools {
		for at := name; at != ""; at = converge.ParentOf(st.Pools[at]) {
			if st.Pools[at].Metadata.Annotations[shadowSwitched] != "" {
				all[name] = at
			}
		}
	}
	return all
}

// heldItem returns the item for a held block.
func heldItem(project string, a client.IPAllocation, pools map[string]client.IPPool) (*item, error) {
	block, err := netip.ParsePrefix(a.Status.AllocatedCIDR)
	if err != nil {
		return nil, fmt.Errorf("allocation %s: %w", a.Metadata.Name, err)
	}
	i := itemOnServer(domainOf(project, ""), "allocation", a.Metadata.Name, block,
		&itemDetails{ownParent: show.RefText(&a.Spec.PoolRef, project), phase: a.Status.Phase})
	switch a.Status.Phase {
	case client.IPAllocationPhaseBound:
		i.end("", "project "+a.Spec.Consumer+" holds it")
	case client.IPAllocationPhaseRetained:
		i.end("", "it is retained")
	case client.IPAllocationPhaseCoolingDown:
		i.end("", "it cools down")
	}
	if p, found := pools[i.ownParent]; found {
		i.move(converge.SpaceOf(p))
	}
	return i, nil
}

// mark adds a label with the mirror's name to the new items.
func (v *view) mark(name string) {
	pools := map[place]bool{}
	for _, e := range v.made {
		pools[e.place()] = pools[e.place()] || e.isPool()
	}
	for _, i := range v.all() {
		if i.by != nil {
			i.by.shadow = name
		} else {
			labels := map[string]string{}
			maps.Copy(labels, i.labels)
			labels[shadowLabel] = name
			i.details().labels = labels
		}
		i.madeByMirror = pools[i.place()]
	}
}

// place is a block in a routing domain.
type place struct {
	domain
	block netip.Prefix
}

func (i *item) place() place { return place{i.domain, i.block} }

// setAside removes the items that are in pools where Carve leads.
func (v *view) setAside() {
	v.items = slices.DeleteFunc(v.items, func(i *item) bool {
		led := slices.ContainsFunc(v.led, func(l ledPool) bool { return l.covers(i) })
		if led {
			v.aside = append(v.aside, i)
		}
		return led
	})
}

// stuck returns the pools that cannot be released because an object inside them stays.
func (v *view) stuck() map[string]string {
	more := map[string]string{}
	for _, e := range v.still {
		more[e.id()] = ""
	}
	users := map[string]*item{}
	for project, st := range v.states {
		for _, e := range st.items {
			users[project+"/"+e.ownParent] = e
		}
	}
	for _, e := range v.releases {
		if user := users[e.project()+"/"+e.name]; e.isPool() && user != nil {
			more[e.id()] = e.why + ", but " + user.target() + " is in it"
		}
	}
	return more
}

// alone finds the objects in mirrored pools that do not come from the source.
func (v *view) alone() {
	mirrored := map[string]bool{}
	for _, e := range v.made {
		mirrored[e.project()+"/"+e.name] = e.isPool()
	}
	for project, st := range show.Sorted(v.states) {
		for _, e := range st.items {
			_, keep := v.why[e.id()]
			if mirrored[project+"/"+e.ownParent] && !v.leads(e) && !keep && e.counterpart == nil && e.phase != client.IPAllocationPhaseCoolingDown {
				v.lone = append(v.lone, e)
			}
		}
	}
}
