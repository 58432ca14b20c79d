package usecase

import (
	"maps"
	"slices"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ConsumerLimits caches which projects had the maximum number of consumers at the last count. Requests only read it. A background job counts the projects in
// which this process creates consumers.
type ConsumerLimits struct {
	mu   sync.Mutex
	full map[ipam.ID]bool
}

// Reached records that a request creates consumers in a project, and reports whether the project is full.
func (c *ConsumerLimits) Reached(project ipam.ID) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.full == nil {
		c.full = map[ipam.ID]bool{}
	}
	is := c.full[project]
	c.full[project] = is
	return is
}

// Pending returns the projects to count.
func (c *ConsumerLimits) Pending() []ipam.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.full))
}

// Record records which of the counted projects are full. The others are counted again when a request creates consumers in them.
func (c *ConsumerLimits) Record(projects, full []ipam.ID) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, id := range projects {
		delete(c.full, id)
	}
	for _, id := range full {
		c.full[id] = true
	}
}
