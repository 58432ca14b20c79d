package pools

import (
	"sync"

	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Pools is the use cases on pools and classes.
type Pools struct {
	*usecase.Core

	regions  *regions.Regions
	refusals *refusals.Refusals

	sweeping sync.Mutex
	swept    ipam.ID // the scoped pool that was looked at last; guarded by sweeping
}

// New makes the room.
func New(core *usecase.Core, r *regions.Regions, f *refusals.Refusals) *Pools {
	return &Pools{Core: core, regions: r, refusals: f}
}
