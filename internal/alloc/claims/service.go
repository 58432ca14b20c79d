package claims

import (
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/turns"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
)

// Claims is the use cases on claims.
type Claims struct {
	*usecase.Core

	regions *regions.Regions
	resolve *resolve.Resolver

	Refusals   *refusals.Refusals
	Waiting    *Queue // for the next group of their pool
	batching   *turns.Places
	explaining chan struct{} // one for each explanation that is worked on
	classes    pools.ClassMemory
	memory     Memory
	fulls      Fulls
}

// New makes the room. For one pool so many claims and releases may wait; 0: 1024.
func New(core *usecase.Core, r *regions.Regions, f *refusals.Refusals, mostWaiting int) *Claims {
	return &Claims{
		Core: core, regions: r, Refusals: f, resolve: resolve.New(core, r),
		Waiting: NewQueue(mostWaiting), batching: turns.NewPlaces(turns.BatchesAtOnce, turns.BatchesOfOne, turns.PatientOfOne),
		explaining: make(chan struct{}, MaxExplaining), classes: pools.NewClassMemory(), memory: NewMemory(),
	}
}
