package transfer

import (
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"net/netip"
	"slices"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// state is what the server has in one project.
type state struct {
	spaces  map[string]client.Space
	classes map[string]client.IPClass
	pools   map[string]client.IPPool
	claims  map[string]client.IPClaim
	items   []*item // pools and claims
}

// in is a session in another project.
func in(s *session.Session, project string) *session.Session {
	there := *s
	there.Project = project
	return &there
}

// read asks for everything of a project.
func read(ctx context.Context, s *session.Session) (*state, error) {
	if _, err := s.Ask(ctx, session.Get("projects", s.Project)); err != nil {
		return nil, err
	}
	st := &state{}
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		st.spaces, err = list(ctx, s, "spaces", func(v client.Space) string { return v.Metadata.Name })
		return err
	})
	g.Go(func() (err error) {
		st.classes, err = list(ctx, s, "classes", func(v client.IPClass) string { return v.Metadata.Project + "/" + v.Metadata.Name })
		return err
	})
	g.Go(func() (err error) {
		st.pools, err = list(ctx, s, "pools", func(v client.IPPool) string { return v.Metadata.Name })
		return err
	})
	g.Go(func() (err error) {
		st.claims, err = list(ctx, s, "claims", func(v client.IPClaim) string { return v.Metadata.Name })
		return err
	})
	if err := g.Wait(); err != nil {
		return nil, err
	}
	err := st.place(s.Project)
	return st, err
}

// list asks for all things of a kind, by name.
func list[T any](ctx context.Context, s *session.Session, collection string, name func(T) string) (map[string]T, error) {
	all := map[string]T{}
	_, err := s.Pages(ctx, session.Paging{}, func(ctx context.Context, paging session.Query) (session.Answer, error) {
		a, err := s.Ask(ctx, session.Request{Path: s.In(collection), Query: paging})
		if err != nil {
			return a, err
		}
		var page struct {
			Items      []T    `json:"items"`
			NextCursor string `json:"nextCursor"`
		}
		if err := json.Unmarshal(a.Body, &page); err != nil {
			return a, fmt.Errorf("cannot read the list: %w", err)
		}
		for _, v := range page.Items {
			all[name(v)] = v
		}
		a.Body, err = show.Marshal(show.Page{NextCursor: page.NextCursor}) // it was read here, once
		return a, err
	})
	return all, err
}

// place makes items of what is there.
func (st *state) place(project string) error {
	for _, name := range slices.Sorted(maps.Keys(st.pools)) {
		p := st.pools[name]
		block, err := netip.ParsePrefix(p.Status.AllocatedCIDR)
		if err != nil {
			return fmt.Errorf("pool %s: %w", name, err)
		}
		space := p.Status.SpaceRef.Name
		if p.Status.SpaceRef.Project != project {
			space = p.Status.SpaceRef.Project + "/" + space
		}
		st.items = append(st.items, &item{domain: domain{project, space}, kind: asPool, name: name, block: block, there: true,
			labels: p.Metadata.Labels, annotations: p.Metadata.Annotations, description: p.Spec.Description, holds: p.Spec.Reservations,
			current: func() (map[string]json.RawMessage, error) { return poolRest(p) }})
	}
	spaces := map[string]string{}
	for _, i := range st.items {
		spaces[i.name] = i.space
	}
	for _, name := range slices.Sorted(maps.Keys(st.claims)) {
		c := st.claims[name]
		block, err := netip.ParsePrefix(c.Status.AllocatedCIDR)
		if err != nil {
			return fmt.Errorf("claim %s: %w", name, err)
		}
		i := &item{domain: domain{project: project}, kind: asClaim, name: name, block: block, there: true,
			labels: c.Metadata.Labels, annotations: c.Metadata.Annotations, ownParent: c.Status.PoolRef.Name,
			current: func() (map[string]json.RawMessage, error) { return claimRest(c) }}
		if c.Status.PoolRef.Project == project {
			i.space = spaces[c.Status.PoolRef.Name]
		} else {
			i.ownParent = c.Status.PoolRef.Project + "/" + c.Status.PoolRef.Name
		}
		st.items = append(st.items, i)
	}
	return nil
}
