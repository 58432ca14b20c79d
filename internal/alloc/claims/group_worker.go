package claims

import (
	"context"
	"fmt"
	"runtime/debug"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// poolGroup is a pool's next group.
type poolGroup struct {
	pool    ipam.Pool
	lock    ipam.ID
	members []*member
	release func() // releases the pool's lock
}

// excludedFor is the time for which a pool has its own transactions after it could not be served in one round trip. Otherwise it would delay other
// pools again and again.
const excludedFor = time.Second

// needsOwnTransaction reports whether a pool must not share a transaction with other pools.
func (s *groups) needsOwnTransaction(pool ipam.Pool, lock ipam.ID) bool {
	since, alone := s.excluded.Peek(lock)
	return alone && s.Ticks().Sub(since) < excludedFor || !s.Store.HasCached(storage.PoolContainer(pool))
}

// runWorker is the shared worker. It serves the ready pools, many in one transaction, until no pool is ready. It never waits for a pool's lock. A
// locked pool gets its own worker.
func (s *groups) runWorker() {
	for poolGroups := s.waiting.next(); poolGroups != nil; poolGroups = s.waiting.next() {
		var ours []*poolGroup
		for _, l := range poolGroups {
			var free bool
			if l.release, free = s.Locks.Try(l.lock); free {
				ours = append(ours, l)
				continue
			}
			go s.servePool(l)
		}
		if len(ours) > 0 {
			s.serveGroups(ours)
		}
	}
}

// serveGroups serves several pools in one transaction with one round trip. If the transaction fails, each pool gets its own worker.
func (s *groups) serveGroups(poolGroups []*poolGroup) {
	ctx, cancel := context.WithTimeout(context.Background(), usecase.GroupDeadline)
	defer cancel()
	done := s.tryOneTransaction(ctx, poolGroups)
	for _, l := range poolGroups {
		l.release()
		if done {
			s.waiting.giveBack(l)
		} else {
			go s.servePool(l)
		}
	}
}

// tryOneTransaction reports whether all members have their outcome.
func (s *groups) tryOneTransaction(ctx context.Context, poolGroups []*poolGroup) (done bool) {
	var members []*member
	var pools []ipam.Pool
	for _, l := range poolGroups {
		l.members = dropEnded(l.members)
		if len(l.members) > 0 {
			members, pools = append(members, l.members...), append(pools, l.pool)
		}
	}
	if len(members) == 0 {
		return true
	}
	defer func() {
		if r := recover(); r != nil {
			finish(members, ipam.Errorf(ipam.CodeInternal, "The request could not be served; nothing was changed.").
				WithCause(fmt.Errorf("panic in group: %v\n%s", r, debug.Stack())))
			done = true
		}
	}()
	singles, doubles := splitRepeats(members)
	a, err := s.transactFromCache(ctx, singles, pools)
	switch {
	case err == nil:
		s.Metrics.GroupRan(ctx, len(singles))
		for _, l := range poolGroups { // before finish, because a finished request goes on at once and uses the cache
			if len(l.members) > 0 {
				s.refresh(&l.pool, l.members, a)
			}
		}
		for i, m := range singles {
			m.finish(a.bound[i], a.refused[i])
		}
		finish(doubles, &storage.Conflict{}) // a repeat reads the first member's outcome
		return true
	case ipam.IsCode(err, ipam.CodeOutcomeUnknown):
		s.resolveCommit(ctx, singles)
	}
	for _, l := range poolGroups {
		l.members = unfinished(l.members)
	}
	return false
}

func unfinished(members []*member) (rest []*member) {
	for _, m := range members {
		if !m.finished {
			rest = append(rest, m)
		}
	}
	return rest
}
