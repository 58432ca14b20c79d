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

// sweeper removes unused scope pools. A scope pool is carved for one scope of a class.
type sweeper struct {
	*usecase.Core

	sweeping sync.Mutex
	swept    ipam.ID // the last pool that was checked; protected by sweeping
}

// SweepScopes checks up to limit*pages scope pools, and continues where the last call stopped. If a pool is empty, SweepScopes stores the time in the
// pool. If the pool has been empty for its class's TTL, SweepScopes returns it to the pool from which it was carved. A block in cool-down keeps its
// pool.
//
// A claim clears the stored time in its own transaction, so an outdated check never removes a pool in use. If a pool fails, SweepScopes continues
// with the others and returns the error at the end. Several servers may run it at once.
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
		// After the last page, the next call begins at the first pool.
		if len(pools) < limit {
			s.swept = ipam.ID{}
			break
		}
	}
	return marked, removed, errors.Join(errs...)
}

// sweepScope checks one scope pool. If it is due, sweepScope stores the time in the pool or removes the pool. done reports whether it did so.
func (s *sweeper) sweepScope(ctx context.Context, seen storage.ScopedPool) (done bool, err error) {
	p, now := seen.Pool, s.Now()
	switch {
	case seen.Held:
		return false, nil
	case p.EmptySince.IsZero():
		return s.emptyScope(ctx, p, "scope_mark", storage.Locks{Exclusive: []ipam.ID{p.UID}}, func(ctx context.Context, tx storage.Tx) (storage.Changes, error) {
			return storage.Changes{ClassChanges: storage.ClassChanges{ScopedMarks: []storage.ScopedMark{{PoolID: p.UID, Now: now}}}}, checkEmpty(ctx, tx, p)
		})
	case seen.TTL == nil || now.Before(p.EmptySince.Add(*seen.TTL)):
		return false, nil
	default:
		event := KeeperEvent(p, now)
		locks, err := uncarveLocks(ctx, s.Store, p)
		if ipam.IsCode(err, ipam.CodeNotFound) {
			return false, nil // the pool is gone
		}
		if err != nil {
			return false, err
		}
		return s.emptyScope(ctx, p, "scope_remove", locks, func(ctx context.Context, tx storage.Tx) (storage.Changes, error) {
			return uncarvePool(ctx, tx, p, usecase.Match{}, event)
		})
	}
}

// emptyScope changes a scope pool that has not changed since it was read. If a claim or another server has changed or removed the pool meanwhile,
// emptyScope does nothing.
func (s *sweeper) emptyScope(ctx context.Context, seen ipam.Pool, op string, locks storage.Locks, plan func(context.Context, storage.Tx) (storage.Changes, error)) (bool, error) {
	ctx, cancel := context.WithTimeout(ctx, usecase.GroupDeadline)
	defer cancel()
	release, err := s.Locks.Acquire(ctx, locks.Exclusive...)
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

// checkEmpty fails with in_use if a pool holds anything except reservations.
func checkEmpty(ctx context.Context, tx storage.Tx, p ipam.Pool) error {
	_, _, err := onlyReservations(ctx, tx, p, storage.PoolContainer(p))
	return err
}

// KeeperEvent returns an event about a scope pool for its owner's audit trail. The event does not name a caller. The owner must not learn which
// project's claim needed the pool.
func KeeperEvent(p ipam.Pool, at usecase.Timestamp) ipam.Event {
	return ipam.Event{ID: ipam.NewTimeID(at), ProjectID: p.ProjectID, At: at, Subject: ScopeKeeper, Kind: trail.KindPool, Name: p.Name}
}
