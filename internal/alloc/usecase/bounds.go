package usecase

import (
	"context"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

// GroupDeadline limits one group's transaction with all its attempts. It does not depend on the members' deadlines.
const GroupDeadline = 15 * time.Second

// NewLRU creates a cache for size entries; size must be positive.
func NewLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](size)
	if err != nil {
		panic(err) // the size is positive
	}
	return c
}

// MaxRounds limits a use case's retries after an indeterminate commit or a conflict. Each round already contains the transaction runner's limited
// retries.
const MaxRounds = 8

// Rounds calls try until it asks for no other round, at most MaxRounds times. After the last round it returns that round's error, or contention if
// the round has none. Every retry of a use case goes through Rounds.
func Rounds[T any](try func(round int) (v T, again bool, err error)) (T, error) {
	var last error
	for round := range MaxRounds {
		v, again, err := try(round)
		if !again {
			return v, err
		}
		last = err
	}
	var zero T
	if last == nil {
		last = storage.Contention(nil)
	}
	return zero, last
}

// RetryConflicts is Rounds for a use case that retries after a conflict: another request has changed the data that it read.
func RetryConflicts[T any](try func(round int) (T, error)) (T, error) {
	return Rounds(func(round int) (T, bool, error) {
		v, err := try(round)
		if _, conflict := storage.AsConflict(err); conflict {
			return v, true, nil
		}
		return v, false, err
	})
}

// ReadBackLimit limits the time to read back an indeterminate COMMIT.
const ReadBackLimit = 3 * time.Second

// MaxCachedProjects limits the cached projects, about half a kilobyte each.
const MaxCachedProjects = 16384

// MaxGroup limits the members in one transaction, and so its size and how long it locks rows.
const MaxGroup = 64

// MaxPools limits the pools of one transaction.
const MaxPools = 32

// Placed is Rounds for a try that may hold a pool's lock in the process. When try returns *storage.RegionNotRecorded, Placed records the region. When try returns
// *storage.LockBusy, Placed waits for the lock; such a wait counts as no round, because a project may change its quotas all the time, and ctx limits it.
// Then Placed retries. No other request waits meanwhile, because try has released the pool's lock.
func Placed[T any](ctx context.Context, s *Core, try func() (T, error)) (T, error) {
	return Rounds(func(int) (v T, again bool, err error) {
		v, err = try()
		for o, occupied := errors.AsType[*storage.LockBusy](err); occupied; o, occupied = errors.AsType[*storage.LockBusy](err) {
			if err := s.Store.Await(ctx, o.ID); err != nil {
				return v, false, err
			}
			v, err = try()
		}
		u, unplaced := errors.AsType[*storage.RegionNotRecorded](err)
		if !unplaced {
			return v, false, err
		}
		for _, project := range u.Projects {
			if err := s.Store.Place(ctx, project, u.Region); err != nil {
				return v, false, err
			}
		}
		return v, true, nil
	})
}
