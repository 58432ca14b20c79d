package pools

import (
	"context"
	"errors"
	"sync"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// sweeper removes the pools of scopes that nobody uses.
type sweeper struct {
	*usecase.Core

	sweeping sync.Mutex
	swept    ipam.ID // the scoped pool that was looked at last; guarded by sweeping
}

// SweepScopes looks at scoped pools, limit at a time and so many pages at most, where the last call has stopped. One that is found empty is
// marked with the time; one that has been empty for as long as its class keeps such pools goes back to the pool that it was carved from. A claim
// clears the mark in its own transaction, so that a pool is never taken for empty by what had been seen earlier. What is cooling down in a pool
// keeps it. It can run on several servers at once, and what fails for one pool does not keep the others waiting.
func (s *sweeper) SweepScopes(ctx context.Context, limit, pages int) (marked, removed int, err error) {
	s.sweeping.Lock()
	defer s.sweeping.Unlock()
	var errs []error
	for range pages {
		pools, err := s.Store.ScopedPoolList(ctx, s.swept, limit)
		if err != nil {
			return marked, removed, errors.Join(append(errs, err)...)
		}
		for _, p := range pools {
			s.swept = p.Pool.UID
			done, err := s.sweepScope(ctx, p)
			switch {
			case err != nil:
				errs = append(errs, err)
			case !done:
			case p.Pool.EmptySince.IsZero():
				marked++
			default:
				removed++
			}
		}
		if len(pools) < limit { // from the beginning next time
			s.swept = ipam.ID{}
			break
		}
	}
	return marked, removed, errors.Join(errs...)
}

// sweepScope marks or removes one scoped pool, if it is time; done reports whether it did.
func (s *sweeper) sweepScope(ctx context.Context, seen storage.ScopedPool) (done bool, err error) {
	p, now := seen.Pool, s.Now()
	switch {
	case seen.Held:
		return false, nil
	case p.EmptySince.IsZero():
		return s.emptyScope(ctx, p, "scope_mark", storage.Locks{Alone: []ipam.ID{p.UID}}, func(ctx context.Context, tx storage.Tx) (storage.Changes, error) {
			return storage.Changes{ClassChanges: storage.ClassChanges{ScopedMarks: []storage.ScopedMark{{PoolID: p.UID, Now: now}}}}, stillEmpty(ctx, tx, p)
		})
	case seen.TTL == nil || now.Before(p.EmptySince.Add(*seen.TTL)):
		return false, nil
	default:
		event := KeeperEvent(p, now)
		locks, err := uncarveLocks(ctx, s.Store, p)
		if ipam.IsCode(err, ipam.CodeNotFound) {
			return false, nil // it is gone
		}
		if err != nil {
			return false, err
		}
		return s.emptyScope(ctx, p, "scope_remove", locks, func(ctx context.Context, tx storage.Tx) (storage.Changes, error) {
			return uncarvePool(ctx, tx, p, usecase.Match{}, event)
		})
	}
}

// emptyScope changes a scoped pool that still is as it was seen. When it is not, somebody has claimed from it or removed it meanwhile, and
// that is as it should be: nothing is done.
func (s *sweeper) emptyScope(ctx context.Context, seen ipam.Pool, op string, locks storage.Locks, plan func(context.Context, storage.Tx) (storage.Changes, error)) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	release, err := s.Lanes.Acquire(ctx, locks.Alone...)
	if err != nil {
		return false, err
	}
	defer release()
	done, err := usecase.InTx(ctx, s.Core, op, locks, false, func(ctx context.Context, tx storage.Tx) (bool, error) {
		p, err := tx.PoolGetByID(ctx, seen.UID)
		if err != nil || !p.EmptySince.Equal(seen.EmptySince) {
			return false, err
		}
		ch, err := plan(ctx, tx)
		if err != nil {
			return false, err
		}
		return true, tx.Write(ctx, ch)
	})
	if ipam.IsCode(err, ipam.CodeNotFound) || ipam.IsCode(err, ipam.CodeInUse) {
		return false, nil
	}
	return done, err
}

// stillEmpty refuses with in_use if anything is held in a pool.
func stillEmpty(ctx context.Context, tx storage.Tx, p ipam.Pool) error {
	_, _, err := onlyReservations(ctx, tx, p, storage.PoolContainer(p))
	return err
}

// KeeperEvent is the beginning of what the trail of a scoped pool's owner says of the pool. No caller is in it: whose claim it was that
// needed the pool first is none of the owner's business.
func KeeperEvent(p ipam.Pool, at usecase.Timestamp) ipam.Event {
	return ipam.Event{ID: ipam.NewTimeID(at), ProjectID: p.ProjectID, At: at, Subject: ScopeKeeper, Kind: trail.KindPool, Name: p.Name}
}
