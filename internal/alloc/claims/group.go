package claims

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// groups serves several orders on one pool in one transaction. An order binds or releases one claim. A member is an order in a group. The orders that
// arrive during the pool's transaction form the next group.
type groups struct {
	*usecase.Core

	waiting  *Queue
	cache    Cache
	excluded *lru.Cache[ipam.ID, time.Time] // pools that could not be served in one round trip, with the time of the last failure
}

// join adds an order to the pool's next group and waits for the order's outcome. A group drops an order if the region is not yet recorded for the
// order's project. Then join records the region and joins the next group.
func (s *groups) join(ctx context.Context, pool ipam.Pool, o *order) (ipam.Claim, error) {
	return usecase.RetryUnlocked(ctx, s.Core, func() (ipam.Claim, error) { return s.joinOne(ctx, pool, o) })
}

// joinOne joins one group. If the pool has no running transaction, the order starts at once. Otherwise it joins the next group.
func (s *groups) joinOne(ctx context.Context, pool ipam.Pool, o *order) (ipam.Claim, error) {
	m := &member{order: o, ctx: ctx, lock: storage.PoolContainer(pool).Lock()}
	if s.Tracer != nil {
		m.joined, m.waited = s.Ticks(), -1
	}
	if o.request.DryRun {
		s.run(ctx, &pool, []*member{m})
		return m.outcome, m.err
	}
	m.done = make(chan struct{})
	alone := s.needsOwnTransaction
	if o.consumes() {
		alone = func(ipam.Pool, ipam.ID) bool { return true }
	}
	first, carry, err := s.waiting.add(pool, m, alone)
	// Both kinds of workers also serve other requests, so they must outlive this request's context.
	switch {
	case err != nil:
		return ipam.Claim{}, err
	case carry:
		go s.runWorker()
	case first:
		go s.servePool(&poolGroup{pool: pool, lock: m.lock}) //nolint:gosec // G118: the worker must outlive the request
	}
	select {
	case <-m.done:
		return m.outcome, m.err
	case <-ctx.Done():
		if s.waiting.withdraw(m.lock, m) {
			return ipam.Claim{}, storage.LockTimeout(ctx)
		}
		return ipam.Claim{}, ipam.Errorf(ipam.CodeDeadline,
			"The request took longer than its deadline. It may still take effect; repeat it with the same name or Idempotency-Key to find out.").WithCause(ctx.Err())
	}
}

// servePool runs groups for one pool until no member waits.
func (s *groups) servePool(l *poolGroup) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), usecase.GroupDeadline)
		release, err := s.Locks.Acquire(ctx, l.lock)
		members := l.members
		if l.members = nil; len(members) == 0 {
			members = s.waiting.take(l.lock, usecase.MaxGroup)
		}
		if len(members) == 0 {
			if err == nil {
				release()
			}
			cancel()
			return
		}
		if err != nil {
			finish(members, err)
		} else {
			s.run(ctx, &l.pool, members)
			release()
		}
		cancel()
	}
}

// run gives every member an outcome. If a member cannot be served, run drops it and goes on with the other members. run updates pool to its current
// state.
func (s *groups) run(ctx context.Context, pool *ipam.Pool, members []*member) {
	defer func() {
		if r := recover(); r != nil { // the block arithmetic panics before it loses address space
			finish(members, ipam.Errorf(ipam.CodeInternal, "The request could not be served; nothing was changed.").
				WithCause(fmt.Errorf("panic in group: %v\n%s", r, debug.Stack())))
		}
	}()
	waiting := dropEnded(members)
	_, err := usecase.Rounds(func(int) (none struct{}, again bool, err error) {
		// A transaction that reduces the number of waiting members does not count as a round.
		for n := len(waiting) + 1; 0 < len(waiting) && len(waiting) < n; {
			n = len(waiting)
			waiting = s.round(ctx, pool, waiting)
		}
		return none, len(waiting) > 0, nil
	})
	finish(waiting, err)
}

// dropEnded finishes the members with a request that has ended, and returns the other members.
func dropEnded(members []*member) []*member {
	return dropFailed(members, func(m *member) error {
		if m.ctx.Err() == nil {
			return nil
		}
		return storage.LockTimeout(m.ctx)
	})
}

// dropFailed finishes the members for which failure returns an error, and returns the others.
func dropFailed(members []*member, failure func(*member) error) []*member {
	return slices.DeleteFunc(slices.Clone(members), func(m *member) bool {
		err := failure(m)
		if err != nil {
			m.finish(ipam.Claim{}, err)
		}
		return err != nil
	})
}

// round runs one transaction, and returns the members that still have no outcome.
func (s *groups) round(ctx context.Context, pool *ipam.Pool, members []*member) []*member {
	members, doubles := splitRepeats(members)
	defer finish(doubles, &storage.Conflict{}) // a repeat then reads the first member's outcome
	a, err := s.transact(ctx, members, *pool)
	if c, ok := storage.AsConflict(err); ok {
		return s.dropConflicts(ctx, members, c)
	}
	if u, ok := errors.AsType[*storage.RegionNotRecorded](err); ok {
		return dropFailed(members, func(m *member) error { return m.regionError(u) })
	}
	if o, ok := errors.AsType[*storage.LockBusy](err); ok {
		return dropFailed(members, func(m *member) error { return m.lockError(o) })
	}
	switch {
	case err == nil:
		if !members[0].request.DryRun { // a dry run has no group
			s.Metrics.GroupRan(ctx, len(members))
		}
		return s.deliver(ctx, pool, members, a)
	case ipam.IsCode(err, ipam.CodeOutcomeUnknown):
		return s.resolveCommit(ctx, members)
	case storage.RetryLater(err) || len(members) == 1:
		finish(members, err)
		return nil
	default:
		// One member alone may have caused this error. Run each member alone, so that this member cannot harm the other members.
		for _, m := range members {
			s.run(ctx, pool, []*member{m})
		}
		return nil
	}
}

// deliver finishes members after a committed transaction. If a member was refused for lack of room and the pool has room again, the member goes into
// the next round.
//
// The refused request reads the figures for its refusal later, in binder.bind. Free blocks take longer to count in a fragmented pool, and other
// requests wait for the pool's lock meanwhile.
func (s *groups) deliver(ctx context.Context, pool *ipam.Pool, members []*member, a *attempt) []*member {
	s.refresh(pool, members, a)
	var again []*member
	room := refills{}
	for i, m := range members {
		err := a.refused[i]
		lack, full := errors.AsType[*regions.NoRoom](err)
		switch {
		case err != nil && s.committedLate(ctx, m):
		case full && lack.Stock == nil && s.refilled(ctx, *pool, room, m, lack.Request):
			again = append(again, m)
		default:
			m.finish(a.bound[i], err)
		}
	}
	return again
}

// refresh updates the caller's pool and the cache if the pool has changed.
func (s *groups) refresh(pool *ipam.Pool, members []*member, a *attempt) {
	now := a.opened[members[0].lock].pool
	if now.Revision == pool.Revision {
		return
	}
	for _, m := range members {
		s.cache.refresh(m.key, now)
	}
	*pool = now
}

// refills caches the results from the probes for room, by prefix length.
type refills map[int]bool

// refilled reports whether the pool now has a block for a request that it refused a moment ago. It makes one probe for each length.
func (s *groups) refilled(ctx context.Context, pool ipam.Pool, seen refills, m *member, w freespace.BlockRequest) bool {
	if w.Exact.IsValid() || m.request.DryRun {
		return false
	}
	has, known := seen[w.Bits]
	if !known {
		room, err := s.Store.RoomIn(ctx, []storage.RoomQuery{{Container: storage.PoolContainer(pool), Bits: w.Bits}})
		has = err == nil && room[pool.UID]
		seen[w.Bits] = has
	}
	return has
}
