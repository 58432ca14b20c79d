package pools

import (
	"cmp"
	"context"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

type reader struct{ *usecase.Core }

// GetPool reads one pool with its free blocks by size.
func (s *reader) GetPool(ctx context.Context, project, name string, r usecase.Reading) (ipam.Pool, error) {
	read := s.View(r)
	p, err := s.readPool(ctx, read, project, name)
	if err != nil {
		return p, err
	}
	return regions.WithStanding(ctx, read, p)
}

func (s *reader) readPool(ctx context.Context, read storage.Reader, project, name string) (ipam.Pool, error) {
	_, key, err := s.Enter(ctx, tenancy.PoolsRead, project)
	if err != nil {
		return ipam.Pool{}, err
	}
	return read.PoolGet(ctx, key, name)
}

// FreePage is one page of a pool's free blocks. Its Pool has the number of free blocks by size.
type FreePage struct {
	Pool   ipam.Pool
	Blocks []netip.Prefix
	Next   string
}

// GetPoolFree lists a pool's free blocks that are large enough for the prefix length, the largest first. If prefixLength is nil, it lists all free
// blocks.
func (s *reader) GetPoolFree(ctx context.Context, project, name string, prefixLength *int, limit int, cursor string, r usecase.Reading,
) (FreePage, error) {
	view := s.View(r)
	p, err := s.readPool(ctx, view, project, name)
	if err != nil {
		return FreePage{}, err
	}
	return regions.ReadInSnapshot(ctx, view, "free_in_pool", p, func(ctx context.Context, read storage.Reader, p ipam.Pool) (FreePage, error) {
		p, err := regions.WithStanding(ctx, read, p)
		if err != nil {
			return FreePage{}, err
		}
		return freePage(ctx, read, p, prefixLength, limit, cursor)
	})
}

func freePage(ctx context.Context, read storage.Reader, p ipam.Pool, prefixLength *int, limit int, cursor string) (FreePage, error) {
	maxBits := p.Block.Addr().BitLen()
	if prefixLength != nil {
		if *prefixLength < p.Block.Bits() || *prefixLength > maxBits {
			return FreePage{}, ipam.Invalid("query:prefixLength", "must be %d to %d for %s.", p.Block.Bits(), maxBits, p.Block)
		}
		maxBits = *prefixLength
	}
	var after netip.Prefix
	these := paging.ListOf("free", p.UID, prefixLength)
	if err := paging.OpenCursor(cursor, these, &after); err != nil {
		return FreePage{}, err
	}
	if after.IsValid() && (after.Addr().BitLen() != p.Block.Addr().BitLen()) {
		return FreePage{}, paging.ErrBadCursor()
	}
	var blocks []netip.Prefix
	for _, c := range storage.PoolContainers(p) {
		there, err := read.FreeList(ctx, c, maxBits, after, limit+1)
		if err != nil {
			return FreePage{}, err
		}
		blocks = append(blocks, there...)
	}
	if p.MultiRegion() {
		slices.SortFunc(blocks, func(a, b netip.Prefix) int {
			return cmp.Or(cmp.Compare(a.Bits(), b.Bits()), a.Addr().Compare(b.Addr()))
		})
		blocks = blocks[:min(len(blocks), limit+1)]
	}
	page := FreePage{Pool: p, Blocks: blocks}
	if len(blocks) > limit {
		page.Blocks = blocks[:limit]
		page.Next = paging.SealCursor(these, page.Blocks[limit-1])
	}
	return page, nil
}
