package usecase

import (
	"maps"
	"slices"
	"sync"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ConsumerLimits caches which projects had the maximum number of consumers at the last count. Requests never count consumers themselves. A background
// job counts them, in the projects in which this process creates consumers.
type ConsumerLimits struct {
	mu   sync.Mutex
	full map[ipam.ID]bool
}

// Reached records that a request creates consumers in a project. It reports whether the project has the maximum number.
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

// Pending returns the projects whose consumers must be counted.
func (c *ConsumerLimits) Pending() []ipam.ID {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Keys(c.full))
}

// Record records which counted projects are full. The other counted projects are counted again after a request creates consumers in them.
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
