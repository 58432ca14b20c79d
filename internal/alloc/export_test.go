package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Waiting is how many requests have queued up for a container's next transaction. Tests wait for it, instead of for time,
// to know that a group is complete.
func (s *Service) Waiting(container ipam.ID) int {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	if ln := s.lanes.open[container]; ln != nil {
		return len(ln.pending)
	}
	return 0
}

// Lanes is how many containers somebody works on or waits for.
func (s *Service) Lanes() int {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	return len(s.lanes.open)
}

// MaxGroup is the most members that one transaction takes.
const MaxGroup = maxGroup

// Users is how many work on a container or wait for their turn.
func (s *Service) Users(container ipam.ID) int {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	if ln := s.lanes.open[container]; ln != nil {
		return ln.users
	}
	return 0
}

// SealCursor makes a cursor as lists make them, for tests that forge one.
func SealCursor(kind string, at any) string { return sealCursor(list{kind: kind}, at) }

// BoundWaiting sets how many may wait for one pool.
func BoundWaiting(s *Service, n int) {
	s.lanes.mu.Lock()
	defer s.lanes.mu.Unlock()
	s.lanes.waiting = n
}

// SmallStock sets how many free blocks are counted for every refusal.
func SmallStock(s *Service, n int64) { s.figures.small = n }

// FillSearches takes all places that a project's searches may have.
func FillSearches(ctx context.Context, s *Service, project ipam.ID) (free func()) {
	var leaves []func()
	for range searchesOfOne {
		if leave, err := s.searching.enter(ctx, project); err == nil {
			leaves = append(leaves, leave)
		}
	}
	return func() {
		for _, leave := range leaves {
			leave()
		}
	}
}

// Searching is how many lists wait for a place.
func (s *Service) Searching() int {
	s.searching.mu.Lock()
	defer s.searching.mu.Unlock()
	return len(s.searching.waiting)
}

// SpacesOf is what stands for how many spaces a project has.
var SpacesOf = spacesOf
