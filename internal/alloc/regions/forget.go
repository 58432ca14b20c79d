package regions

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Reconciling is what an operator lets Reconcile do.
type Reconciling struct {
	Repair bool
	Forget []netip.Prefix // with Repair: what is held in these blocks, and not the region's any more, is held by others, and here by nobody
}

// Forgotten is a hold that was given up because somebody else has its block: nothing became free by it.
type Forgotten struct {
	Block  netip.Prefix
	Holder ipam.Ref // a claim
}

// forgetting is the scene of what is forgotten in one pool of a region.
type forgetting struct {
	pool    ipam.Pool
	own     []netip.Prefix // what the region has of the pool, by the record
	holders []ipam.ID      // projects whose quotas are locked
	at      usecase.Timestamp
}

// holders is the projects whose holds may be forgotten, for the locks of the transaction.
func (o Reconciling) holders(ctx context.Context, read storage.Reader, p ipam.Pool, c storage.Container) (ids []ipam.ID, err error) {
	for _, within := range o.within(p) {
		for after := (netip.Addr{}); ; {
			page, err := read.AllocationListInPool(ctx, c, within, after, servedPage)
			if err != nil {
				return nil, err
			}
			for _, a := range page {
				if after = a.Block.Addr(); !slices.Contains(ids, a.HolderProjectID) {
					ids = append(ids, a.HolderProjectID)
				}
			}
			if len(page) < servedPage {
				break
			}
		}
	}
	return ids, nil
}

func (o Reconciling) within(p ipam.Pool) (blocks []netip.Prefix) {
	for _, b := range o.Forget {
		if o.Repair && b.IsValid() && b.Overlaps(p.Block) {
			blocks = append(blocks, b)
		}
	}
	return blocks
}

// forget plans the end of holds that are not the region's and that the operator has named. It answers the rows that are left.
func (o Reconciling) forget(ctx context.Context, tx storage.Tx, in forgetting, rows []ipam.Allocation, ch *storage.Changes) (left []ipam.Allocation, done []Forgotten, err error) {
	within := o.within(in.pool)
	if len(within) == 0 {
		return rows, nil, nil
	}
	quotas, err := tx.QuotaParts(ctx, in.holders, quota.ShardOf(in.pool.UID))
	if err != nil {
		return nil, nil, err
	}
	l := quota.NewLedger(tx, quotas)
	for _, a := range rows {
		named := slices.ContainsFunc(within, func(b netip.Prefix) bool { return space.Contains(b, a.Block) })
		if !named || len(minus([]netip.Prefix{a.Block}, slices.Clone(in.own))) == 0 || a.Purpose != ipam.PurposeClaim || !slices.Contains(in.holders, a.HolderProjectID) {
			left = append(left, a)
			continue
		}
		if err := in.end(ctx, tx, a, l, ch); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", a.Block, err)
		}
		done = append(done, Forgotten{Block: a.Block, Holder: a.Holder})
	}
	l.Into(ch)
	return left, done, nil
}

// end is the end of one hold, with the claim that has it, if one still has. Its block goes to nobody.
func (in forgetting) end(ctx context.Context, tx storage.Tx, a ipam.Allocation, l *quota.Ledger, ch *storage.Changes) error {
	e := ipam.Event{ID: ipam.NewTimeID(in.at), ProjectID: a.HolderProjectID, At: in.at, Subject: StockKeeper, Kind: trail.KindAllocation, Name: a.ID.String()}
	usage := ipam.Usage{}
	switch a.Phase {
	case ipam.PhaseBound:
		// By its place: of a region that was restored, a claim of the name may be in another one by now.
		key := storage.ProjectKey{ID: a.HolderProjectID, Name: a.Holder.Project}
		found, err := tx.ClaimListInPool(ctx, key, storage.PoolContainer(in.pool), a.Block, netip.Addr{}, 1)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return ipam.Errorf(ipam.CodeNotFound, "Claim %s was not found.", a.Holder)
		}
		c := found[0]
		usage = ipam.Usage{Claims: 1, Addresses: space.Size(a.Block)}
		e.Kind = trail.KindClaim
		if e, err = trail.ClaimEvent(e, &c, nil); err != nil {
			return err
		}
		ch.ClaimDelete = append(ch.ClaimDelete, c)
	default:
		ch.AllocationDelete = append(ch.AllocationDelete, a)
		if a.Phase == ipam.PhaseRetained {
			usage = ipam.Usage{Addresses: space.Size(a.Block)}
		}
		var err error
		if e, err = trail.Effected(e, trail.RecordedAllocation(a), nil); err != nil {
			return err
		}
	}
	if a.Phase != ipam.PhaseCoolingDown { // the history of a hold ended when it began to cool down
		ended := trail.EndedHold(a, in.at)
		ended.ID = ipam.DerivedID(a.Revision, "forgotten") // that it ended before may be known: history can be younger than these rows
		ch.History = append(ch.History, ended)
		l.Give(a.HolderProjectID, quota.AllocationPlace(a), usage)
	}
	ch.Events = append(ch.Events, e)
	return nil
}

func heldBlocks(rows []ipam.Allocation) (blocks []netip.Prefix) {
	for _, a := range rows {
		blocks = append(blocks, a.Block)
	}
	return blocks
}
