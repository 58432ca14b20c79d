package resolve

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// eligiblePage is the page size when reading a selector's candidates.
const eligiblePage = 500

// MayClaim reports whether a project's claims may draw from a pool: from its own pools, whatever the visibility, and from another project's pool if
// that is shared and granted to it.
func MayClaim(key storage.ProjectKey, pool ipam.Pool, granted bool) bool {
	return pool.ProjectID == key.ID || (pool.Spec.Visibility == ipam.VisibilityShared && granted)
}

// noPoolMatches returns the refusal for a selector that matches no pool of the project.
func noPoolMatches(key storage.ProjectKey) *ipam.Error {
	return ipam.Errorf(ipam.CodeNoPoolMatches, "No pool of project %q matches the selector.", key.Name).
		At("/spec/poolSelector", "matches no pool.")
}

// NoPoolLeft returns the refusal for a claim after all its pools have gone or become forbidden, as if they had never existed. For a class it returns
// a conflict, because the class may have other pools by now, or the empty pool of a scope may have been removed. The claim then repeats its look-up,
// which decides.
func (r *Resolved) NoPoolLeft() error {
	switch {
	case r.Ask.Class != nil:
		return &storage.Conflict{}
	case r.Ask.Spec.PoolSelector != nil:
		return noPoolMatches(r.viewer)
	default:
		return storage.PoolNotFound(r.Ask.Spec.PoolRef)
	}
}

// Candidates returns the pools that a selector matches: first the project's own, by name, then the platform's shared and granted ones, by name. It
// returns no pools of other projects, even if they are granted. A claim that names such a pool trusts its owner. A claim that selects by labels must
// not be served from a pool that an unknown owner has labelled to match.
func (s *Resolver) Candidates(ctx context.Context, key storage.ProjectKey, sel *ipam.Selector) ([]ipam.Pool, error) {
	leave, err := s.Searching.Acquire(ctx, key.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Selectors: 1})
	found, err := selected(sel, func(after string) ([]ipam.Pool, error) {
		return s.Store.PoolListByLabels(ctx, key, sel.MatchLabels, after, eligiblePage)
	})
	if err != nil || key.Name == ipam.PlatformProject {
		return found, err
	}
	granted, err := selected(sel, func(after string) ([]ipam.Pool, error) {
		return s.Store.PoolListGranted(ctx, ipam.PlatformProject, key.Name, sel.MatchLabels, after, eligiblePage)
	})
	return append(found, granted...), err
}

// selected reads pools page by page, ordered by name, and returns the matching ones.
func selected(sel *ipam.Selector, page func(after string) ([]ipam.Pool, error)) ([]ipam.Pool, error) {
	var out []ipam.Pool
	for after := ""; ; {
		pools, err := page(after)
		if err != nil {
			return nil, err
		}
		for _, p := range pools {
			if after = p.Name; sel.Matches(p.Labels) {
				p.Labels, p.Annotations = nil, nil // there may be thousands of pools
				out = append(out, p)
			}
		}
		if len(pools) < eligiblePage {
			return out, nil
		}
	}
}
