package resolve

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// eligiblePage is the page size for the pools that a selector matches.
const eligiblePage = 500

// MayClaim reports whether a project's claims may use a pool. Such claims may use all the project's own pools. They may use another project's pool if
// it is shared and granted to the project.
func MayClaim(key storage.ProjectKey, pool ipam.Pool, granted bool) bool {
	return pool.ProjectID == key.ID || (pool.Spec.Visibility == ipam.VisibilityShared && granted)
}

// noPoolMatches returns the refusal for a selector that matches no pool in the project.
func noPoolMatches(key storage.ProjectKey) *ipam.Error {
	return ipam.Errorf(ipam.CodeNoPoolMatches, "No pool of project %q matches the selector.", key.Name).
		At("/spec/poolSelector", "matches no pool.")
}

// NoPoolLeft returns the refusal for a claim after all its pools were deleted or forbidden. The refusal is the same as if the pools had never
// existed. For a class, it returns a conflict, so that the claim looks for pools again. By now, other pools may list the class, or the empty pool for
// the claim's scope may have been removed.
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

// Candidates returns the pools that a selector matches. The project's own pools come first, by name. The platform's shared pools that are granted to
// the project follow, by name.
//
// Candidates never returns other projects' pools, even if they are granted. A claim that names such a pool trusts its owner. A claim with a selector
// does not name an owner. An untrusted owner could add labels to a pool to attract such claims.
func (s *Resolver) Candidates(ctx context.Context, key storage.ProjectKey, sel *ipam.Selector) ([]ipam.Pool, error) {
	leave, err := s.Searching.AcquireForWork(ctx, key.ID)
	if err != nil {
		return nil, err
	}
	defer leave()
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Selectors: 1})
	found, err := readSelected(sel, func(after string) ([]ipam.Pool, error) {
		return s.Store.PoolListByLabels(ctx, key, sel.MatchLabels, after, eligiblePage)
	})
	if err != nil || key.Name == ipam.PlatformProject {
		return found, err
	}
	granted, err := readSelected(sel, func(after string) ([]ipam.Pool, error) {
		return s.Store.PoolListGranted(ctx, ipam.PlatformProject, key.Name, sel.MatchLabels, after, eligiblePage)
	})
	return append(found, granted...), err
}

// readSelected reads pools page by page, ordered by name, and returns the pools that the selector matches.
func readSelected(sel *ipam.Selector, page func(after string) ([]ipam.Pool, error)) ([]ipam.Pool, error) {
	var out []ipam.Pool
	for after := ""; ; {
		pools, err := page(after)
		if err != nil {
			return nil, err
		}
		for _, p := range pools {
			if after = p.Name; sel.Matches(p.Labels) {
				p.Labels, p.Annotations = nil, nil // dropped to save memory, because there may be thousands of pools
				out = append(out, p)
			}
		}
		if len(pools) < eligiblePage {
			return out, nil
		}
	}
}
