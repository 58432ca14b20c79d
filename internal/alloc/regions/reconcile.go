package regions

import (
	"context"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Reconciled is what was found of a pool in a region whose rows were of another time than the record of its loans.
type Reconciled struct {
	Pool    ipam.Ref
	Region  string
	Stale   []netip.Prefix // free in the region's rows, and not the region's any more
	Missing []netip.Prefix // the region's, and in none of its rows
	Held    []netip.Prefix // held in the region's rows, and not the region's any more: somebody else may hold it too
	Open    bool           // the region draws from the pool again

	Forgotten []Forgotten // what held blocks of Held, and does not any more
}

// lostFor is how long addresses that a region has lost the rows of are kept from everybody: somebody may use them without our knowing.
const lostFor = 30 * 24 * time.Hour

// reconciler makes a region's rows agree with the record of what it was lent.
type reconciler struct{ *usecase.Core }

// Reconcile looks at every pool that a region was fenced off from (docs/adr/0021), and opens those whose rows add up to what the region was lent. With
// Repair it makes them add up where that cannot give an address twice: what is free and not the region's is deleted, and what is the region's and in none of its
// rows is kept from everybody for 30 days, as a block that cools down; deleting its allocation ends that. Where something is held that is not the
// region's, it stays fenced off until those who know which of two holders has it say by Forget that it is not this one.
//
// It is for operators, and is not authorised.
func (s *reconciler) Reconcile(ctx context.Context, o Reconciling) (found []Reconciled, err error) {
	for after := (ipam.ID{}); ; {
		pools, err := s.Store.PoolsServing(ctx, s.Region, after, servedPage)
		if err != nil {
			return found, err
		}
		for _, p := range pools {
			after = p.UID
			err := Fenced(ctx, s.Store, p.In(s.Region))
			if err == nil {
				continue
			}
			if !ipam.IsCode(err, ipam.CodeUnavailable) {
				return found, err
			}
			r, err := s.reconcilePool(ctx, p.In(s.Region), o)
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
	locks := storage.Locks{Alone: storage.PoolLocks(p), Shared: holders}
	release, err := s.Lanes.Acquire(ctx, locks.Alone...)
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
		if !out.Open { // nothing is forgotten either
			out.Forgotten, out.Held = nil, minus(all, own)
			return out, nil
		}
		record, beside, err := tx.StockEpoch(ctx, p.UID, c.Region)
		if err != nil {
			return out, err
		}
		ch.EpochReset = &storage.EpochReset{PoolID: p.UID, Region: c.Region, Record: record, Rows: beside, Now: epoch}
		if len(out.Stale) > 0 {
			// Rows may lie partly in what is the region's: they are all written anew.
			kept, err := merged(c, minus(free, out.Stale))
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

// stockOf counts rows.
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

// StockKeeper is the subject that looks after the stocks of regions.
const StockKeeper = "carve:stocks"

// ownOf is what a region has of a pool, by the record of loans: what it was lent, or at home all that is not lent.
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
				if lent = append(lent, l.Block); r == p.At {
					own = append(own, l.Block)
				}
			}
			if len(loans) < servedPage {
				break
			}
		}
	}
	if p.At == "" {
		return minus([]netip.Prefix{p.Block}, lent), nil
	}
	return own, nil
}

// allRows is all that a container's rows say.
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

// minus is what blocks cover and others do not, in blocks. It sorts both.
func minus(blocks, others []netip.Prefix) (out []netip.Prefix) {
	slices.SortFunc(blocks, space.Compare)
	slices.SortFunc(others, space.Compare)
	next := 0
	for _, b := range blocks {
		from, end := b.Addr(), space.Last(b)
		for next < len(others) && space.Last(others[next]).Less(from) {
			next++
		}
		for n := next; n < len(others) && from.IsValid() && others[n].Addr().Compare(end) <= 0; n++ {
			if first := others[n].Addr(); from.Less(first) {
				out = append(out, space.FromRange(from, first.Prev())...)
			}
			if last := space.Last(others[n]); !last.Less(from) {
				if from = last.Next(); last.Compare(end) >= 0 {
					from = netip.Addr{}
				}
			}
		}
		if from.IsValid() {
			out = append(out, space.FromRange(from, end)...)
		}
	}
	return out
}

// merged is blocks as free rows: buddies are one.
func merged(c storage.Container, blocks []netip.Prefix) ([]netip.Prefix, error) {
	_, insert := space.Merge(blocks, nil, c.Block)
	if space.Total(insert...).Cmp(space.Total(blocks...)) != 0 {
		return nil, errors.New("merging does not add up")
	}
	return insert, nil
}
