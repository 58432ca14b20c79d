package pools

import (
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// Pools contains the use cases on pools and classes. Each group of use cases has its own type.
type Pools struct {
	*reader
	*creator
	*patcher
	*deleter
	*classes
	*cooler
	*sweeper
}

// New creates the use cases.
func New(core *usecase.Core, r *regions.Regions, f *refusals.Refusals) *Pools {
	return &Pools{
		reader: &reader{core}, creator: &creator{core, r, f}, patcher: newPatcher(core, r), deleter: &deleter{core, r},
		classes: &classes{core}, cooler: &cooler{core}, sweeper: &sweeper{Core: core},
	}
}
