package usecase

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/turns"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Core is what all use cases have in common. Each room embeds it; it is safe for concurrent use.
type Core struct {
	Store     storage.Store
	Region    string           // where rows that this process creates live
	Clock     func() time.Time // the database's
	OwnClock  bool             // but a test's
	Ticks     func() time.Time // for what this process remembers: how long ago something was
	Metrics   Metrics
	Tracer    Tracer                                 // nil: nobody follows
	Lanes     *turns.Lanes                           // whose turn it is to work on a pool
	Searching *turns.Places                          // lists that look at many rows
	Projects  *lru.Cache[string, storage.ProjectKey] // remembered by name
	Wakes     *Wakes                                 // those who wait for changes
	Crowds    *Crowds                                // where no more consumers are made
}

// Options of a Core.
type Options struct {
	Region  string           // where rows that this process creates live
	Clock   func() time.Time // nil: the database's; tests have their own
	Metrics Metrics          // nil: nobody measures
	Tracer  Tracer           // nil: nobody follows
}

// New makes what the use cases over a store have in common.
func New(store storage.Store, o Options) *Core {
	c := &Core{
		Store: store, Region: o.Region, Clock: o.Clock, OwnClock: o.Clock != nil, Ticks: o.Clock, Metrics: o.Metrics, Tracer: o.Tracer,
		Lanes: turns.NewLanes(), Searching: turns.NewPlaces(turns.SearchesAtOnce, turns.SearchesOfOne, turns.PatientOfOne),
		Projects: NewLRU[string, storage.ProjectKey](MaxRememberedProjects), Wakes: &Wakes{}, Crowds: &Crowds{},
	}
	if o.Clock == nil {
		ticks := time.Now
		c.Clock, c.Ticks = store.Now, ticks
	}
	if o.Metrics == nil {
		c.Metrics = unmeasured{}
	}
	return c
}

// Now is the time of a request, by the database's clock and as the database stores it: UTC, microseconds.
func (s *Core) Now() time.Time { return asStored(s.Clock()) }

// Latest returns an upper bound for the time. An object that any server has dated later did not exist yet.
func (s *Core) Latest() time.Time {
	if s.OwnClock {
		return s.Now()
	}
	return asStored(s.Store.Latest())
}

func asStored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// View is the rows as a call reads them.
func (s *Core) View(r Reading) storage.View {
	if r.Behind == nil {
		return s.Store
	}
	return s.Store.Behind(r.Behind)
}

// Fresh is the metadata of something that is about to be created.
func (s *Core) Fresh(m ipam.Metadata, project, region string, who tenancy.Principal) ipam.Metadata {
	now := s.Now()
	return ipam.Metadata{
		Name: m.Name, UID: ipam.NewID(), Project: project, Region: region, Generation: 1, Revision: ipam.NewID(),
		CreatedAt: now, UpdatedAt: now, CreatedBy: who.Subject, Labels: m.Labels, Annotations: m.Annotations, GeneratedFrom: m.GeneratedFrom,
	}
}

// InTx is Store.InTx (or DryRun) for a closure that answers a value.
func InTx[T any](ctx context.Context, s *Core, op string, locks storage.Locks, dryRun bool, fn func(context.Context, storage.Tx) (T, error)) (T, error) {
	if dryRun {
		return runIn(ctx, s, s.Store.DryRun, op, locks, fn)
	}
	return runIn(ctx, s, s.Store.InTx, op, locks, fn)
}

// InOneTrip is Store.InOneTrip for a closure that answers a value.
func InOneTrip[T any](
	ctx context.Context, s *Core, op string, locks storage.Locks, sent func(context.Context) (context.Context, func()), fn func(context.Context, storage.Tx) (T, error),
) (T, error) {
	return runIn(ctx, s, func(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
		return s.Store.InOneTrip(ctx, op, locks, sent, fn)
	}, op, locks, fn)
}

func runIn[T any](ctx context.Context, s *Core, run func(context.Context, string, storage.Locks, func(context.Context, storage.Tx) error) error,
	op string, locks storage.Locks, fn func(context.Context, storage.Tx) (T, error),
) (out T, err error) {
	did := s.Wakes.begin()
	err = run(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error {
		v, err := fn(ctx, timedTx{tx, s, did})
		if err == nil {
			out = v // overwritten by the next attempt, if there is one
		}
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	s.Wakes.end(did)
	return out, nil
}
