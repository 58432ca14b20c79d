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

// atomicBatch serves batches that belong to one request. It binds all the batch's claims in one transaction, or none.
type atomicBatch struct {
	*usecase.Core

	borrower batchBorrower
	shares   *resolve.Shares
}

// bind binds all the batch's claims, or returns the first refusal. If blocks are missing, it borrows them from other regions.
func (s *atomicBatch) bind(ctx context.Context, b *batch) ([]ipam.Claim, error) {
	return s.bindWithRegions(ctx, b, -1)
}

// bindWithRegions retries the batch while other regions can supply missing blocks. maxReached is the highest index that an earlier attempt has
// reached. When an attempt reaches a higher index, the rounds start again from 0, because the batch has made progress.
func (s *atomicBatch) bindWithRegions(ctx context.Context, b *batch, maxReached int) ([]ipam.Claim, error) {
	return usecase.Rounds(func(int) (bound []ipam.Claim, again bool, err error) {
		if err := s.borrower.locateExact(ctx, b); err != nil {
			return nil, false, err
		}
		bound, err = usecase.RetryUnlocked(ctx, s.Core, func() ([]ipam.Claim, error) { return s.run(ctx, b) })
		lack, lacking := errors.AsType[*refusals.Lacking](err)
		if again, err = s.borrower.borrowMissing(ctx, b, err); again && lacking && lack.Item > maxReached {
			bound, err = s.bindWithRegions(ctx, b, lack.Item)
			again = false
		}
		return bound, again, err
	})
}

// run runs the transaction for a batch. The pools are already chosen.
func (s *atomicBatch) run(ctx context.Context, b *batch) ([]ipam.Claim, error) {
	locks, onlyLooks := b.locks(), b.dryRun() && len(s.Store.KnownRegions()) <= 1
	if onlyLooks { // a dry run reads a snapshot of the pools, and locks no pool
		locks = storage.Locks{}
	} else {
		release, err := s.Locks.AcquireFor(ctx, b.lockKind, locks.Exclusive...)
		if err != nil {
			return nil, err
		}
		defer release()
	}
	bound, err := usecase.RunWithReadBack(ctx, s.Core, b.op, locks, b.dryRun(), func(ctx context.Context, tx storage.Tx) ([]ipam.Claim, error) {
		bound, ch, err := plan(ctx, tx, b, s.Region)
		switch {
		case err != nil:
			return nil, err
		case onlyLooks:
			return bound, b.checkNames(ctx, tx)
		default:
			return bound, tx.Write(ctx, ch)
		}
	}, func(ctx context.Context) ([]ipam.Claim, bool, error) {
		return s.readBack(ctx, b)
	})
	if usecase.NameTaken(err) && b.opensScope() {
		// If a claim's name is taken, the write returns a conflict that lists the name. So this error is about a scope pool's name. Another request
		// has carved that pool, and the look-up must be repeated.
		return nil, &storage.Conflict{}
	}
	if err == nil && !b.dryRun() {
		s.updateShares(b, bound)
	}
	return bound, err
}

// locks returns the batch's locks. A choice contains the pools to try for all claims with the same spec. Each choice's first pool and the new scopes
// are locked exclusively. If the transaction opens another pool, it waits for that pool's lock. The project and the classes that carve pools get
// shared locks, which keep other transactions from deleting them.
func (b *batch) locks() storage.Locks {
	locks := storage.Locks{Shared: []ipam.ID{b.key().ID}, TryShared: true}
	for _, c := range b.choices {
		if len(c.candidates) > 0 {
			locks.Exclusive = append(locks.Exclusive, storage.PoolContainer(c.candidates[0]).Lock())
		}
		if c.First != nil {
			locks.Exclusive = append(locks.Exclusive, c.First.ID())
			locks.Shared = append(locks.Shared, c.First.Class.UID)
		}
	}
	return locks
}

// plan returns the bound claims and the changes to write. It first reads only a few free rows. If these rows are not enough for a decision, it reads
// all rows.
func plan(ctx context.Context, tx storage.Tx, b *batch, region string) ([]ipam.Claim, storage.Changes, error) {
	a := newAttempt(tx, b, region)
	err := a.serveAll(ctx)
	if errors.Is(err, errFewRead) {
		a = newAttempt(tx, b, region)
		a.readAll = true
		err = a.serveAll(ctx)
	}
	if err != nil {
		return nil, storage.Changes{}, err
	}
	ch, err := a.changes()
	return a.bound, ch, err
}

// checkNames returns a conflict if one of the batch's names is in use, as the write would do. A dry run must not write. The written rows would stay
// locked until the rollback, and other claims in the pool would wait.
func (b *batch) checkNames(ctx context.Context, tx storage.Tx) error {
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

// updateShares updates the cached share of used addresses for each pool that served the batch. A share may be inexact, because pools in several
// spaces may cover the same addresses.
func (s *atomicBatch) updateShares(b *batch, bound []ipam.Claim) {
	for i, o := range b.orders {
		c := o.choice
		for _, p := range c.candidates {
			switch {
			case c.First == nil && p.UID == bound[i].PoolID:
				s.shares.Add(p, bound[i].Block.Bits())
			case c.First != nil && c.items[0] == i && p.Block.Contains(bound[i].Block.Addr()):
				s.shares.Add(p, *c.First.Class.Spec.PoolPrefixLength)
			}
		}
	}
}

// readBack reports whether the batch was committed. A batch commits as a whole or not at all. So one claim that is found by its id proves the commit.
// If a claim in a committed batch is already gone, readBack returns that claim as it was prepared, without a block.
func (s *atomicBatch) readBack(ctx context.Context, b *batch) ([]ipam.Claim, bool, error) {
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

const readBackParallel = 8
