package regions

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Reconciled is the result for one pool in a region with different versions in the rows and the loan record. The region's blocks are the blocks that
// were lent to it. For the home region, these are all blocks that are not lent.
type Reconciled struct {
	Pool    ipam.Ref
	Region  string
	Stale   []netip.Prefix // free in the region's rows, but not among the region's blocks
	Missing []netip.Prefix // among the region's blocks, but missing in its rows
	Held    []netip.Prefix // held in the region's rows, but not among the region's blocks; another region may hold them too
	Open    bool           // the region uses the pool again

	Forgotten []Forgotten // the holds that were ended because of Reconciling.Forget
}

// lostFor is the cool-down for addresses that are missing in a region's rows. They may still be in use, although Carve has no record for them.
const lostFor = 30 * 24 * time.Hour

// reconciler makes a region's rows agree with its loan record.
type reconciler struct{ *usecase.Core }

// Reconcile checks each pool in a region with different versions in the rows and the loan record (docs/adr/0021). If the rows agree with the loans,
// the pool can be used again.
//
// With Repair, Reconcile changes the rows so that they agree:
//
//   - It deletes free blocks that are not the region's blocks.
//   - It holds the region's blocks that are missing in the rows. They cool down for 30 days. An operator can delete the allocation to end the
//     cool-down.
//
// If a hold is outside the region's blocks, another region may hold the same addresses. Then Reconcile does not open the pool. An operator must
// decide which holder is right, and name the wrong holds in Forget.
//
// Reconcile is for operators, and does not authorize the caller.
func (s *reconciler) Reconcile(ctx context.Context, o Reconciling) (found []Reconciled, err error) {
	for after := (ipam.ID{}); ; {
		pools, err := s.Store.PoolsServing(ctx, s.Region, after, servedPage)
		if err != nil {
			return found, err
		}
		for _, p := range pools {
			after = p.UID
			err := Fenced(ctx, s.Store, p.InRegion(s.Region))
			if err == nil {
				continue
			}
			if !ipam.IsCode(err, ipam.CodeUnavailable) {
				return found, err
			}
			r, err := s.reconcilePool(ctx, p.InRegion(s.Region), o)
			if err != nil {
				return found, fmt.Errorf("pool %s: %w", p.Ref(), err)
			}
			found = append(found, r)
		}
		if len(pools) < servedPage {
			return found, nil
		}
	}
}

func (s *reconciler) reconcilePool(ctx context.Context, p ipam.Pool, o Reconciling) (Reconciled, error) {
	c, epoch := storage.PoolContainer(p), ipam.NewID()
	holders, err := o.holders(ctx, s.Store, p, c)
	if err != nil {
		return Reconciled{}, err
	}
	locks := storage.Locks{Exclusive: storage.PoolLocks(p), Shared: holders}
	release, err := s.Locks.Acquire(ctx, locks.Exclusive...)
	if err != nil {
		return Reconciled{}, err
	}
	defer release()
	return usecase.InTx(ctx, s.Core, "region_reconcile", locks, false, func(ctx context.Context, tx storage.Tx) (Reconciled, error) {
		out := Reconciled{Pool: p.Ref(), Region: c.Region}
		own, err := ownOf(ctx, tx, p)
		if err != nil {
			return out, err
		}
		free, rows, err := allRows(ctx, tx, p, c)
		if err != nil {
			return out, err
		}
		var ch storage.Changes
		all, now := heldBlocks(rows), tx.Now()
		if rows, out.Forgotten, err = o.forget(ctx, tx, forgetting{pool: p, own: own, holders: holders, at: now}, rows, &ch); err != nil {
			return out, err
		}
		held := heldBlocks(rows)
		out.Stale, out.Held, out.Missing = minus(free, own), minus(held, own), minus(own, slices.Concat(free, held))
		out.Open = len(out.Held) == 0 && (o.Repair || len(out.Stale)+len(out.Missing)+len(out.Forgotten) == 0)
		if !out.Open { // then end no holds either
			out.Forgotten, out.Held = nil, minus(all, own)
			return out, nil
		}
		record, beside, err := tx.StockEpoch(ctx, p.UID, c.Region)
		if err != nil {
			return out, err
		}
		ch.EpochReset = &storage.EpochReset{PoolID: p.UID, Region: c.Region, Record: record, Rows: beside, Now: epoch}
		if len(out.Stale) > 0 {
			// A row may be partly in the region's blocks, so write all rows again.
			kept, err := mergedRows(c, minus(free, out.Stale))
			if err != nil {
				return out, err
			}
			ch.Free = []storage.FreeChange{{Container: c, Delete: carve.Subtract(free, kept), Insert: carve.Subtract(kept, free)}}
			free = kept
		}
		for _, b := range out.Missing {
			ch.AllocationInsert = append(ch.AllocationInsert, ipam.Allocation{
				ID: ipam.DerivedID(epoch, b.String()), Region: c.Region, ProjectID: p.ProjectID, Project: p.Project, ContainerID: p.UID, Pool: p.Ref(),
				Block: b, Purpose: ipam.PurposeClaim, Phase: ipam.PhaseCoolingDown, CoolUntil: now.Add(lostFor), Since: now,
				Revision: epoch, CreatedAt: now, UpdatedAt: now, CreatedBy: StockKeeper, ReclaimPolicy: ipam.ReclaimDelete,
			})
		}
		ch.EpochReset.Stock = stockOf(free, slices.Concat(rows, ch.AllocationInsert))
		return out, tx.Write(ctx, ch)
	})
}

// stockOf counts the free and the cooling blocks by length.
func stockOf(free []netip.Prefix, held []ipam.Allocation) ipam.Stock {
	s := ipam.Stock{Free: map[int]int64{}, Cooling: map[int]int64{}}
	for _, b := range free {
		s.Free[b.Bits()]++
	}
	for _, a := range held {
		if a.Phase == ipam.PhaseCoolingDown {
			s.Cooling[a.Block.Bits()]++
		}
	}
	return s
}

// StockKeeper is the subject in this package's events.
const StockKeeper = "carve:stocks"

// ownOf returns the pool's blocks that belong to a region according to the loan records. For the home region, these are all blocks that are not lent.
func ownOf(ctx context.Context, tx storage.Tx, p ipam.Pool) ([]netip.Prefix, error) {
	var lent, own []netip.Prefix
	for _, r := range OthersOf(p) {
		for after := (netip.Addr{}); ; {
			loans, err := tx.LoansTo(ctx, p.UID, r, after, servedPage)
			if err != nil {
				return nil, err
			}
			for _, l := range loans {
				after = l.Block.Addr()
				if lent = append(lent, l.Block); r == p.UsedIn {
					own = append(own, l.Block)
				}
			}
			if len(loans) < servedPage {
				break
			}
		}
	}
	if p.UsedIn == "" {
		return minus([]netip.Prefix{p.Block}, lent), nil
	}
	return own, nil
}

func allRows(ctx context.Context, tx storage.Tx, p ipam.Pool, c storage.Container) (free []netip.Prefix, held []ipam.Allocation, err error) {
	for after := (netip.Prefix{}); ; {
		page, err := tx.FreeList(ctx, c, p.Block.Addr().BitLen(), after, servedPage)
		if err != nil {
			return nil, nil, err
		}
		free = append(free, page...)
		if len(page) < servedPage {
			break
		}
		after = page[len(page)-1]
	}
	for after := (netip.Addr{}); ; {
		page, err := tx.AllocationListInPool(ctx, c, p.Block, after, servedPage)
		if err != nil {
			return nil, nil, err
		}
		if held = append(held, page...); len(page) < servedPage {
			return free, held, nil
		}
		after = page[len(page)-1].Block.Addr()
	}
}

// minus returns the addresses that are in blocks and not in others, as blocks. It sorts both arguments.
func minus(blocks, others []netip.Prefix) (out []netip.Prefix) {
	slices.SortFunc(blocks, freespace.Compare)
	slices.SortFunc(others, freespace.Compare)
	next := 0
	for _, b := range blocks {
		from, end := b.Addr(), freespace.Last(b)
		for next < len(others) && freespace.Last(others[next]).Less(from) {
			next++
		}
		for n := next; n < len(others) && from.IsValid() && others[n].Addr().Compare(end) <= 0; n++ {
			if first := others[n].Addr(); from.Less(first) {
				out = append(out, freespace.FromRange(from, first.Prev())...)
			}
			if last := freespace.Last(others[n]); !last.Less(from) {
				if from = last.Next(); last.Compare(end) >= 0 {
					from = netip.Addr{}
				}
			}
		}
		if from.IsValid() {
			out = append(out, freespace.FromRange(from, end)...)
		}
	}
	return out
}

// mergedRows returns blocks as free rows. It merges buddies.
func mergedRows(c storage.Container, blocks []netip.Prefix) ([]netip.Prefix, error) {
	_, insert := freespace.Merge(blocks, nil, c.Block)
	if freespace.Total(insert...).Cmp(freespace.Total(blocks...)) != 0 {
		return nil, errors.New("the merged blocks do not add up to the same space")
	}
	return insert, nil
}
