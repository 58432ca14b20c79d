package alloc

import (
	"context"
	"sync"
	"time"

	"golang.org/x/sync/singleflight"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Service is the use cases. Make one with New; it is safe for concurrent use.
type Service struct {
	store      Store
	region     string
	clock      func() time.Time // the database's
	ownClock   bool             // but a test's
	ticks      func() time.Time // for what this process remembers: how long ago something was
	metrics    Metrics
	tracer     Tracer // nil: nobody follows
	lanes      *lanes
	shares     shares
	fulls      fulls
	figures    *figures
	classes    classMemory
	memory     memory
	explaining chan struct{} // one for each explanation that is worked on
	searching  *places       // lists that look at many rows
	batching   *places
	runway     time.Duration
	borrowing  singleflight.Group // by pool, region and prefix length

	sweeping sync.Mutex
	swept    ipam.ID // the scoped pool that was looked at last; guarded by sweeping
}

// Options of a Service.
type Options struct {
	Region  string           // where rows that this process creates live
	Clock   func() time.Time // nil: the database's; tests have their own
	Metrics Metrics          // nil: nobody measures
	Tracer  Tracer           // nil: nobody follows
	// MaxWaiting is how many claims and releases may wait for one pool's turn; whoever comes then is refused. 0: 1024.
	MaxWaiting int
	// Runway is how long what a region is lent of a pool should last. 0: 10 minutes.
	Runway time.Duration
}

// New makes the use cases over a store.
func New(store Store, o Options) *Service {
	clock, ticks := o.Clock, o.Clock
	if o.Clock == nil {
		clock = func() time.Time { return store.Now() }
		ticks = time.Now
	}
	if o.Metrics == nil {
		o.Metrics = unmeasured{}
	}
	if o.Runway <= 0 {
		o.Runway = 10 * time.Minute
	}
	return &Service{store: store, region: o.Region, runway: o.Runway, clock: clock, ownClock: o.Clock != nil, ticks: ticks, metrics: o.Metrics, tracer: o.Tracer, lanes: newLanes(o.MaxWaiting), figures: newFigures(ticks), classes: newClassMemory(), memory: newMemory(), explaining: make(chan struct{}, maxExplaining),
		searching: newPlaces(searchesAtOnce, searchesOfOne, patientOfOne), batching: newPlaces(batchesAtOnce, batchesOfOne, patientOfOne)}
}

// now is the time of a request, by the database's clock and as the database stores it: UTC, microseconds.
func (s *Service) now() time.Time { return asStored(s.clock()) }

func asStored(t time.Time) time.Time { return t.UTC().Truncate(time.Microsecond) }

// Request is what every changing call carries besides its subject.
type Request struct {
	Key         string   // Idempotency-Key; "" = none
	Fingerprint [32]byte // SHA-256 of operation and request; set when Key is
	DryRun      bool
	IfMatch     Match
	CreateOnly  bool // If-None-Match: * of a PUT
}

// Result is the answer to a call that creates.
type Result[T any] struct {
	Value    T
	Replayed bool // the stored answer of an earlier request with the same key
	Existed  bool // create-or-return found the same thing
}

// fresh is the metadata of something that is about to be created.
func (s *Service) fresh(m ipam.Metadata, project, region string, who tenancy.Principal) ipam.Metadata {
	now := s.now()
	return ipam.Metadata{
		Name: m.Name, UID: ipam.NewID(), Project: project, Region: region, Generation: 1, Revision: ipam.NewID(),
		CreatedAt: now, UpdatedAt: now, CreatedBy: who.Subject, Labels: m.Labels, Annotations: m.Annotations, GeneratedFrom: m.GeneratedFrom,
	}
}

// inTx is Store.InTx (or DryRun) for a closure that answers a value.
func inTx[T any](ctx context.Context, s *Service, op string, locks Locks, dryRun bool, fn func(context.Context, Tx) (T, error)) (T, error) {
	var out T
	run := s.store.InTx
	if dryRun {
		run = s.store.DryRun
	}
	err := run(ctx, op, locks, func(ctx context.Context, tx Tx) error {
		v, err := fn(ctx, timedTx{tx, s})
		if err == nil {
			out = v // overwritten by the next attempt, if there is one
		}
		return err
	})
	if err != nil {
		var zero T
		return zero, err
	}
	return out, nil
}
