package transfer

import (
	"cmp"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
	"github.com/carve-ipam/carve/internal/cli/stock"
)

// view is what a comparison of both sides found.
type view struct {
	*plan
	records  []source.Record
	made     []*item           // what the mirror made, where the other system leads
	why      map[string]string // what of that is kept although it is no longer wanted, and why
	keeps    []*item           // the same
	still    []*item           // what the source still has, and which is refused now
	releases []*item           // what is no longer wanted
	gone     []*item           // what this pass released, or tried to
	changes  []change
	led      []ledPool
	inLed    map[string]bool  // what is in them
	aside    []*item          // wishes in pools where Carve leads
	lone     []*item          // what is here, in a mirrored pool, and of which the other system knows nothing
	back     map[place]string // what was released here, where Carve leads
	safety   string           // why nothing is released
	begun    bool             // what was to be made was begun
	missed   *missed          // the tables that lack something which is not released yet
}

// ledPool is a pool in which Carve leads, with what is in it.
type ledPool struct {
	*item
	since string
	holds []*item
}

// id finds an item of the server again.
func (i *item) id() string { return i.project + "/" + i.kind + "/" + i.name }

// pool is the name of the pool that an item of the server is, or that it is in.
func (i *item) pool() string {
	if i.isPool() {
		return i.name
	}
	return i.ownParent
}

// compare asks what the import would make of the source if the mirror had made nothing: this is what is to be there. What the mirror made
// and is not that is to be released.
func (m *mirror) compare(records []source.Record, why map[string]string) (*view, error) {
	w, err := wish(m.mapping, m.Project, records)
	if err != nil {
		return nil, err
	}
	v := &view{plan: &plan{wishes: w, states: map[string]*state{}}, records: records, why: why, inLed: map[string]bool{}}
	for _, project := range m.projects() {
		if err := v.sort(m, project); err != nil {
			return nil, err
		}
	}
	if err := w.strangers(v.states); err != nil {
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

// sort tells what the mirror made from what others did.
func (v *view) sort(m *mirror, project string) error {
	st := &state{Stock: m.states[project]}
	if err := st.place(project); err != nil {
		return err
	}
	switched := switchedPools(st.Stock)
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
		case top == "" && e.labels[shadowLabel] == m.name && !keep:
			v.made = append(v.made, e)
			continue
		case keep:
			e.why = why
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

// switchedPools says of each pool which one around it, or itself, was switched.
func switchedPools(st *stock.Stock) map[string]string {
	all := map[string]string{}
	for name := range st.Pools {
		for at := name; at != ""; {
			p, found := st.Pools[at]
			if !found {
				break
			}
			if p.Metadata.Annotations[shadowSwitched] != "" {
				all[name] = at
			}
			at = ""
			if ref := p.Status.ParentRef; ref != nil && ref.Project == p.Metadata.Project {
				at = ref.Name
			}
		}
	}
	return all
}

// heldItem is a block that somebody holds.
func heldItem(project string, a client.IPAllocation, pools map[string]client.IPPool) (*item, error) {
	block, err := netip.ParsePrefix(a.Status.AllocatedCIDR)
	if err != nil {
		return nil, fmt.Errorf("allocation %s: %w", a.Metadata.Name, err)
	}
	i := &item{domain: domain{project: project}, kind: "allocation", name: a.Metadata.Name, block: block, there: true,
		more: &more{ownParent: show.RefText(&a.Spec.PoolRef, project), phase: a.Status.Phase}}
	switch a.Status.Phase {
	case client.IPAllocationPhaseBound:
		i.why = "project " + a.Spec.Consumer + " holds it"
	case client.IPAllocationPhaseRetained:
		i.why = "it is retained"
	case client.IPAllocationPhaseCoolingDown:
		i.why = "it cools down"
	}
	if p, found := pools[i.ownParent]; found {
		i.space = stock.SpaceOf(p)
	}
	return i, nil
}

// mark puts the mirror's name on what is to be made.
func (v *view) mark(name string) {
	pools := map[place]bool{}
	for _, e := range v.made {
		pools[e.place()] = pools[e.place()] || e.isPool()
	}
	for _, i := range slices.Concat(v.extras, v.items) {
		if i.by != nil {
			i.by.shadow = name
		} else {
			labels := map[string]string{shadowLabel: name}
			maps.Copy(labels, i.labels)
			labels[shadowLabel] = name
			i.rich().labels = labels
		}
		i.stands = pools[i.place()]
	}
}

// place is a block of a routing domain.
type place struct {
	domain
	block netip.Prefix
}

func (i *item) place() place { return place{i.domain, i.block} }

// setAside takes wishes out that lie in pools where Carve leads.
func (v *view) setAside() {
	v.items = slices.DeleteFunc(v.items, func(i *item) bool {
		for _, l := range v.led {
			if l.domain == i.domain && l.block.Contains(i.from()) && l.block.Contains(i.to()) {
				v.aside = append(v.aside, i)
				return true
			}
		}
		return false
	})
}

// stuck are pools that cannot be released, because something in them stays.
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
		if user := users[e.project+"/"+e.name]; e.isPool() && user != nil {
			more[e.id()] = e.why + ", but " + user.target() + " is in it"
		}
	}
	return more
}

// alone finds what lies in mirrored pools and is not of the source.
func (v *view) alone() {
	mirrored := map[string]bool{}
	for _, e := range v.made {
		mirrored[e.project+"/"+e.name] = e.isPool()
	}
	for _, project := range slices.Sorted(maps.Keys(v.states)) {
		for _, e := range v.states[project].items {
			_, keep := v.why[e.id()]
			if mirrored[project+"/"+e.ownParent] && !v.leads(e) && !keep && e.is == nil && e.phase != client.IPAllocationPhaseCoolingDown {
				v.lone = append(v.lone, e)
			}
		}
	}
}
