package regions

import (
	"context"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
)

// WithStanding returns a pool with the number of its free blocks by size, and with its state in each region.
func WithStanding(ctx context.Context, read storage.Reader, p ipam.Pool) (ipam.Pool, error) {
	p, err := storage.WithStock(ctx, read, p)
	if err != nil {
		return p, err
	}
	return withRegions(ctx, read, p)
}

// FirstStanding returns a new pool's state in its regions. All blocks are in the home region.
func FirstStanding(p ipam.Pool) (out []ipam.PoolRegion) {
	for _, c := range BeginRegions(p, p.Spec.Regions) {
		r := c.Now
		if r.Lent = (ipam.Stock{Free: map[int]int64{}}); r.Region == p.Region {
			r.Stock = p.Stock
		}
		out = append(out, r)
	}
	return out
}

// withRegions reads a pool's state in each region, if the pool serves several regions.
func withRegions(ctx context.Context, read storage.Reader, p ipam.Pool) (ipam.Pool, error) {
	if !p.MultiRegion() {
		return p, nil
	}
	records, err := read.PoolRegions(ctx, []ipam.ID{p.UID})
	if err != nil {
		return p, err
	}
	lent, err := read.LoanSizes(ctx, []ipam.ID{p.UID})
	if err != nil {
		return p, err
	}
	p.Regional = nil
	for _, region := range p.Spec.Regions {
		i := slices.IndexFunc(records[p.UID], func(r ipam.PoolRegion) bool { return r.Region == region })
		if i < 0 { // the pool has left the region since it was read
			continue
		}
		r := records[p.UID][i]
		stocks, err := read.Stocks(ctx, []storage.Container{storage.PoolContainer(storage.Placed(p, region))})
		if err != nil {
			return p, err
		}
		r.Stock, r.Lent = stocks[p.UID], ipam.Stock{Free: map[int]int64{}}
		for _, l := range lent {
			if l.Region == region {
				r.Lent.Free[l.Bits] += l.Count
			}
		}
		p.Regional = append(p.Regional, r)
	}
	return p, nil
}
