package alloc

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/access"
	"github.com/carve-ipam/carve/internal/alloc/alerts"
	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/holdings"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/quota"
	"github.com/carve-ipam/carve/internal/alloc/refusals"
	"github.com/carve-ipam/carve/internal/alloc/regions"
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/alloc/webhooks"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Service is the use cases, room by room. Make one with New; it is safe for concurrent use.
type Service struct {
	*access.Access
	*alerts.Alerts
	*claims.Claims
	*feed.Feed
	*consumers.Consumers
	*holdings.Holdings
	*pools.Pools
	*quota.Quotas
	*releases.Releases
	*search.Searches
	*trail.Trail
	*utilization.Utilization
	*webhooks.Webhooks

	regions *regions.Regions // most of what it can do is for the other rooms
}

// Options of a Service.
type Options struct {
	Region  string           // where rows that this process creates live
	Clock   func() time.Time // nil: the database's; tests have their own
	Metrics usecase.Metrics  // nil: nobody measures
	Tracer  usecase.Tracer   // nil: nobody follows
	// MaxWaiting is how many claims and releases may wait for one pool's turn; whoever comes then is refused. 0: 1024.
	MaxWaiting int
	// Runway is how long what a region is lent of a pool should last. 0: 10 minutes.
	Runway time.Duration
	// RecordedEvery is how often it is recorded how much of a pool is used. 0: hourly.
	RecordedEvery time.Duration
	// MaxSpaces is how many spaces a project can have. 0: 256.
	MaxSpaces int
	// Webhooks is with what they are signed, and where they may be sent.
	Webhooks webhooks.Options
}

// New makes the use cases over a store: each room is given the rooms below it.
func New(store storage.Store, o Options) *Service {
	core := usecase.New(store, usecase.Options{Region: o.Region, Clock: o.Clock, Metrics: o.Metrics, Tracer: o.Tracer})
	regions, refusals := regions.New(core, o.Runway), refusals.New(core)
	all, follow := claims.New(core, regions, refusals, o.MaxWaiting), feed.New(core)
	return &Service{
		Access:    access.New(core, o.MaxSpaces),
		Alerts:    alerts.New(core),
		Claims:    all,
		Consumers: consumers.New(core, all),
		Releases:  releases.New(core, all),
		Searches:  search.New(core),
		Feed:      follow,
		Holdings:  holdings.New(core),
		Pools:     pools.New(core, regions, refusals),
		Quotas:    quota.New(core),
		Trail:     trail.New(core),
		Webhooks:  webhooks.New(core, follow, o.Webhooks),
		regions:   regions,

		Utilization: utilization.New(core, o.RecordedEvery),
	}
}

// ListRegions answers the installation's regions, the primary one first, and that of this server. Whoever is known may ask.
func (s *Service) ListRegions(ctx context.Context) (all []ipam.Region, here string, err error) {
	return s.regions.ListRegions(ctx)
}

// KeepStocks is regions.KeepStocks, for the background.
func (s *Service) KeepStocks(ctx context.Context) (moved int, err error) {
	return s.regions.KeepStocks(ctx)
}

// Reconcile is regions.Reconcile, for the operator.
func (s *Service) Reconcile(ctx context.Context, o regions.Reconciling) ([]regions.Reconciled, error) {
	return s.regions.Reconcile(ctx, o)
}
