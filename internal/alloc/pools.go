package alloc

import (
	"context"
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// GetPool reads one pool with what is free in it.
func (s *Service) GetPool(ctx context.Context, project, name string) (ipam.Pool, error) {
	_, key, err := s.enter(ctx, tenancy.PoolsRead, project)
	if err != nil {
		return ipam.Pool{}, err
	}
	p, err := s.store.PoolGet(ctx, key, name)
	if err != nil {
		return p, err
	}
	return withStock(ctx, s.store, p)
}

func withStock(ctx context.Context, read Reader, p ipam.Pool) (ipam.Pool, error) {
	list := []ipam.Pool{p}
	err := fillStock(ctx, read, list)
	return list[0], err
}

// fillStock reads what is free in all the pools at once.
func fillStock(ctx context.Context, read Reader, pools []ipam.Pool) error {
	if len(pools) == 0 {
		return nil
	}
	containers := make([]Container, len(pools))
	for i, p := range pools {
		containers[i] = PoolContainer(p)
	}
	stocks, err := read.Stocks(ctx, containers)
	if err != nil {
		return err
	}
	for i := range pools {
		pools[i].Stock = stocks[pools[i].UID]
	}
	return nil
}

// FreePage is one page of a pool's free blocks, with the summary by size.
type FreePage struct {
	Pool   ipam.Pool
	Blocks []netip.Prefix
	Next   string
}

// GetPoolFree lists the free blocks of a pool that can hold the prefix length (nil: all), largest first.
func (s *Service) GetPoolFree(ctx context.Context, project, name string, prefixLength *int, limit int, cursor string) (FreePage, error) {
	p, err := s.GetPool(ctx, project, name)
	if err != nil {
		return FreePage{}, err
	}
	maxBits := p.Block.Addr().BitLen()
	if prefixLength != nil {
		if *prefixLength < p.Block.Bits() || *prefixLength > maxBits {
			return FreePage{}, ipam.Invalid("query:prefixLength", "must be %d to %d for %s.", p.Block.Bits(), maxBits, p.Block)
		}
		maxBits = *prefixLength
	}
	var after netip.Prefix
	if err := openCursor(cursor, "free", &after); err != nil {
		return FreePage{}, err
	}
	if after.IsValid() && (after.Addr().BitLen() != p.Block.Addr().BitLen()) {
		return FreePage{}, errBadCursor()
	}
	blocks, err := s.store.FreeList(ctx, PoolContainer(p), maxBits, after, limit+1)
	if err != nil {
		return FreePage{}, err
	}
	page := FreePage{Pool: p, Blocks: blocks}
	if len(blocks) > limit {
		page.Blocks = blocks[:limit]
		page.Next = sealCursor("free", page.Blocks[limit-1])
	}
	return page, nil
}
