package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/access"
	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Waiting returns the number of requests in the queue for a container's next transaction. A test waits for this number, to be sure that a group is
// complete.
func (s *Service) Waiting(container ipam.ID) int {
	return s.Claims.Waiting.Members(container)
}

// LockedContainers returns the number of containers that are locked or have waiting requests.
func (s *Service) LockedContainers() int {
	return s.Claims.Waiting.Pools() + s.Claims.Locks.Locked()
}

// MaxGroup is the maximum number of requests in one transaction.
const MaxGroup = usecase.MaxGroup

// Users returns the number of users of a container's lock, including waiting users. A worker that collects a group counts as one user.
func (s *Service) Users(container ipam.ID) int {
	n := s.Claims.Locks.Users(container)
	if s.Claims.Waiting.HasWorker(container) {
		n++
	}
	return n
}

// SealCursor makes a cursor in the format of the lists, for tests that forge a cursor.
func SealCursor(kind string, at any) string { return paging.SealCursor(paging.List{Kind: kind}, at) }

// BoundWaiting limits the number of requests in the queue of one pool.
func BoundWaiting(s *Service, n int) {
	s.Claims.Waiting.SetLimit(n)
}

// FillSearches takes all search slots of one project. free releases the slots.
func FillSearches(ctx context.Context, s *Service, project ipam.ID) (free func()) {
	var leaves []func()
	for range locks.MaxSearchesPerProject {
		if leave, err := s.Claims.Searching.Acquire(ctx, project); err == nil {
			leaves = append(leaves, leave)
		}
	}
	return func() {
		for _, leave := range leaves {
			leave()
		}
	}
}

// Searching returns the number of lists that wait for a slot.
func (s *Service) Searching() int {
	return s.Claims.Searching.Queued()
}

// SpacesOf returns the id of the lock on a project's number of spaces.
var SpacesOf = access.SpacesOf
