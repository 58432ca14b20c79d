package usecase

import (
	"context"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

// GroupDeadline limits the time for the transaction that serves a group of requests, with all its attempts. It does not depend on the requests'
// deadlines.
const GroupDeadline = 15 * time.Second

// NewLRU creates a cache for size entries. size must be positive.
func NewLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](size)
	if err != nil {
		panic(err) // the size is positive
	}
	return c
}

// MaxRounds limits a use case's attempts after a COMMIT with an unknown result or after a conflict. Each round already includes the transaction's own
// retries.
const MaxRounds = 8

// Rounds calls attempt until attempt does not request another round, at most MaxRounds times. After the last round, it returns that round's error. If
// the round has no error, it returns contention. Every use case retries with Rounds.
func Rounds[T any](attempt func(round int) (v T, again bool, err error)) (T, error) {
	var last error
	for round := range MaxRounds {
		v, again, err := attempt(round)
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

// RetryConflicts calls Rounds for a use case that retries after a conflict. A conflict means that another request has changed data that the use case
// had read.
func RetryConflicts[T any](attempt func(round int) (T, error)) (T, error) {
	return Rounds(func(round int) (T, bool, error) {
		v, err := attempt(round)
		if _, conflict := storage.AsConflict(err); conflict {
			return v, true, nil
		}
		return v, false, err
	})
}

// ReadBackLimit limits the time to find out whether a COMMIT with an unknown result has taken effect.
const ReadBackLimit = 3 * time.Second

// MaxCachedProjects limits the cached projects. Each needs about 500 bytes.
const MaxCachedProjects = 16384

// MaxGroup limits the requests in one transaction. So it also limits the transaction's size and the time for which it locks rows.
const MaxGroup = 64

// MaxPools limits the pools in one transaction.
const MaxPools = 32

// RetryUnlocked calls Rounds for an attempt that may hold a pool's lock in this process. It handles two errors and then retries:
//   - *storage.RegionNotRecorded: RetryUnlocked records the region for the projects.
//   - *storage.LockBusy: RetryUnlocked waits for the lock. This wait does not count as a round, because a project may change its quotas all the time.
//     ctx limits the wait.
//
// At that point, attempt has already released the pool's lock, so no other request waits meanwhile.
func RetryUnlocked[T any](ctx context.Context, s *Core, attempt func() (T, error)) (T, error) {
	return Rounds(func(int) (v T, again bool, err error) {
		v, err = attempt()
		for o, occupied := errors.AsType[*storage.LockBusy](err); occupied; o, occupied = errors.AsType[*storage.LockBusy](err) {
			if err := s.Store.Await(ctx, o.ID); err != nil {
				return v, false, err
			}
			v, err = attempt()
		}
		u, unplaced := errors.AsType[*storage.RegionNotRecorded](err)
		if !unplaced {
			return v, false, err
		}
		for _, project := range u.Projects {
			if err := s.Store.RecordRegion(ctx, project, u.Region); err != nil {
				return v, false, err
			}
		}
		return v, true, nil
	})
}
