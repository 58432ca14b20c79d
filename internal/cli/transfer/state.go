package transfer

import (
	"context"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/snapshot"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// state has the objects of one project on the server.
type state struct {
	*snapshot.Snapshot
	items []*item // pools and claims
}

// read reads all objects of a project.
func read(ctx context.Context, s *session.Session) (*state, error) {
	has, err := snapshot.Read(ctx, s)
	if err != nil {
		return nil, err
	}
	st := &state{Snapshot: has}
	err = st.place(s.Project)
	return st, err
}

// place makes an item for each pool and each claim on the server.
func (st *state) place(project string) error {
	for _, name := range slices.Sorted(maps.Keys(st.Pools)) {
		p := st.Pools[name]
		block, err := netip.ParsePrefix(p.Status.AllocatedCIDR)
		if err != nil {
			return fmt.Errorf("pool %s: %w", name, err)
		}
		parent := ""
		if p.Status.ParentRef != nil {
			parent = show.RefText(p.Status.ParentRef, project)
		}
		st.items = append(st.items, &item{domain: domainOf(project, snapshot.SpaceOf(p)), kind: rules.AsPool, name: name, block: block, onServer: true, ending: pending,
			itemDetails: &itemDetails{
				labels: p.Metadata.Labels, annotations: p.Metadata.Annotations, description: p.Spec.Description, holds: p.Spec.Reservations,
				ownParent: parent, revision: p.Metadata.Revision,
				current: func() (snapshot.Spec, error) { return snapshot.PoolRest(p) },
			}})
	}
	spaces := map[string]string{}
	for _, i := range st.items {
		spaces[i.name] = i.space()
	}
	shared := map[client.ResolvedRef]*itemDetails{} // by pool
	for c := range st.Claims.All() {
		if shared[c.Pool] == nil {
			shared[c.Pool] = &itemDetails{ownParent: show.RefText(&c.Pool, project), claims: st.Claims}
		}
		space := ""
		if c.Pool.Project == project {
			space = spaces[c.Pool.Name]
		}
		st.items = append(st.items, &item{domain: domainOf(project, space), kind: rules.AsClaim, name: c.Name, block: c.Block, onServer: true, ending: pending, itemDetails: shared[c.Pool]})
	}
	return nil
}

// spaceOf and classOf return the items for a space and a class on the server. An import compares them with the items of its source.
func spaceOf(s client.Space) *item {
	return &item{kind: string(source.Space), name: s.Metadata.Name, onServer: true, ending: pending, itemDetails: &itemDetails{
		labels: s.Metadata.Labels, annotations: s.Metadata.Annotations, description: s.Spec.Description,
		current: func() (snapshot.Spec, error) { return snapshot.Spec{}, nil },
	}}
}

func classOf(c client.IPClass) *item {
	return &item{kind: string(source.Class), name: c.Metadata.Name, onServer: true, ending: pending, itemDetails: &itemDetails{
		labels: c.Metadata.Labels, annotations: c.Metadata.Annotations,
		current: func() (snapshot.Spec, error) { return snapshot.Whole(c.Spec) },
	}}
}
