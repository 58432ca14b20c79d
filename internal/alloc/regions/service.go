package regions

import (
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// Regions moves blocks of pools between the regions that serve them.
type Regions struct {
	*usecase.Core

	runway    time.Duration
	borrowing singleflight.Group // by pool, region and prefix length
}

// New makes the room. What a region is lent of a pool should last for the runway; 0: 10 minutes.
func New(core *usecase.Core, runway time.Duration) *Regions {
	if runway <= 0 {
		runway = 10 * time.Minute
	}
	return &Regions{Core: core, runway: runway}
}
