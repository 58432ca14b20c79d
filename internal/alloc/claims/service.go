package claims

import (
	"time"

	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/resolve"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Claims contains the use cases on claims. Each use case has its own type.
type Claims struct {
	*usecase.Core

	*creator
	*batches
	*explainer
	*patcher
	*scopes
	*releaser // embeds the reader

	Refusals *refusals.Refusals
	Waiting  *Queue // claims and releases that wait for their pool's next group
}

// New creates the use cases. At most maxWaiting claims and releases wait for one pool; 0 means 1024.
func New(core *usecase.Core, r *regions.Regions, f *refusals.Refusals, maxWaiting int) *Claims {
	resolver, classes, memory := resolve.New(core, r), pools.NewClassCache(), NewCache()
	prepare, around := preparer{core, r}, &roomFinder{core, usecase.NewLRU[ipam.ID, fullPool](maxFulls)}
	group := &groups{Core: core, waiting: NewQueue(maxWaiting), cache: memory, excluded: usecase.NewLRU[ipam.ID, time.Time](maxCachedPools)}
	all := &atomicBatch{Core: core, borrower: batchBorrower{core, r}, shares: &resolver.Shares}
	bind := &binder{Core: core, regions: r, resolver: resolver, refusals: f, rooms: around, groups: group, atomic: all}
	return &Claims{
		Core:    core,
		creator: &creator{Core: core, prepare: prepare, binder: bind, classes: classes, cache: memory},
		batches: &batches{
			Core: core, prepare: prepare, resolver: resolver, refusals: f, atomic: all, rooms: around, classes: classes,
			slots: locks.NewFairSemaphore(locks.MaxBatches, locks.MaxBatchesPerProject, locks.MaxWaitingPerProject),
		},
		explainer: &explainer{Core: core, prepare: prepare, binder: bind, classes: classes, places: make(chan struct{}, MaxExplaining)},
		patcher:   &patcher{core, memory},
		scopes:    &scopes{Core: core, binder: bind, classes: classes},
		releaser:  &releaser{reader: &reader{core}, groups: group, cache: memory},
		Refusals:  f,
		Waiting:   group.waiting,
	}
}

// Queues counts the waiting claims and releases.
func (s *Claims) Queues() Queues { return s.Waiting.queues() }
