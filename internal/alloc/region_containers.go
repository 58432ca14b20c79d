package alloc

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
)

// placed is a pool as it is drawn from in the region where something of it lives.
func placed(p ipam.Pool, region string) ipam.Pool {
	if p.At = ""; region != p.Region {
		p.At = region
	}
	return p
}

// poolContainers is a pool in all the regions that it serves, its home first.
func poolContainers(p ipam.Pool) []Container {
	all := []Container{PoolContainer(placed(p, p.Region))}
	for _, r := range p.Spec.Regions {
		if r != p.Region {
			all = append(all, PoolContainer(placed(p, r)))
		}
	}
	return all
}

// poolLocks is what stands for all of a pool.
func poolLocks(p ipam.Pool) []ipam.ID {
	var ids []ipam.ID
	for _, c := range poolContainers(p) {
		ids = append(ids, c.Lock())
	}
	return ids
}

// nearby places pools in this server's region where they are served in it, and puts those first: the others cost a round trip to their home.
func (s *Service) nearby(pools []ipam.Pool) []ipam.Pool {
	if !slices.ContainsFunc(pools, func(p ipam.Pool) bool { return p.Region != s.region || p.Several() }) {
		return pools
	}
	pools = slices.Clone(pools) // they may be remembered
	for i, p := range pools {
		pools[i] = p.In(s.region)
	}
	slices.SortStableFunc(pools, func(a, b ipam.Pool) int { return cmp.Compare(s.far(a), s.far(b)) })
	return pools
}

func (s *Service) far(p ipam.Pool) int {
	if p.Place() == s.region {
		return 0
	}
	return 1
}

// whereLent is a pool placed where a held block of it is: in the region that was lent it, in one piece or in several, or else at home.
func whereLent(ctx context.Context, read Reader, p ipam.Pool, block netip.Prefix) (ipam.Pool, error) {
	if !p.Several() {
		return placed(p, p.Region), nil
	}
	loans, err := read.LoansOver(ctx, p.UID, block, 1)
	if err == nil && len(loans) == 1 {
		return placed(p, loans[0].Region), nil
	}
	return placed(p, p.Region), err
}
