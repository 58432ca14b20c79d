package transfer

import (
	"context"
	"fmt"
	"net/netip"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/converge"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
	"github.com/carve-ipam/carve/internal/cli/source"
)

// state has one project's objects on the server.
type state struct {
	*converge.Snapshot
	items []*item // pools and claims
}

func read(ctx context.Context, s *session.Session) (*state, error) {
	has, err := converge.Read(ctx, s)
	if err != nil {
		return nil, err
	}
	st := &state{Snapshot: has}
	err = st.place(s.Project)
	return st, err
}

// place makes an item for each pool and each claim on the server.
func (st *state) place(project string) error {
	for name, p := range show.Sorted(st.Pools) {
		block, err := netip.ParsePrefix(p.Status.AllocatedCIDR)
		if err != nil {
			return fmt.Errorf("pool %s: %w", name, err)
		}
		st.items = append(st.items, itemOnServer(domainOf(project, converge.SpaceOf(p)), rules.AsPool, name, block, &itemDetails{
			labels: p.Metadata.Labels, annotations: p.Metadata.Annotations, description: p.Spec.Description, holds: p.Spec.Reservations,
			ownParent: converge.ParentOf(p), revision: p.Metadata.Revision,
			current: func() (converge.Spec, error) { return converge.PoolRest(p) },
		}))
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
		st.items = append(st.items, itemOnServer(domainOf(project, space), rules.AsClaim, c.Name, c.Block, shared[c.Pool]))
	}
	return nil
}

// spaceOf and classOf return the items for a space and a class on the server. An import compares them with its own items.
func spaceOf(s client.Space) *item {
	return itemOnServer(domain{}, string(source.Space), s.Metadata.Name, netip.Prefix{}, &itemDetails{
		labels: s.Metadata.Labels, annotations: s.Metadata.Annotations, description: s.Spec.Description,
		current: func() (converge.Spec, error) { return converge.Spec{}, nil },
	})
}

func classOf(c client.IPClass) *item {
	return itemOnServer(domain{}, string(source.Class), c.Metadata.Name, netip.Prefix{}, &itemDetails{
		labels: c.Metadata.Labels, annotations: c.Metadata.Annotations,
		current: func() (converge.Spec, error) { return converge.Whole(c.Spec) },
	})
}
