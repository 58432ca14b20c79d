// Package converge is shared by the commands that make a project match a desired state (plans, imports and mirrors) or write its state (exports). It
// reads a project's objects, and sends the many requests that create and change them.
package converge

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// Snapshot has a project's objects, by name.
type Snapshot struct {
	Spaces  map[string]client.Space
	Classes map[string]client.IPClass // by project/name; includes other projects' classes that the project can use
	Pools   map[string]client.IPPool
	Claims  *Claims
}

// In returns a session in another project.
func In(s *session.Session, project string) *session.Session {
	there := *s
	there.Project = project
	return &there
}

// Read reads a project. For claims it keeps only the fields that comparisons need.
func Read(ctx context.Context, s *session.Session) (*Snapshot, error) {
	return read(ctx, s, func(ctx context.Context, st *Snapshot, total *atomic.Int64) (err error) {
		st.Claims, err = readClaims(ctx, s, total)
		return err
	})
}

// ReadWhole reads a project and returns whole claims, by name.
func ReadWhole(ctx context.Context, s *session.Session) (st *Snapshot, claims map[string]client.IPClaim, err error) {
	st, err = read(ctx, s, func(ctx context.Context, _ *Snapshot, total *atomic.Int64) (err error) {
		claims, err = List(ctx, s, total, s.In("claims"), nil, func(v client.IPClaim) string { return v.Metadata.Name })
		return err
	})
	return st, claims, err
}

func read(ctx context.Context, s *session.Session, claims func(context.Context, *Snapshot, *atomic.Int64) error) (*Snapshot, error) {
	if _, err := s.Ask(ctx, session.Get("projects", s.Project)); err != nil {
		return nil, err
	}
	st, total := &Snapshot{}, atomic.Int64{}
	defer s.ProgressEnds()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		st.Spaces, err = List(ctx, s, &total, s.In("spaces"), nil, func(v client.Space) string { return v.Metadata.Name })
		return err
	})
	g.Go(func() (err error) {
		st.Classes, err = List(ctx, s, &total, s.In("classes"), nil, func(v client.IPClass) string { return v.Metadata.Project + "/" + v.Metadata.Name })
		return err
	})
	g.Go(func() (err error) {
		st.Pools, err = List(ctx, s, &total, s.In("pools"), nil, func(v client.IPPool) string { return v.Metadata.Name })
		return err
	})
	g.Go(func() error { return claims(ctx, st, &total) })
	return st, g.Wait()
}

// List reads the list at a path, and returns the objects by name. filters selects some objects. total counts the objects that concurrent calls read;
// it is nil if there are no other calls.
func List[T any](ctx context.Context, s *session.Session, total *atomic.Int64, path []string, filters session.Query, name func(T) string) (map[string]T, error) {
	all := map[string]T{}
	err := Pages(ctx, s, total, path, filters, func(v T) error {
		all[name(v)] = v
		return nil
	})
	return all, err
}

// Pages reads a list like List, but passes each object to a function and keeps none.
func Pages[T any](ctx context.Context, s *session.Session, total *atomic.Int64, path []string, filters session.Query, each func(T) error) error {
	_, err := s.Pages(ctx, session.Paging{Total: total, Drop: true}, s.Fetch(path, filters), func(doc json.RawMessage) error {
		var page struct {
			Items []T `json:"items"`
		}
		if err := json.Unmarshal(doc, &page); err != nil {
			return fmt.Errorf("cannot read the list: %w", err)
		}
		for _, v := range page.Items {
			if err := each(v); err != nil {
				return err
			}
		}
		return nil
	})
	return err
}

// SpaceOf returns a pool's space as users write it. If the space belongs to another project, the text has the form project/name.
func SpaceOf(p client.IPPool) string {
	return show.RefText(&p.Status.SpaceRef, p.Metadata.Project)
}

// ParentOf returns the name of the pool that contains a pool, which is in the same project. It returns "" for a root.
func ParentOf(p client.IPPool) string { return show.RefText(p.Status.ParentRef, p.Metadata.Project) }
