package regions

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Nearby places pools in this server's region if they serve it, and puts those first: the others cost a round trip to their home.
func (s *directory) Nearby(pools []ipam.Pool) []ipam.Pool {
	if !slices.ContainsFunc(pools, func(p ipam.Pool) bool { return p.Region != s.Region || p.Several() }) {
		return pools
	}
	pools = slices.Clone(pools) // a cache may share the slice
	for i, p := range pools {
		pools[i] = p.In(s.Region)
	}
	slices.SortStableFunc(pools, func(a, b ipam.Pool) int { return cmp.Compare(s.remote(a), s.remote(b)) })
	return pools
}

func (s *directory) remote(p ipam.Pool) int {
	if p.Place() == s.Region {
		return 0
	}
	return 1
}

// WhereLent returns a pool placed in the region that has a held block: the region that borrowed the block, in one piece or several, or else the home.
func WhereLent(ctx context.Context, read storage.Reader, p ipam.Pool, block netip.Prefix) (ipam.Pool, error) {
	if !p.Several() {
		return storage.Placed(p, p.Region), nil
	}
	loans, err := read.LoansOver(ctx, p.UID, block, 1)
	if err == nil && len(loans) == 1 {
		return storage.Placed(p, loans[0].Region), nil
	}
	return storage.Placed(p, p.Region), err
}
