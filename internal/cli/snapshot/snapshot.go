// Package snapshot reads the objects of a project. An import compares them with its source, and an export writes them.
package snapshot

import (
	"context"
	"encoding/json"
	"fmt"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/cli/session"
)

// Snapshot has the objects of a project, by name.
type Snapshot struct {
	Spaces  map[string]client.Space
	Classes map[string]client.IPClass // by project/name; includes the classes of other projects that the project can use
	Pools   map[string]client.IPPool
	Claims  *Claims
}

// In returns a session in another project.
func In(s *session.Session, project string) *session.Session {
	there := *s
	there.Project = project
	return &there
}

// Read reads a project. It keeps only the fields of claims that comparisons need.
func Read(ctx context.Context, s *session.Session) (*Snapshot, error) {
	var claims *Claims
	st, err := read(ctx, s, func(ctx context.Context, total *atomic.Int64) (err error) {
		claims, err = readClaims(ctx, s, total)
		return err
	})
	if err == nil {
		st.Claims = claims
	}
	return st, err
}

// ReadWhole reads a project and returns whole claims, by name.
func ReadWhole(ctx context.Context, s *session.Session) (st *Snapshot, claims map[string]client.IPClaim, err error) {
	st, err = read(ctx, s, func(ctx context.Context, total *atomic.Int64) (err error) {
		claims, err = list(ctx, s, total, s.In("claims"), nil, func(v client.IPClaim) string { return v.Metadata.Name })
		return err
	})
	return st, claims, err
}

func read(ctx context.Context, s *session.Session, claims func(context.Context, *atomic.Int64) error) (*Snapshot, error) {
	if _, err := s.Ask(ctx, session.Get("projects", s.Project)); err != nil {
		return nil, err
	}
	st, total := &Snapshot{}, atomic.Int64{}
	defer s.ProgressEnds()
	g, ctx := errgroup.WithContext(ctx)
	g.Go(func() (err error) {
		st.Spaces, err = list(ctx, s, &total, s.In("spaces"), nil, func(v client.Space) string { return v.Metadata.Name })
		return err
	})
	g.Go(func() (err error) {
		st.Classes, err = list(ctx, s, &total, s.In("classes"), nil, func(v client.IPClass) string { return v.Metadata.Project + "/" + v.Metadata.Name })
		return err
	})
	g.Go(func() (err error) {
		st.Pools, err = list(ctx, s, &total, s.In("pools"), nil, func(v client.IPPool) string { return v.Metadata.Name })
		return err
	})
	g.Go(func() error { return claims(ctx, &total) })
	return st, g.Wait()
}

// List reads all things of the list at a path that match the filters, by name.
func List[T any](ctx context.Context, s *session.Session, path []string, filters session.Query, name func(T) string) (map[string]T, error) {
	return list(ctx, s, nil, path, filters, name)
}

// list is List with a count that it shares with other lists.
func list[T any](ctx context.Context, s *session.Session, total *atomic.Int64, path []string, filters session.Query, name func(T) string) (map[string]T, error) {
	all := map[string]T{}
	err := pages(ctx, s, total, path, filters, func(v T) error {
		all[name(v)] = v
		return nil
	})
	return all, err
}

// pages reads all things of the list at a path, page by page.
func pages[T any](ctx context.Context, s *session.Session, total *atomic.Int64, path []string, filters session.Query, each func(T) error) error {
	_, err := s.Pages(ctx, session.Paging{Total: total, Drop: true}, func(ctx context.Context, paging session.Query) (session.Answer, error) {
		return s.Ask(ctx, session.Request{Path: path, Query: append(append(session.Query{}, filters...), paging...)})
	}, func(doc json.RawMessage) error {
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

// SpaceOf returns the space of a pool as users write it. If the space belongs to another project, the text has the form project/name.
func SpaceOf(p client.IPPool) string {
	if p.Status.SpaceRef.Project != p.Metadata.Project {
		return p.Status.SpaceRef.Project + "/" + p.Status.SpaceRef.Name
	}
	return p.Status.SpaceRef.Name
}
