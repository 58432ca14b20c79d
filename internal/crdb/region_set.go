package crdb

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Limits for reading the database's regions. The regions change when an operator runs `ipamctl migrate`. After that, the cached list may be outdated
// for up to regionsEvery. A decision that needs the current regions does not use the cache. For example, the checks of unique names and quotas use
// rows that the same transaction reads.
const (
	regionsEvery = 10 * time.Second
	regionsLimit = 5 * time.Second
	recordLimit  = 10 * time.Second // for recording a project's region; several requests may wait for one record
)

// regionSet caches the database's regions.
type regionSet struct {
	own       string
	all       atomic.Pointer[[]ipam.Region]
	refresh   chan struct{}      // signals that a request found a region that is not in the cache
	recording singleflight.Group // shares one call between requests that record the same project and region
}

func newRegionSet(own string) *regionSet {
	p := &regionSet{own: own, refresh: make(chan struct{}, 1)}
	p.all.Store(&[]ipam.Region{})
	return p
}

// Several reports whether the database has more regions than the store's own. If it has only one, no statement reads another region.
func (p *regionSet) Several() bool { return len(*p.all.Load()) > 1 }

// Others returns the other regions' names, in the order in which they were added.
func (p *regionSet) Others() (names []string) {
	for _, r := range *p.all.Load() {
		if r.Name != p.own {
			names = append(names, r.Name)
		}
	}
	return names
}

// Everywhere returns all regions' names. The store's own region is the first.
func (p *regionSet) Everywhere() []string { return append([]string{p.own}, p.Others()...) }

// noticeRegion makes the store read the regions soon, if region is not in the cache.
func (p *regionSet) noticeRegion(region string) {
	if region == p.own || slices.ContainsFunc(*p.all.Load(), func(r ipam.Region) bool { return r.Name == region }) {
		return
	}
	select {
	case p.refresh <- struct{}{}:
	default:
	}
}

// KnownRegions implements storage.Store.
func (s *Store) KnownRegions() []ipam.Region { return slices.Clone(*s.regions.all.Load()) }

// readRegions reads the regions once, without a retry.
func (s *Store) readRegions(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, regionsLimit)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	found, err := schema.Regions(ctx, c.Conn())
	if err == nil {
		s.regions.all.Store(&found)
	}
	return err
}

// refreshRegions reads the regions at intervals until the store is closed. It also reads them when noticeRegion finds an unknown region. If a read
// fails, the cached regions stay until the next read.
func (s *Store) refreshRegions(ctx context.Context) {
	ticker := time.NewTicker(regionsEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-s.regions.refresh:
		}
		if err := s.readRegions(ctx); err != nil && ctx.Err() == nil {
			s.log.DebugContext(ctx, "cannot read the regions of the database", "error", err)
		}
	}
}

// RecordRegion implements storage.Store.
func (s *Store) RecordRegion(ctx context.Context, project ipam.ID, region string) error {
	done := s.regions.recording.DoChan(project.String()+region, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), recordLimit)
		defer cancel()
		return nil, s.recordRegion(ctx, project, region)
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return storage.LockTimeout(ctx)
	}
}

// recordRegion records, in its own transaction, that a project may have claims in a region. This happens before the project's first claim there.
//
// The reason is that a claim's name is unique in all its project's recorded regions. Under locks, the transaction holds the project's lock
// exclusively. So each transaction in the project either commits before the record, or sees it. If two claims in two regions have the same name, at
// least one of their transactions therefore looks in the other region.
func (s *Store) recordRegion(ctx context.Context, project ipam.ID, region string) error {
	const op = "project_place"
	return s.repeat(ctx, op, false, func(ctx context.Context) error {
		cn, release, err := s.acquire(ctx, false)
		if err != nil {
			return err
		}
		defer release()
		if s.engine.usesLocks() {
			cn.locks = newLockSet(storage.Locks{Exclusive: []ipam.ID{project}})
		}
		err = s.engine.attempt(ctx, cn, false, func(ctx context.Context) error {
			if _, err := cn.execCount(ctx, "fence_move", project, ipam.NewID()); err != nil { // transactions that did not see the new region must fail, so the project's version changes
				return err
			}
			_, err := cn.execCount(ctx, "project_region_insert", project, region)
			return err
		})
		if outcome.IsUnknown(err) { // the record is idempotent, so a retry is safe
			return write.ErrStale
		}
		return err
	})
}
