package regions

import (
	"context"
	"errors"
	"fmt"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// servedPage is the page size for reads of pools, loans and rows.
const servedPage = 200

// keeper keeps enough free blocks in this region, so that a claim need not wait for a block from another region.
type keeper struct{ *mover }

// RebalanceStocks keeps enough free blocks in this region for the pools with another home region. If a pool has few free blocks here, RebalanceStocks
// borrows a block. If the region has not needed free blocks for a long time, it returns a block. It returns the number of moved blocks.
//
// Each pool costs two probes, for any size and use. Each page of pools costs three round trips. A pool with few free blocks costs one more round
// trip, to its home region. Several servers may run it at once. If they find the same shortage, only one server moves a block.
func (s *keeper) RebalanceStocks(ctx context.Context) (moved int, err error) {
	var errs []error
	away := map[string]bool{} // the home regions that could not be reached; the next run tries them again
	for after := (ipam.ID{}); ; {
		pools, err := s.Store.PoolsServing(ctx, s.Region, after, servedPage)
		if err != nil {
			return moved, errors.Join(append(errs, err)...)
		}
		stocks, err := s.readStocks(ctx, pools)
		if err != nil {
			return moved, errors.Join(append(errs, err)...)
		}
		for _, k := range stocks {
			p := k.pool
			if away[p.Region] {
				continue
			}
			did, err := s.rebalance(ctx, k)
			if away[p.Region] = homeUnavailable(err); away[p.Region] || err != nil && !storage.RetryLater(err) {
				errs = append(errs, fmt.Errorf("pool %s, at home in %s: %w", p.Ref(), p.Region, err))
			}
			moved += did
		}
		if len(pools) < servedPage {
			return moved, errors.Join(errs...)
		}
		after = pools[len(pools)-1].UID
	}
}

// homeUnavailable reports whether a home region did not respond. RebalanceStocks then reports the error, and skips the other pools with the same home
// region in this run.
func homeUnavailable(err error) bool {
	return errors.Is(err, context.DeadlineExceeded) || ipam.IsCode(err, ipam.CodeDeadline) || ipam.IsCode(err, ipam.CodeUnavailable) && !IsFence(err)
}

// stock is the state that a pool with another home region has in this region.
type stock struct {
	pool  ipam.Pool       // the pool as it is used in this region
	rec   ipam.PoolRegion // this region's record
	need  int             // the claims' expected prefix length
	short bool
}

// readStocks reads this region's state for the pools with another home region.
func (s *keeper) readStocks(ctx context.Context, pools []ipam.Pool) ([]stock, error) {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	var far []ipam.Pool
	var ids []ipam.ID
	for _, p := range pools {
		if p.Region != s.Region {
			far, ids = append(far, p.InRegion(s.Region)), append(ids, p.UID)
		}
	}
	if len(far) == 0 {
		return nil, nil
	}
	records, err := s.Store.PoolRegions(ctx, ids)
	if err != nil {
		return nil, err
	}
	var (
		stocks []stock
		ask    []storage.RoomQuery
	)
	for _, p := range far {
		for _, rec := range records[p.UID] {
			if rec.Region == p.UsedIn {
				k := stock{pool: p, rec: rec, need: typicalLength(p)}
				stocks, ask = append(stocks, k), append(ask, storage.RoomQuery{Container: storage.PoolContainer(p), Bits: lowWater(p.Block, rec, k.need)})
			}
		}
	}
	if len(ask) == 0 {
		return nil, nil
	}
	room, err := s.Store.RoomIn(ctx, ask)
	for i := range stocks {
		stocks[i].short = !room[stocks[i].pool.UID]
	}
	return stocks, err
}

// rebalance borrows or returns at most one block.
func (s *keeper) rebalance(ctx context.Context, k stock) (int, error) {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	switch {
	case k.short: // check the home region for a free block first, so that it is not locked in vain
		home := storage.PoolContainer(k.pool.InRegion(k.pool.Region))
		if room, err := s.Store.RoomIn(ctx, []storage.RoomQuery{{Container: home, Bits: k.need}}); err != nil || !room[k.pool.UID] {
			return 0, err
		}
		return count(s.lend(ctx, k.pool, k.pool.UsedIn, k.need, false))
	case k.rec.Loan >= 0 && s.Now().Sub(k.rec.LoanedAt) >= 2*s.runway:
		return count(s.recall(ctx, k.pool, k.pool.UsedIn, idleStock(k.need)))
	}
	return 0, nil
}

func count(did bool, err error) (int, error) {
	if did {
		return 1, err
	}
	return 0, err
}
