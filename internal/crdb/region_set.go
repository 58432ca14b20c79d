package crdb

import (
	"context"
	"slices"
	"sync/atomic"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/crdb/outcome"
	"github.com/carve-ipam/carve/internal/crdb/rows"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/crdb/write"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The interval at which a store reads the database's regions, which change when an operator runs `ipamctl migrate`. Decisions that must not be stale
// for that long do not use this list: unique names and quotas depend on rows in the same transaction.
const (
	regionsEvery = 10 * time.Second
	regionsLimit = 5 * time.Second
	recordLimit  = 10 * time.Second // for a note on which several requests may wait
)

// regionSet caches the database's regions.
type regionSet struct {
	own       string
	all       atomic.Pointer[[]ipam.Region]
	refresh   chan struct{}      // signals that a request met an unknown region
	recording singleflight.Group // one call for each project and region
}

func newRegionSet(own string) *regionSet {
	p := &regionSet{own: own, refresh: make(chan struct{}, 1)}
	p.all.Store(&[]ipam.Region{})
	return p
}

// Several reports whether the database has more than the store's own region. If not, no statement reads another region.
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

// Everywhere returns all regions' names, the store's own first.
func (p *regionSet) Everywhere() []string { return append([]string{p.own}, p.Others()...) }

// noticeRegion makes the store read the regions soon if region is unknown.
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

// readRegions reads the regions once, without a retry. A database that is not migrated yet has no such table.
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

// refreshRegions reads the regions at intervals, and when met asks for it, until the store is closed. After a failure the next read counts.
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

// Place implements storage.Store.
func (s *Store) Place(ctx context.Context, project ipam.ID, region string) error {
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

// recordRegion records, in its own transaction, that a project may have claims in a region, before the project's first claim there. Under locks it is
// alone with the project: a transaction that has not seen the record has committed by then, and every later one sees it. So if two claims in two
// regions have one name, at least one looks in the other's region.
func (s *Store) recordRegion(ctx context.Context, project ipam.ID, region string) error {
	const op = "project_place"
	return s.repeat(ctx, op, false, func(ctx context.Context) error {
		cn, release, err := s.acquire(ctx, false)
		if err != nil {
			return err
		}
		defer release()
		if s.engine.locks() {
			cn.locks = newLockSet(storage.Locks{Alone: []ipam.ID{project}})
		}
		err = s.engine.attempt(ctx, cn, false, func(ctx context.Context) error {
			if _, err := cn.affected(ctx, "fence_move", rows.ID(project), rows.ID(ipam.NewID())); err != nil { // until now the project's claims elsewhere ignored this region
				return err
			}
			_, err := cn.affected(ctx, "project_region_insert", rows.ID(project), region)
			return err
		})
		if outcome.IsUnknown(err) { // the record is idempotent, so retry
			return write.ErrStale
		}
		return err
	})
}
