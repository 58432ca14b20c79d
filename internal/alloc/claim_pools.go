package alloc

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// eligiblePage is how many pools one read of a selector's candidates fetches.
const eligiblePage = 500

// mayClaim reports whether a project's claims may draw on a pool: its own, whatever the visibility; another project's when it
// is shared, and granted to this one.
func mayClaim(key ProjectKey, pool ipam.Pool, granted bool) bool {
	return pool.ProjectID == key.ID || (pool.Spec.Visibility == ipam.VisibilityShared && granted)
}

// poolNotFound says that the pool of a poolRef is missing, or none of the claim's business: the two cannot be told apart.
func poolNotFound(ref ipam.Ref) *ipam.Error {
	return ipam.Errorf(ipam.CodeNotFound, "Pool %s was not found.", ref).At("/spec/poolRef/name", "names nothing that exists here.")
}

// noPoolMatches says that a selector matches no pool that the project may use.
func noPoolMatches(key ProjectKey) *ipam.Error {
	return ipam.Errorf(ipam.CodeNoPoolMatches, "No pool of project %q matches the selector.", key.Name).
		At("/spec/poolSelector", "matches no pool.")
}

// noPoolLeft is the refusal of a claim all of whose pools are gone, or may not be used any more: as if they had never been there.
func noPoolLeft(key ProjectKey, spec ipam.ClaimSpec) *ipam.Error {
	if spec.PoolSelector != nil {
		return noPoolMatches(key)
	}
	return poolNotFound(spec.PoolRef)
}

// usable is the pool of a claim's poolRef, if the project may use it.
func usable(key ProjectKey, facts ClaimFacts) *ipam.Pool {
	if facts.Pool == nil || !mayClaim(key, *facts.Pool, facts.Granted) {
		return nil
	}
	return facts.Pool
}

// poolsFor is the pools that may serve one claim; none for a claim that names an allocation.
func (s *Service) poolsFor(ctx context.Context, key ProjectKey, spec ipam.ClaimSpec, facts ClaimFacts) ([]ipam.Pool, error) {
	if spec.AllocationRef != "" {
		return nil, nil
	}
	found, err := candidates(ctx, s.store, key, spec.PoolSelector)
	if err != nil {
		return nil, err
	}
	return eligible(key, spec, usable(key, facts), found)
}

// eligible is the pools that may serve a claim, in the order in which they are tried: the pool of poolRef (named; nil: there is
// none that the project may use), or those of the candidates of its selector that are of the right family and whose bounds
// admit the length.
func eligible(key ProjectKey, spec ipam.ClaimSpec, named *ipam.Pool, candidates []ipam.Pool) ([]ipam.Pool, error) {
	if spec.PoolSelector == nil {
		if named == nil {
			return nil, poolNotFound(spec.PoolRef)
		}
		candidates = []ipam.Pool{*named}
	}
	var fit []ipam.Pool
	var refused error
	for _, p := range candidates {
		if _, err := wanted(spec, p); err != nil {
			refused = err
			continue
		}
		fit = append(fit, p)
	}
	switch {
	case len(fit) > 0:
		return fit, nil
	case refused != nil: // pools match, but none could ever serve this: the last one's reason stands for all
		return nil, refused
	default:
		return nil, noPoolMatches(key)
	}
}

// candidates is the pools that a selector (nil: none) finds: first the project's own, by name, then those of the platform that are
// shared and granted, by name. Pools of other projects are not found so, granted or not: whoever names one trusts its owner, and whoever
// selects by labels must not be served from a pool that somebody he never heard of has labelled to match.
func candidates(ctx context.Context, read Reader, key ProjectKey, sel *ipam.Selector) ([]ipam.Pool, error) {
	if sel == nil {
		return nil, nil
	}
	found, err := selected(sel, func(after string) ([]ipam.Pool, error) {
		return read.PoolListByLabels(ctx, key, sel.MatchLabels, after, eligiblePage)
	})
	if err != nil || key.Name == ipam.PlatformProject {
		return found, err
	}
	granted, err := selected(sel, func(after string) ([]ipam.Pool, error) {
		return read.PoolListGranted(ctx, ipam.PlatformProject, key.Name, sel.MatchLabels, after, eligiblePage)
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

// want is what a claim asks of one pool.
type want struct {
	exact netip.Prefix
	bits  int
}

// wanted resolves what a claim asks of a pool, or says why the pool can never serve it.
func wanted(spec ipam.ClaimSpec, p ipam.Pool) (want, error) {
	if exact := spec.Exact(); exact.IsValid() {
		return want{exact: exact, bits: exact.Bits()}, p.AdmitExact(exactPointer(spec), exact)
	}
	if spec.Family != "" && spec.Family != p.Family() {
		return want{}, ipam.Errorf(ipam.CodeFamilyMismatch, "Pool %s is %s; %s was asked for.", p.Ref(), p.Family(), spec.Family).
			At("/spec/ipFamily", "must be %s for this pool.", p.Family())
	}
	bits := spec.PrefixLength
	if bits == nil {
		bits = p.Spec.Allocation.DefaultPrefixLength
	}
	if bits == nil {
		return want{}, ipam.Invalid("/spec/prefixLength", "is required: pool %s has no defaultPrefixLength.", p.Ref())
	}
	return want{bits: *bits}, p.Admit("/spec/prefixLength", *bits)
}

// exactPointer is the field that asks for a very block.
func exactPointer(spec ipam.ClaimSpec) string {
	if spec.Address.IsValid() {
		return "/spec/address"
	}
	return "/spec/cidr"
}

// withRoom leaves the pools that have a free block which is large enough, so that a claim need not open a transaction on each
// of a thousand full pools. The others were tried by that look; full stands for them when nobody has room.
func (s *Service) withRoom(ctx context.Context, pools []ipam.Pool, spec ipam.ClaimSpec) (room []ipam.Pool, full error, err error) {
	if len(pools) < 2 || spec.Exact().IsValid() {
		return pools, nil, nil
	}
	ask := make([]RoomQuery, 0, len(pools))
	for _, p := range pools {
		w, err := wanted(spec, p)
		if err != nil {
			continue
		}
		ask = append(ask, RoomQuery{Container: PoolContainer(p), Bits: w.bits})
	}
	has, err := s.store.RoomIn(ctx, ask)
	if err != nil {
		return nil, nil, err
	}
	for _, p := range pools {
		if has[p.UID] {
			room = append(room, p)
		}
	}
	return room, ipam.Errorf(ipam.CodePoolExhausted, "None of the pools has room."), nil
}
