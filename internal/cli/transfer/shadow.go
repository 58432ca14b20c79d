package transfer

import (
	"context"
	"maps"
	"slices"
	"time"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// A mirror stores its state in Carve, on the objects that it made. Therefore it can run anywhere, and can be killed at any time.
const (
	shadowLabel    = rules.OurKeys + "shadow"          // label on pools and claims: the name of the mirror that made them
	shadowRanges   = rules.OurKeys + "shadow-ranges"   // annotation on a pool: the reservations that the mirror made
	shadowSwitched = rules.OurKeys + "shadow-switched" // annotation on a pool: the time since which Carve leads in it
	shadowNote     = rules.OurKeys + "shadow-of-"      // annotation on the space default, followed by the mirror's name: the last pass's result
	planLabel      = rules.OurKeys + "plan"
)

// mirror copies another system's changes to Carve while the other system leads, which means that it decides. The mirror creates objects that are new
// in the other system. If an object is no longer in the other system, the mirror releases it, but only if the mirror made it. It changes no other
// object. In switched pools Carve leads, and the mirror only compares.
type mirror struct {
	input
	*session.Session
	name        string
	every       time.Duration
	maxRemovals string
	limit       removals // maxRemovals, parsed
	adopt       bool
	pools       []string // for the command switch
	back        bool     // for the command switch: the other system leads again
	mapping     rules.Mapping
	paths       []string

	lists  []string // the kinds of rows for which this pass or an earlier pass had a file
	states map[string]*converge.Snapshot
	held   map[string][]client.IPAllocation // by project: blocks that readHeld has read
}

// pass copies the changes once. It also returns the result if it ends early.
func (m *mirror) pass(ctx context.Context) (*view, error) {
	reading, err := m.readBoth(ctx)
	if err != nil {
		return nil, err
	}
	m.lists = reading.Lists
	if !m.limit.any {
		m.lists = slices.Compact(slices.Sorted(slices.Values(slices.Concat(reading.Lists, m.lastNote().Lists))))
	}
	v, err := m.settle(&reading.Records, protected{})
	switch {
	case err != nil || len(v.releases) == 0:
	case m.url != "":
		v, err = m.confirmMissing(ctx, v)
	case !m.limit.any:
		v, err = m.judgeEvidence(reading, v)
	}
	if err == nil {
		err = m.readHoldersAtSwitch(ctx, v)
	}
	if err != nil {
		return nil, err
	}
	if m.dry {
		for _, e := range v.releases {
			m.forget(e)
		}
		v.order()
		return v, nil
	}
	return m.follow(ctx, v)
}

// readBoth reads Carve first and the source second. In the other order, another mirror could create objects from newer rows between the two reads.
// These objects would then seem to be missing from the source.
func (m *mirror) readBoth(ctx context.Context) (*source.Reading, error) {
	m.states, m.held = map[string]*converge.Snapshot{}, map[string][]client.IPAllocation{}
	for _, project := range m.projects() {
		st, err := converge.Read(ctx, converge.In(m.Session, project))
		if err == nil {
			m.states[project] = st
			err = m.readHeld(ctx, project)
		}
		if err != nil {
			return nil, exit.About("project "+project, err)
		}
	}
	return m.read(ctx, m.mapping, m.paths)
}

// projects returns all projects that the mapping names.
func (m *mirror) projects() []string {
	all := map[string]bool{m.Project: true}
	for _, s := range m.mapping.Spaces {
		all[first(s.Project, m.Project)] = true
	}
	for _, r := range m.mapping.Roots {
		all[first(r.Project, m.Project)] = true
	}
	return slices.Sorted(maps.Keys(all))
}

// readHeld reads held blocks that belong to no claim in the project: retained blocks, blocks in cool-down, and other projects' claims in pools that
// they can use.
func (m *mirror) readHeld(ctx context.Context, project string) error {
	filters := []session.Query{{"phase=" + string(client.IPAllocationPhaseRetained)}, {"phase=" + string(client.IPAllocationPhaseCoolingDown)}}
	for name, p := range show.Sorted(m.states[project].Pools) {
		if p.Spec.Visibility == client.PoolVisibilityShared || len(p.Spec.ClassNames) > 0 {
			filters = append(filters, session.Query{"purpose=" + string(client.IPAllocationPurposeClaim)}.With("pool", name))
		}
	}
	for _, filter := range filters {
		all, err := converge.List(ctx, m.Session, nil, converge.In(m.Session, project).In("allocations"), filter, func(a client.IPAllocation) string { return a.Metadata.Name })
		if err != nil {
			return err
		}
		for _, a := range show.Sorted(all) {
			if a.Status.Phase != client.IPAllocationPhaseBound || a.Spec.ClaimRef == nil || a.Spec.ClaimRef.Project != project {
				m.held[project] = append(m.held[project], a)
			}
		}
	}
	return nil
}

// protected has the objects that the mirror does not release, whatever the source contains.
type protected struct {
	why  map[string]string // the reason for each object
	sure map[string]bool   // if not nil, only these objects may be released
	// otherwise is the reason for objects that are not in sure.
	otherwise string
}

// settle repeats the comparison until the releases are consistent. It releases a pool only if it also releases all objects in the pool. If a safety
// check fails, it releases nothing.
func (m *mirror) settle(records *source.Records, k protected) (*view, error) {
	why, safety := map[string]string{}, ""
	maps.Copy(why, k.why)
	for {
		v, err := m.compare(records, why)
		if err != nil {
			return nil, err
		}
		more := v.stuck()
		for _, e := range v.releases {
			if k.sure != nil && !k.sure[e.id()] {
				more[e.id()] = k.otherwise
			}
		}
		if len(more) == 0 && safety == "" {
			if safety = m.limit.against(v); safety != "" {
				for _, e := range v.releases {
					more[e.id()] = e.why
				}
			}
		}
		if len(more) == 0 {
			v.safety = safety
			return v, nil
		}
		maps.Copy(why, more)
	}
}

// confirmMissing reads the source again before a release. A concurrent change can hide a row between two pages. An object is missing only if neither
// read has it.
func (m *mirror) confirmMissing(ctx context.Context, once *view) (*view, error) {
	reading, err := m.records(ctx, m.mapping, m.paths)
	if err != nil {
		return nil, err
	}
	k := protected{sure: map[string]bool{}, otherwise: "the previous reading of the source still had it"}
	for _, e := range once.releases {
		k.sure[e.id()] = true
	}
	return m.settle(&reading.Records, k)
}

// follow applies a comparison's result. It releases objects first, so that new objects can use their blocks and names.
func (m *mirror) follow(ctx context.Context, v *view) (*view, error) {
	if len(v.releases) > 0 {
		gone := v.releases
		m.announce(gone)
		failed := m.release(ctx, gone)
		why := maps.Clone(v.why)
		for _, e := range gone {
			if e.outcome == outcomeReleased {
				m.forget(e)
			} else {
				why[e.id()] = e.why
			}
		}
		next, err := m.settle(v.records, protected{why: why, sure: map[string]bool{}, otherwise: "the next pass handles it"})
		if err != nil {
			return nil, err
		}
		next.gone, next.safety, next.back = gone, v.safety, v.back
		v = next
		v.settleReleased()
		if failed != nil {
			v.order()
			return v, failed
		}
	}
	v.order()
	r := newRun(m.Session, m.parallel, v.size()+len(v.changes))
	err := r.create(ctx, v.plan)
	if err == nil {
		err = r.Each(len(v.changes), func(n int) error { return r.change(ctx, v.changes[n]) })
	}
	r.progress.End()
	v.begun = true
	return v, err
}

// forget removes a released object from the cached state.
func (m *mirror) forget(e *item) {
	if e.isPool() {
		delete(m.states[e.project()].Pools, e.name)
	} else {
		m.states[e.project()].Claims.Forget(e.name)
	}
}
