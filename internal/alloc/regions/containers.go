package regions

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// PreferLocal sets the region in which each pool is used. If the pool serves this server's region, it is used here. Otherwise it is used in its home
// region. PreferLocal sorts the pools used in this server's region first, because the other pools cost a round trip to another region.
func (s *directory) PreferLocal(pools []ipam.Pool) []ipam.Pool {
	if !slices.ContainsFunc(pools, func(p ipam.Pool) bool { return p.Region != s.Region || p.MultiRegion() }) {
		return pools
	}
	pools = slices.Clone(pools) // a cache may share the slice
	for i, p := range pools {
		pools[i] = p.InRegion(s.Region)
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

// WhereLent returns a pool as it is used in the region to which the block, or a part of it, is lent. If the block is not lent, this is the pool's
// home region.
func WhereLent(ctx context.Context, read storage.Reader, p ipam.Pool, block netip.Prefix) (ipam.Pool, error) {
	if !p.MultiRegion() {
		return storage.Placed(p, p.Region), nil
	}
	loans, err := read.LoansOver(ctx, p.UID, block, 1)
	if err == nil && len(loans) == 1 {
		return storage.Placed(p, loans[0].Region), nil
	}
	return storage.Placed(p, p.Region), err
}
