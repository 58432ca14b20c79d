package alloc

import (
	"context"

	"github.com/carve-ipam/carve/internal/alloc/access"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/turns"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Waiting is how many requests have queued up for a container's next transaction. Tests wait for it, instead of for time,
// to know that a group is complete.
func (s *Service) Waiting(container ipam.ID) int {
	return s.Claims.Waiting.Members(container)
}

// Lanes is how many containers somebody works on or waits for.
func (s *Service) Lanes() int {
	return s.Claims.Waiting.Pools() + s.Claims.Lanes.Used()
}

// MaxGroup is the most members that one transaction takes.
const MaxGroup = usecase.MaxGroup

// Users is how many work on a container or wait for their turn, a leader that collects members included.
func (s *Service) Users(container ipam.ID) int {
	n := s.Claims.Lanes.Users(container)
	if s.Claims.Waiting.Led(container) {
		n++
	}
	return n
}

// SealCursor makes a cursor as lists make them, for tests that forge one.
func SealCursor(kind string, at any) string { return paging.SealCursor(paging.List{Kind: kind}, at) }

// BoundWaiting sets how many may wait for one pool.
func BoundWaiting(s *Service, n int) {
	s.Claims.Waiting.Bound(n)
}

// FillSearches takes all places that a project's searches may have.
func FillSearches(ctx context.Context, s *Service, project ipam.ID) (free func()) {
	var leaves []func()
	for range turns.SearchesOfOne {
		if leave, err := s.Claims.Searching.Enter(ctx, project); err == nil {
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
	return s.Claims.Searching.Queued()
}

// SpacesOf is what stands for how many spaces a project has.
var SpacesOf = access.SpacesOf
