package resolve

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// eligiblePage is how many pools one read of a selector's candidates fetches.
const eligiblePage = 500

// MayClaim reports whether a project's claims may draw on a pool: its own, whatever the visibility; another project's when it
// is shared, and granted to this one.
func MayClaim(key storage.ProjectKey, pool ipam.Pool, granted bool) bool {
	return pool.ProjectID == key.ID || (pool.Spec.Visibility == ipam.VisibilityShared && granted)
}

// noPoolMatches says that a selector matches no pool that the project may use.
func noPoolMatches(key storage.ProjectKey) *ipam.Error {
	return ipam.Errorf(ipam.CodeNoPoolMatches, "No pool of project %q matches the selector.", key.Name).
		At("/spec/poolSelector", "matches no pool.")
}

// NoPoolLeft is the refusal of a claim all of whose pools are gone, or may not be used any more: as if they had never been there. By a
// class there may be others by now, or the pool of a scope was removed because it had been empty for long: then the claim is to look again,
// and that says whether there is none.
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

// Candidates is the pools that a selector finds: first the project's own, by name, then those of the platform that are
// shared and granted, by name. Pools of other projects are not found so, granted or not: whoever names one trusts its owner, and whoever
// selects by labels must not be served from a pool that somebody he never heard of has labelled to match.
func (s *Resolver) Candidates(ctx context.Context, key storage.ProjectKey, sel *ipam.Selector) ([]ipam.Pool, error) {
	leave, err := s.Searching.Enter(ctx, key.ID)
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

// selected reads pools page by page, in order of name, and keeps those that match.
func selected(sel *ipam.Selector, page func(after string) ([]ipam.Pool, error)) ([]ipam.Pool, error) {
	var out []ipam.Pool
	for after := ""; ; {
		pools, err := page(after)
		if err != nil {
			return nil, err
		}
		for _, p := range pools {
			if after = p.Name; sel.Matches(p.Labels) {
				p.Labels, p.Annotations = nil, nil // there may be thousands of them
				out = append(out, p)
			}
		}
		if len(pools) < eligiblePage {
			return out, nil
		}
	}
}
