package usecase

import (
	"context"
	"time"

	lru "github.com/hashicorp/golang-lru/v2"

	"github.com/carve-ipam/carve/internal/alloc/locks"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Core contains the dependencies that all use cases share. Each use-case package embeds it. Concurrent use is safe.
type Core struct {
	Store          storage.Store
	Region         string           // the region for the rows that this process creates
	Clock          func() time.Time // the database's clock
	TestClock      bool             // Clock is a test's clock
	Ticks          func() time.Time // this process's clock, for the age of cached values
	Metrics        Metrics
	Tracer         Tracer                                 // nil: no traces
	Locks          *locks.ContainerLocks                  // the locks on pools and spaces in this process
	Searching      *locks.FairSemaphore                   // limits the lists that scan many rows
	Projects       *lru.Cache[string, storage.ProjectKey] // the cached projects, by name
	Notifier       *Notifier                              // notifies the requests that wait for changes
	ConsumerLimits *ConsumerLimits                        // caches which projects have reached the maximum number of consumers
}

// Options configure a Core.
type Options struct {
	Region  string           // the region for the rows that this process creates
	Clock   func() time.Time // nil: the database's clock; tests set another one
	Metrics Metrics          // nil: no metrics
	Tracer  Tracer           // nil: no traces
}

// New creates the Core for a store.
func New(store storage.Store, o Options) *Core {
	c := &Core{
		Store: store, Region: o.Region, Clock: o.Clock, TestClock: o.Clock != nil, Ticks: o.Clock, Metrics: o.Metrics, Tracer: o.Tracer,
		Locks: locks.NewContainerLocks(), Searching: locks.NewFairSemaphore(locks.MaxSearches, locks.MaxSearchesPerProject, locks.MaxWaitingPerProject),
		Projects: NewLRU[string, storage.ProjectKey](MaxCachedProjects), Notifier: &Notifier{}, ConsumerLimits: &ConsumerLimits{},
	}
	if o.Clock == nil {
		ticks := time.Now
		c.Clock, c.Ticks = store.Now, ticks
	}
	if o.Metrics == nil {
		c.Metrics = noMetrics{}
	}
	return c
}

// Now returns the database clock's time in UTC, in microseconds. The database stores times with this resolution.
func (s *Core) Now() time.Time { return asStored(s.Clock()) }

// Latest returns an upper bound for the current time. An object with a later creation time did not exist when Latest was called. This holds for
// objects from all servers.
func (s *Core) Latest() time.Time {
	if s.TestClock {
		return s.Now()
	}
	return asStored(s.Store.Latest())
}

func asStored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// View returns the database view for a reading call. If r.Behind is nil, the view reads the latest data. Otherwise, it reads the data in the server's
// own region, which may be some seconds old.
func (s *Core) View(r Reading) storage.View {
	if r.Behind == nil {
		return s.Store
	}
	return s.Store.Behind(r.Behind)
}

// NewMetadata returns the metadata for a new object.
func (s *Core) NewMetadata(m ipam.Metadata, project, region string, who tenancy.Principal) ipam.Metadata {
	now := s.Now()
	return ipam.Metadata{
		Name: m.Name, UID: ipam.NewID(), Project: project, Region: region, Generation: 1, Revision: ipam.NewID(),
		CreatedAt: now, UpdatedAt: now, CreatedBy: who.Subject, Labels: m.Labels, Annotations: m.Annotations, GeneratedFrom: m.GeneratedFrom,
	}
}

// InTx is Store.InTx (or DryRun) for a closure that returns a value.
func InTx[T any](ctx context.Context, s *Core, op string, locks storage.Locks, dryRun bool, fn func(context.Context, storage.Tx) (T, error)) (T, error) {
	if dryRun {
		return runIn(ctx, s, s.Store.DryRun, op, locks, fn)
	}
	return runIn(ctx, s, s.Store.InTx, op, locks, fn)
}

// InOneRoundTrip calls Store.InOneRoundTrip for a closure that returns a value.
func InOneRoundTrip[T any](
	ctx context.Context, s *Core, op string, locks storage.Locks, sent func(context.Context) (context.Context, func()), fn func(context.Context, storage.Tx) (T, error),
) (T, error) {
	return runIn(ctx, s, func(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
		return s.Store.InOneRoundTrip(ctx, op, locks, sent, fn)
	}, op, locks, fn)
}

func runIn[T any](ctx context.Context, s *Core, run func(context.Context, string, storage.Locks, func(context.Context, storage.Tx) error) error,
	op string, locks storage.Locks, fn func(context.Context, storage.Tx) (T, error),
) (out T, err error) {
	did := s.Notifier.begin()
	err = run(ctx, op, locks, func(ctx context.Context, tx storage.Tx) error {
		v, err := fn(ctx, timedTx{tx, s, did})
		if err == nil {
			out = v // the next attempt, if any, overwrites out
		}
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	s.Notifier.end(did)
	return out, nil
}
