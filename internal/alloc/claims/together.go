package claims

import (
	"context"
	"errors"
	"slices"
	"sync/atomic"

	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// together serves batches that are one request: all of it is done, in one transaction, or nothing.
type together struct {
	*usecase.Core

	loans  loans
	shares *resolve.Shares
}

// bind binds all orders of a batch, or says why one of them cannot be. What it lacks is borrowed from other regions.
func (s *together) bind(ctx context.Context, b *batch) ([]ipam.Claim, error) {
	return s.bindBeyond(ctx, b, -1)
}

// bindBeyond gives up when it comes no further than a place in the batch.
func (s *together) bindBeyond(ctx context.Context, b *batch, furthest int) ([]ipam.Claim, error) {
	return usecase.Rounds(func(int) (bound []ipam.Claim, again bool, err error) {
		if err := s.loans.gather(ctx, b); err != nil {
			return nil, false, err
		}
		bound, err = usecase.Placed(ctx, s.Core, func() ([]ipam.Claim, error) { return s.run(ctx, b) })
		lack, lacking := errors.AsType[*refusals.Lacking](err)
		if again, err = s.loans.mend(ctx, b, err); again && lacking && lack.Item > furthest {
			bound, err = s.bindBeyond(ctx, b, lack.Item)
			again = false
		}
		return bound, again, err
	})
}

// run is the transaction of a batch whose pools are chosen.
func (s *together) run(ctx context.Context, b *batch) ([]ipam.Claim, error) {
	locks, onlyLooks := b.locks(), b.dryRun() && len(s.Store.KnownRegions()) <= 1
	if onlyLooks { // it reads one moment of the pools, and keeps nobody from them
		locks = storage.Locks{}
	} else {
		release, err := s.Lanes.AcquireFor(ctx, b.turn, locks.Alone...)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	bound, err := usecase.Settled(ctx, s.Core, b.op, locks, b.dryRun(), func(ctx context.Context, tx storage.Tx) ([]ipam.Claim, error) {
		bound, ch, err := plan(ctx, tx, b, s.Region)
		switch {
		case err != nil:
			return nil, err
		case onlyLooks:
			return bound, b.free(ctx, tx)
		default:
			return bound, tx.Write(ctx, ch)
		}
	}, func(ctx context.Context) ([]ipam.Claim, bool, error) {
		return s.readBack(ctx, b)
	})
	if usecase.NameTaken(err) && b.opensScope() {
		return nil, &storage.Conflict{} // names of claims are told as conflicts: a scope's pool has been made meanwhile, so look again
	}
	if err == nil && !b.dryRun() {
		s.took(b, bound)
	}
	return bound, err
}

// locks names the pools that are tried first, and the scopes that are opened, whose turns the batch takes; others may be opened on the way, where the
// transaction waits. Besides, its project must stay while it is bound, and the classes that it carves pools for.
func (b *batch) locks() storage.Locks {
	locks := storage.Locks{Shared: []ipam.ID{b.key().ID}, InTurn: true}
	for _, c := range b.choices {
		if len(c.room) > 0 {
			locks.Alone = append(locks.Alone, storage.PoolContainer(c.room[0]).Lock())
		}
		if c.First != nil {
			locks.Alone = append(locks.Alone, c.First.ID())
			locks.Shared = append(locks.Shared, c.First.Class.UID)
		}
	}
	return locks
}

// plan is what the batch comes to, and what is to be written for it: from few free rows, if they will do.
func plan(ctx context.Context, tx storage.Tx, b *batch, region string) ([]ipam.Claim, storage.Changes, error) {
	a := newAttempt(tx, b, region)
	err := a.serveAll(ctx)
	if errors.Is(err, errFewRead) {
		a = newAttempt(tx, b, region)
		a.whole = true
		err = a.serveAll(ctx)
	}
	if err != nil {
		return nil, storage.Changes{}, err
	}
	ch, err := a.changes()
	return a.bound, ch, err
}

// free looks whether the names of the batch are free, as writing would find out. Rows that are written in a dry run are locked
// until they are taken back: others who claim in the pool would wait for that.
func (b *batch) free(ctx context.Context, tx storage.Tx) error {
	names := make([]storage.NameRef, len(b.orders))
	for i, o := range b.orders {
		names[i] = o.name()
	}
	taken, _, err := tx.Taken(ctx, names, nil) // a dry run stores no key
	if err != nil {
		return err
	}
	names = slices.DeleteFunc(names, func(n storage.NameRef) bool { return !taken[n] })
	if len(names) > 0 {
		return &storage.Conflict{ClaimRefs: names}
	}
	return nil
}

// took moves on the shares of the pools that the batch has taken from. Of several spaces, another one may cover the same addresses: a share need not be
// exact.
func (s *together) took(b *batch, bound []ipam.Claim) {
	for i, o := range b.orders {
		c := o.choice
		for _, p := range c.room {
			switch {
			case c.First == nil && p.UID == bound[i].PoolID:
				s.shares.Took(p, bound[i].Block.Bits())
			case c.First != nil && c.items[0] == i && p.Block.Contains(bound[i].Block.Addr()):
				s.shares.Took(p, *c.First.Class.Spec.PoolPrefixLength)
			}
		}
	}
}

// readBack finds out whether the batch was committed: all of it or none, so that one claim found by its id is proof. A claim
// of a committed batch that is gone by now is answered as it was prepared, without a block.
func (s *together) readBack(ctx context.Context, b *batch) ([]ipam.Claim, bool, error) {
	out := make([]ipam.Claim, len(b.orders))
	var committed atomic.Bool
	g, ctx := errgroup.WithContext(ctx)
	g.SetLimit(readBackParallel)
	for i, o := range b.orders {
		g.Go(func() error {
			got, found, err := storage.IgnoreNotFound(s.Store.ClaimGet(ctx, o.key, o.claim.Name))
			if err != nil {
				return err
			}
			if out[i] = o.claim; found && got.UID == o.claim.UID {
				out[i] = got
				committed.Store(true)
			}
			return nil
		})
	}
	err := g.Wait()
	return out, committed.Load(), err
}

// readBackParallel is how many claims of a batch are read at once.
const readBackParallel = 8
