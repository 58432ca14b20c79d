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

// How often a store asks which regions the database has: they change when somebody runs `ipamctl migrate`. What must not be wrong for that
// long does not ask here: whether a name is in use, and what is left of a quota, is decided by the tables of the same transaction.
const (
	placesEvery = 10 * time.Second
	placesLimit = 5 * time.Second
	placeLimit  = 10 * time.Second // for a note that others may wait for
)

// places is what a store knows of the database's regions without asking.
type places struct {
	own    string
	all    atomic.Pointer[[]ipam.Region]
	look   chan struct{}      // somebody met a region that is not known
	noting singleflight.Group // in which region a project may have claims
}

func newPlaces(own string) *places {
	p := &places{own: own, look: make(chan struct{}, 1)}
	p.all.Store(&[]ipam.Region{})
	return p
}

// Several reports whether there is more than the store's own region: if not, no statement looks anywhere else.
func (p *places) Several() bool { return len(*p.all.Load()) > 1 }

// Others is the names of the other regions, in the order in which they were added.
func (p *places) Others() (names []string) {
	for _, r := range *p.all.Load() {
		if r.Name != p.own {
			names = append(names, r.Name)
		}
	}
	return names
}

// Everywhere is the names of all regions, the own one first.
func (p *places) Everywhere() []string { return append([]string{p.own}, p.Others()...) }

// met makes the store look soon if a region is not known.
func (p *places) met(region string) {
	if region == p.own || slices.ContainsFunc(*p.all.Load(), func(r ipam.Region) bool { return r.Name == region }) {
		return
	}
	select {
	case p.look <- struct{}{}:
	default:
	}
}

// KnownRegions implements storage.Store.
func (s *Store) KnownRegions() []ipam.Region { return slices.Clone(*s.places.all.Load()) }

// findPlaces reads the regions, once and without trying again. A database that was not migrated yet has no table of them.
func (s *Store) findPlaces(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, placesLimit)
	defer cancel()
	c, err := s.pool.Acquire(ctx)
	if err != nil {
		return err
	}
	defer c.Release()
	found, err := schema.Regions(ctx, c.Conn())
	if err == nil {
		s.places.all.Store(&found)
	}
	return err
}

// keepPlaces looks again from time to time, until the store is closed. What cannot be read now is read the next time.
func (s *Store) keepPlaces(ctx context.Context) {
	ticker := time.NewTicker(placesEvery)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-ticker.C:
		case <-s.places.look:
		}
		if err := s.findPlaces(ctx); err != nil && ctx.Err() == nil {
			s.log.DebugContext(ctx, "the database's regions cannot be read", "error", err)
		}
	}
}

// Place implements storage.Store.
func (s *Store) Place(ctx context.Context, project ipam.ID, region string) error {
	done := s.places.noting.DoChan(project.String()+region, func() (any, error) {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), placeLimit)
		defer cancel()
		return nil, s.placeProject(ctx, project, region)
	})
	select {
	case r := <-done:
		return r.Err
	case <-ctx.Done():
		return storage.TurnNeverCame(ctx)
	}
}

// placeProject notes that a project may have claims in a region, in a transaction of its own, before the claim that is the first one there.
// Under locks it is alone with the project: whoever has not seen the note has committed by then, and whoever comes later sees it. So of two
// claims of one name in two regions one at least looks where the other is.
func (s *Store) placeProject(ctx context.Context, project ipam.ID, region string) error {
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
			if _, err := cn.affected(ctx, "fence_move", rows.ID(project), rows.ID(ipam.NewID())); err != nil { // until now its claims elsewhere need not look in this one
				return err
			}
			_, err := cn.affected(ctx, "project_region_insert", rows.ID(project), region)
			return err
		})
		if outcome.IsUnknown(err) { // to do it twice is to do it once
			return write.ErrStale
		}
		return err
	})
}
