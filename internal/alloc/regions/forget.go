package regions

import (
	"context"
	"fmt"
	"net/netip"
	"slices"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Reconciling contains an operator's options for Reconcile.
type Reconciling struct {
	Repair bool
	Forget []netip.Prefix // only with Repair: end the holds in these blocks that no longer belong to the region, because another region holds the blocks
}

// Forgotten is a hold that Reconcile ended because another region holds its block. The block did not become free.
type Forgotten struct {
	Block  netip.Prefix
	Holder ipam.Ref // the claim that held the block
}

// forgetting contains the facts that are necessary to end holds in one pool and region.
type forgetting struct {
	pool    ipam.Pool
	own     []netip.Prefix // the region's blocks in the pool, according to the loan record
	holders []ipam.ID      // the projects with locked quotas
	at      usecase.Timestamp
}

// holders returns the projects whose holds may end. The transaction locks these projects.
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

// forget plans to end the holds that the operator has named and that do not belong to the region. rest contains the other rows.
func (o Reconciling) forget(ctx context.Context, tx storage.Tx, in forgetting, rows []ipam.Allocation, ch *storage.Changes) (rest []ipam.Allocation, done []Forgotten, err error) {
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
		named := slices.ContainsFunc(within, func(b netip.Prefix) bool { return freespace.Contains(b, a.Block) })
		if !named || len(minus([]netip.Prefix{a.Block}, slices.Clone(in.own))) == 0 || a.Purpose != ipam.PurposeClaim || !slices.Contains(in.holders, a.HolderProjectID) {
			rest = append(rest, a)
			continue
		}
		if err := in.end(ctx, tx, a, l, ch); err != nil {
			return nil, nil, fmt.Errorf("%s: %w", a.Block, err)
		}
		done = append(done, Forgotten{Block: a.Block, Holder: a.Holder})
	}
	l.AddTo(ch)
	return rest, done, nil
}

// end plans to end a hold and its claim, if it has one. It does not free the block.
func (in forgetting) end(ctx context.Context, tx storage.Tx, a ipam.Allocation, l *quota.Ledger, ch *storage.Changes) error {
	e := ipam.Event{ID: ipam.NewTimeID(in.at), ProjectID: a.HolderProjectID, At: in.at, Subject: StockKeeper, Kind: trail.KindAllocation, Name: a.ID.String()}
	usage := ipam.Usage{}
	switch a.Phase {
	case ipam.PhaseBound:
		// Find the claim by its block, not by its name. After the region was restored, another region may have a claim with the same name.
		key := storage.ProjectKey{ID: a.HolderProjectID, Name: a.Holder.Project}
		found, err := tx.ClaimListInPool(ctx, key, storage.PoolContainer(in.pool), a.Block, netip.Addr{}, 1)
		if err != nil {
			return err
		}
		if len(found) == 0 {
			return ipam.Errorf(ipam.CodeNotFound, "Claim %s was not found.", a.Holder)
		}
		c := found[0]
		usage = ipam.Usage{Claims: 1, Addresses: freespace.Size(a.Block)}
		e.Kind = trail.KindClaim
		if e, err = trail.ClaimEvent(e, &c, nil); err != nil {
			return err
		}
		ch.ClaimDelete = append(ch.ClaimDelete, c)
	default:
		ch.AllocationDelete = append(ch.AllocationDelete, a)
		if a.Phase == ipam.PhaseRetained {
			usage = ipam.Usage{Addresses: freespace.Size(a.Block)}
		}
		var err error
		if e, err = trail.Effected(e, trail.RecordedAllocation(a), nil); err != nil {
			return err
		}
	}
	// A hold's history already ended when its cool-down began.
	if a.Phase != ipam.PhaseCoolingDown {
		ended := trail.EndedHold(a, in.at)
		ended.ID = ipam.DerivedID(a.Revision, "forgotten") // a separate id, because the history may be newer than these rows and may already contain this hold's end
		ch.History = append(ch.History, ended)
		l.Give(a.HolderProjectID, quota.AllocationSubject(a), usage)
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
