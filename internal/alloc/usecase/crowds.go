package usecase

import (
	"maps"
	"slices"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Crowds is which projects had as many consumers as one may have when they were counted last. Requests only look here; the background counts, those
// projects alone in which this process makes consumers.
type Crowds struct {
	mu   sync.Mutex
	full map[ipam.ID]bool
}

// Full notes that consumers may be made in a project, and reports whether it has no room for them.
func (c *Crowds) Full(project ipam.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full == nil {
		c.full = map[ipam.ID]bool{}
	}
	is := c.full[project]
	c.full[project] = is
	return is
}

// Projects are those that are to be counted.
func (c *Crowds) Projects() []ipam.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.full))
}

// Counted notes which of the projects that were counted are full. The others are counted again when consumers are made there.
func (c *Crowds) Counted(projects, full []ipam.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range projects {
		delete(c.full, id)
	}
	for _, id := range full {
		c.full[id] = true
	}
}
