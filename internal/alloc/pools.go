package alloc

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// GetPool reads one pool with what is free in it.
func (s *Service) GetPool(ctx context.Context, project, name string) (ipam.Pool, error) {
	p, err := s.readPool(ctx, project, name)
	if err != nil {
		return p, err
	}
	return withStanding(ctx, s.store, p)
}

// readPool reads a pool for somebody who may see it.
func (s *Service) readPool(ctx context.Context, project, name string) (ipam.Pool, error) {
	_, key, err := s.enter(ctx, tenancy.PoolsRead, project)
	if err != nil {
		return ipam.Pool{}, err
	}
	return s.store.PoolGet(ctx, key, name)
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
	containers := make([]Container, 0, len(pools))
	for _, p := range pools {
		containers = append(containers, poolContainers(p)...)
	}
	stocks, err := read.Stocks(ctx, containers)
	if err != nil {
		return err
	}
	var counted int64
	for i := range pools {
		pools[i].Stock = stocks[pools[i].UID]
		for _, n := range pools[i].Stock.Free {
			counted += n
		}
	}
	tenancy.BudgetOf(ctx).Add(tenancy.Work{Counted: int(counted)})
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
	p, err := s.readPool(ctx, project, name)
	if err != nil {
		return FreePage{}, err
	}
	return inOneMoment(ctx, s, "free_in_pool", p, func(ctx context.Context, read Reader, p ipam.Pool) (FreePage, error) {
		p, err := withStanding(ctx, read, p)
		if err != nil {
			return FreePage{}, err
		}
		return freePage(ctx, read, p, prefixLength, limit, cursor)
	})
}

func freePage(ctx context.Context, read Reader, p ipam.Pool, prefixLength *int, limit int, cursor string) (FreePage, error) {
	maxBits := p.Block.Addr().BitLen()
	if prefixLength != nil {
		if *prefixLength < p.Block.Bits() || *prefixLength > maxBits {
			return FreePage{}, ipam.Invalid("query:prefixLength", "must be %d to %d for %s.", p.Block.Bits(), maxBits, p.Block)
		}
		maxBits = *prefixLength
	}
	var after netip.Prefix
	these := listOf("free", p.UID, prefixLength)
	if err := openCursor(cursor, these, &after); err != nil {
		return FreePage{}, err
	}
	if after.IsValid() && (after.Addr().BitLen() != p.Block.Addr().BitLen()) {
		return FreePage{}, errBadCursor()
	}
	var blocks []netip.Prefix
	for _, c := range poolContainers(p) {
		there, err := read.FreeList(ctx, c, maxBits, after, limit+1)
		if err != nil {
			return FreePage{}, err
		}
		blocks = append(blocks, there...)
	}
	if p.Several() {
		slices.SortFunc(blocks, func(a, b netip.Prefix) int {
			return cmp.Or(cmp.Compare(a.Bits(), b.Bits()), a.Addr().Compare(b.Addr()))
		})
		blocks = blocks[:min(len(blocks), limit+1)]
	}
	page := FreePage{Pool: p, Blocks: blocks}
	if len(blocks) > limit {
		page.Blocks = blocks[:limit]
		page.Next = sealCursor(these, page.Blocks[limit-1])
	}
	return page, nil
}
