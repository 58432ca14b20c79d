package regions

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// PreferLocal sets the region in which each pool is used: this server's region if the pool serves it, otherwise the pool's home. It puts the pools of this
// server's region first, because the others cost a round trip to their home.
func (s *directory) PreferLocal(pools []ipam.Pool) []ipam.Pool {
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

// WhereLent returns a pool as used in the region to which the pool has lent a block, or a part of it. Without such a loan, that is the pool's home.
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
