package usecase

import (
	"time"

	lru "github.com/hashicorp/golang-lru/v2"
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

// ReadBackLimit bounds finding out what became of an unknown COMMIT.
const ReadBackLimit = 3 * time.Second

// MaxRememberedProjects bounds the projects that are remembered, about half a kilobyte each.
const MaxRememberedProjects = 16384

// MaxGroup bounds the members of one transaction, and with it its size and how long it holds its rows.
const MaxGroup = 64
