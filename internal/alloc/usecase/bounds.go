package usecase

import (
	"context"
	"errors"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

// GroupDeadline bounds one group's transaction with all its attempts. It does not depend on any one member's deadline.
const GroupDeadline = 15 * time.Second

// NewLRU makes a cache of the given size, which must be positive.
func NewLRU[K comparable, V any](size int) *lru.Cache[K, V] {
	c, err := lru.New[K, V](size)
	if err != nil {
		panic(err) // the size is positive
	}
	return c
}

// MaxRounds bounds how often a use case looks again after an unknown outcome or a conflict. Each round already holds the
// bounded retries of the transaction runner.
const MaxRounds = 8

// Rounds tries until that is done, or wants no other round, MaxRounds times at most. After the last one the error is that of it, or contention if it has
// none. All repeating of the use cases is done here.
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

// UntilAgreed is Rounds for what looks again after a conflict: somebody else has changed meanwhile what was read.
func UntilAgreed[T any](try func(round int) (T, error)) (T, error) {
	return Rounds(func(round int) (T, bool, error) {
		v, err := try(round)
		if _, conflict := storage.AsConflict(err); conflict {
			return v, true, nil
		}
		return v, false, err
	})
}

// ReadBackLimit bounds finding out what became of an unknown COMMIT.
const ReadBackLimit = 3 * time.Second

// MaxRememberedProjects bounds the projects that are remembered, about half a kilobyte each.
const MaxRememberedProjects = 16384

// MaxGroup bounds the members of one transaction, and with it its size and how long it holds its rows.
const MaxGroup = 64

// MaxPools bounds the pools of one transaction.
const MaxPools = 32

// Placed is Rounds for a try that takes a turn. When the try ends in Unplaced or Occupied, Placed notes the place or waits for the lock while it has no
// turn, and then tries again.
func Placed[T any](ctx context.Context, s *Core, try func() (T, error)) (T, error) {
	return Rounds(func(int) (v T, again bool, err error) {
		v, err = try()
		if o, occupied := errors.AsType[*storage.Occupied](err); occupied {
			err := s.Store.Await(ctx, o.ID)
			return v, err == nil, err
		}
		u, unplaced := errors.AsType[*storage.Unplaced](err)
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
