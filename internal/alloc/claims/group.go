package claims

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"slices"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// groups serves orders on one pool together: those that arrive while a transaction of the pool runs form the next one.
type groups struct {
	*usecase.Core

	waiting *Queue
	memory  Memory
	alone   *lru.Cache[ipam.ID, time.Time] // pools that could not be served in one round trip, and since when
}

// join adds an order to the pool's next group and waits for its outcome; and again, when it had to leave a group for the place of its project to be noted.
func (s *groups) join(ctx context.Context, pool ipam.Pool, o *order) (ipam.Claim, error) {
	return usecase.Placed(ctx, s.Core, func() (ipam.Claim, error) { return s.joinOne(ctx, pool, o) })
}

// joinOne: the first to come starts at once; those that arrive while its transaction runs form the next group.
func (s *groups) joinOne(ctx context.Context, pool ipam.Pool, o *order) (ipam.Claim, error) {
	m := &member{order: o, ctx: ctx, lane: storage.PoolContainer(pool).Lock()}
	if s.Tracer != nil {
		m.joined, m.waited = s.Ticks(), -1
	}
	if o.request.DryRun {
		s.run(ctx, &pool, []*member{m})
		return m.outcome, m.err
	}
	m.done = make(chan struct{})
	alone := s.goesAlone
	if o.consumes() {
		alone = func(ipam.Pool, ipam.ID) bool { return true }
	}
	first, carry, err := s.waiting.add(pool, m, alone)
	switch { // both serve other requests too, and must outlive this one's context
	case err != nil:
		return ipam.Claim{}, err
	case carry:
		go s.carry()
	case first:
		go s.lead(&load{pool: pool, lane: m.lane}) //nolint:gosec // G118
	}
	select {
	case <-m.done:
		return m.outcome, m.err
	case <-ctx.Done():
		if s.waiting.withdraw(m.lane, m) {
			return ipam.Claim{}, storage.TurnNeverCame(ctx)
		}
		return ipam.Claim{}, ipam.Errorf(ipam.CodeDeadline,
			"The request took longer than its deadline. It may still take effect; repeat it with the same name or Idempotency-Key to find out.").Because(ctx.Err())
	}
}

// lead runs groups for one pool until nobody is waiting.
func (s *groups) lead(l *load) {
	for {
		ctx, cancel := context.WithTimeout(context.Background(), usecase.GroupDeadline)
		release, err := s.Lanes.Acquire(ctx, l.lane)
		members := l.members
		if l.members = nil; len(members) == 0 {
			members = s.waiting.take(l.lane, usecase.MaxGroup)
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

// run gives every member an outcome. A member that cannot be served leaves; the others go on. pool is what is known of the pool, and
// afterwards what is known now.
func (s *groups) run(ctx context.Context, pool *ipam.Pool, members []*member) {
	defer func() {
		if r := recover(); r != nil { // the arithmetic panics rather than lose address space
			finish(members, ipam.Errorf(ipam.CodeInternal, "The request could not be served; nothing was changed.").
				Because(fmt.Errorf("panic in group: %v\n%s", r, debug.Stack())))
		}
	}()
	waiting := stillThere(members)
	_, err := usecase.Rounds(func(int) (none struct{}, again bool, err error) {
		for n := len(waiting) + 1; 0 < len(waiting) && len(waiting) < n; { // only those behind which as many wait count as rounds
			n = len(waiting)
			waiting = s.round(ctx, pool, waiting)
		}
		return none, len(waiting) > 0, nil
	})
	finish(waiting, err)
}

// stillThere leaves out the members whose time is up.
func stillThere(members []*member) []*member {
	return slices.DeleteFunc(slices.Clone(members), func(m *member) bool {
		if m.ctx.Err() == nil {
			return false
		}
		m.finish(ipam.Claim{}, storage.TurnNeverCame(m.ctx))
		return true
	})
}

// round runs one transaction and answers the members that still have no outcome.
func (s *groups) round(ctx context.Context, pool *ipam.Pool, members []*member) []*member {
	members, doubles := withoutDoubles(members)
	defer finish(doubles, &storage.Conflict{}) // once the first has its outcome, the others look again and find it
	a, err := s.transact(ctx, members, *pool)
	if c, ok := storage.AsConflict(err); ok {
		return s.dropConflicts(ctx, members, c)
	}
	if u, ok := errors.AsType[*storage.Unplaced](err); ok {
		return dropUnplaced(members, u)
	}
	if o, ok := errors.AsType[*storage.Occupied](err); ok {
		return dropOccupied(members, o)
	}
	switch {
	case err == nil:
		if !members[0].request.DryRun { // which runs alone
			s.Metrics.GroupRan(ctx, len(members))
		}
		return s.deliver(ctx, pool, members, a)
	case ipam.IsCode(err, ipam.CodeOutcomeUnknown):
		return s.settle(ctx, members)
	case storage.RetryLater(err) || len(members) == 1:
		finish(members, err)
		return nil
	default:
		// Something that only one of them can have caused: each alone, so that it harms nobody else.
		for _, m := range members {
			s.run(ctx, pool, []*member{m})
		}
		return nil
	}
}

// deliver hands out the outcomes of a committed transaction. A member that was refused, although by now there is room again, goes into
// the next round instead of being told so. The figures of a refusal are read by the one who is refused (bind): counting
// what is free takes as long as the pool is fragmented, and the others wait for the turn.
func (s *groups) deliver(ctx context.Context, pool *ipam.Pool, members []*member, a *attempt) []*member {
	s.refresh(pool, members, a)
	var again []*member
	room := roomAgain{}
	for i, m := range members {
		err := a.refused[i]
		lack, full := errors.AsType[*regions.NoRoom](err)
		switch {
		case err != nil && s.tookEffectLate(ctx, m):
		case full && lack.Stock == nil && s.hasRoomAgain(ctx, *pool, room, m, lack.Wish):
			again = append(again, m)
		default:
			m.finish(a.bound[i], err)
		}
	}
	return again
}

// refresh replaces what is known of a pool, if it is another one by now.
func (s *groups) refresh(pool *ipam.Pool, members []*member, a *attempt) {
	now := a.opened[members[0].lane].pool
	if now.Revision == pool.Revision {
		return
	}
	for _, m := range members {
		s.memory.refresh(m.key, now)
	}
	*pool = now
}

// roomAgain is whether a pool has room for a prefix length, of the lengths that were looked for.
type roomAgain map[int]bool

// hasRoomAgain looks, by one probe for each length, whether the pool could serve now what it just could not.
func (s *groups) hasRoomAgain(ctx context.Context, pool ipam.Pool, seen roomAgain, m *member, w space.Wish) bool {
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
