package resolve

import (
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// Resolver finds the pools that may serve a claim.
type Resolver struct {
	*usecase.Core

	regions *regions.Regions
	Shares  Shares // each pool's allocated share
}

// New creates a Resolver.
func New(core *usecase.Core, r *regions.Regions) *Resolver { return &Resolver{Core: core, regions: r} }
