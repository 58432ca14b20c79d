package regions

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/carve"
	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// move is a transaction that moves a block between a pool's home region and another region that the pool serves. It carves the block from one region,
// releases it to the other region, and updates the loan records. The carving and the release are the same as for a claim.
type move struct {
	s      *mover
	pool   ipam.Pool  // the pool as the caller read it
	region string     // the other region, not the home region
	epochs [2]ipam.ID // the new versions for the rows in the home region and the other region
}

// moveTx is a move in its transaction.
type moveTx struct {
	move
	tx         storage.Tx
	pool       ipam.Pool
	now        time.Time
	home, away storage.Container
	records    [2]ipam.PoolRegion // the records for the home region and the other region
}

// mover lends and recalls blocks.
type mover struct {
	*usecase.Core

	runway time.Duration // how long a loan to a region should last
}

// move runs a transaction that moves a block, and reports whether it moved one. A COMMIT with an unknown result is not an error here. The caller
// searches for room again. If that COMMIT takes effect late, it conflicts with the versions that a later move has changed.
func (s *mover) move(ctx context.Context, op string, p ipam.Pool, region string, fn func(context.Context, *moveTx) (storage.Changes, error)) (bool, error) {
	m := move{s: s, pool: p, region: region, epochs: [2]ipam.ID{ipam.NewID(), ipam.NewID()}}
	both := []storage.Container{storage.PoolContainer(storage.Placed(p, p.Region)), storage.PoolContainer(storage.Placed(p, region))}
	// Do not take this process's lock on the other region. The claims in that region do not need the home region, and would wait while the home region
	// is unreachable.
	release, err := s.Locks.Acquire(ctx, both[0].Lock())
	if err != nil {
		return false, err
	}
	defer release()
	moved, err := usecase.InTx(ctx, s.Core, op, storage.Locks{Exclusive: []ipam.ID{both[0].Lock(), both[1].Lock()}, Busy: both}, false, func(ctx context.Context, tx storage.Tx) (bool, error) {
		t, err := m.open(ctx, tx)
		if err != nil || t == nil {
			return false, err
		}
		ch, err := fn(ctx, t)
		if err != nil || len(ch.Free) == 0 {
			return false, err
		}
		return true, tx.Write(ctx, ch)
	})
	s.loanMoved(ctx, op, moved, err)
	if ipam.IsCode(err, ipam.CodeOutcomeUnknown) {
		return false, nil
	}
	return moved, err
}

// open reads the facts for a move. If the pool is gone or does not serve the region any more, it returns nil.
func (m move) open(ctx context.Context, tx storage.Tx) (*moveTx, error) {
	p, found, err := storage.IgnoreNotFound(tx.PoolGetByID(ctx, m.pool.UID))
	if err != nil || !found || !p.MultiRegion() || !p.Serves(m.region) {
		return nil, err
	}
	t := &moveTx{move: m, tx: tx, pool: p, now: tx.Now(), home: storage.PoolContainer(storage.Placed(p, p.Region)), away: storage.PoolContainer(storage.Placed(p, m.region))}
	records, err := tx.PoolRegions(ctx, []ipam.ID{p.UID})
	if err != nil {
		return nil, err
	}
	for _, r := range records[p.UID] {
		switch r.Region {
		case p.Region:
			t.records[0] = r
		case m.region:
			t.records[1] = r
		}
	}
	for i, at := range []ipam.Pool{storage.Placed(p, p.Region), storage.Placed(p, m.region)} {
		record, rows, err := tx.StockEpoch(ctx, p.UID, t.records[i].Region)
		if err == nil {
			err = Fence(storage.GroupFacts{Pool: at, Fenced: t.records[i].Epoch.IsZero() || record != rows})
		}
		if err != nil {
			return nil, err
		}
	}
	return t, nil
}

// moveBlock carves a block from one container and releases it to the other. It returns the changes to the free blocks in both containers. If the
// container from has no room, it returns false.
func (t *moveTx) moveBlock(ctx context.Context, from, to storage.Container, wish freespace.BlockRequest) (netip.Prefix, []storage.FreeChange, bool, error) {
	free, err := t.tx.FreeRead(ctx, from, carve.Reads(from, nil, []freespace.BlockRequest{wish}))
	if err != nil {
		return netip.Prefix{}, nil, false, err
	}
	source, err := carve.NewCarver(from, nil, free)
	if err != nil {
		return netip.Prefix{}, nil, false, err
	}
	block, ok := source.Take(wish)
	if !ok {
		return netip.Prefix{}, nil, false, nil
	}
	given := []netip.Prefix{block}
	if free, err = t.tx.FreeRead(ctx, to, carve.Reads(to, given, nil)); err != nil {
		return block, nil, false, err
	}
	sink, err := carve.NewCarver(to, given, free)
	if err != nil {
		return block, nil, false, err
	}
	return block, []storage.FreeChange{source.Change(), sink.Change()}, true, nil
}

// newRecords returns both regions' records with their new versions. change changes the other region's record.
func (t *moveTx) newRecords(change func(*ipam.PoolRegion)) (out []storage.PoolRegionChange) {
	for i, r := range t.records {
		next := r
		next.Epoch = t.epochs[i]
		if i == 1 {
			change(&next)
		}
		out = append(out, storage.PoolRegionChange{PoolID: t.pool.UID, Was: r.Epoch, Now: next})
	}
	return out
}
