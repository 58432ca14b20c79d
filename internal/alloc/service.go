package alloc

import (
	"context"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/access"
	"github.com/carve-ipam/carve/internal/alloc/alerts"
	"github.com/carve-ipam/carve/internal/alloc/allocations"
	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/feed"
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

// Service combines all use cases. Create it with New. It is safe for concurrent use.
type Service struct {
	*access.Access
	*alerts.Alerts
	*claims.Claims
	*feed.Feed
	*consumers.Consumers
	*allocations.Allocations
	*pools.Pools
	*quota.Quotas
	*releases.Releases
	*search.Searches
	*trail.Trail
	*utilization.Utilization
	*webhooks.Webhooks

	regions *regions.Regions // not embedded, because mostly the other packages use it
}

// Options configure a Service.
type Options struct {
	Region  string           // region for the rows that this process creates
	Clock   func() time.Time // nil: the database's clock; tests set their own
	Metrics usecase.Metrics  // nil: no metrics
	Tracer  usecase.Tracer   // nil: no traces
	// MaxWaiting limits the claims and releases that wait for one pool. The server refuses more. 0: 1024.
	MaxWaiting int
	// Runway is the time for which the blocks that a pool lends to a region should last. 0: 10 minutes.
	Runway time.Duration
	// RecordedEvery is the interval between utilization records. 0: hourly.
	RecordedEvery time.Duration
	// MaxSpaces limits the spaces in a project. 0: 256.
	MaxSpaces int
	// Webhooks configures the secrets that sign webhook messages, and the networks that the messages may go to.
	Webhooks webhooks.Options
}

// New creates the use cases over a store.
func New(store storage.Store, o Options) *Service {
	core := usecase.New(store, usecase.Options{Region: o.Region, Clock: o.Clock, Metrics: o.Metrics, Tracer: o.Tracer})
	regions, refusals := regions.New(core, o.Runway), refusals.New(core)
	all, follow := claims.New(core, regions, refusals, o.MaxWaiting), feed.New(core)
	return &Service{
		Access:      access.New(core, o.MaxSpaces),
		Alerts:      alerts.New(core),
		Claims:      all,
		Consumers:   consumers.New(core, all),
		Releases:    releases.New(core, all),
		Searches:    search.New(core),
		Feed:        follow,
		Allocations: allocations.New(core),
		Pools:       pools.New(core, regions, refusals),
		Quotas:      quota.New(core),
		Trail:       trail.New(core),
		Webhooks:    webhooks.New(core, follow, o.Webhooks),
		regions:     regions,

		Utilization: utilization.New(core, o.RecordedEvery),
	}
}

// ListRegions returns the installation's regions, the primary one first, and this server's region. Every authenticated caller may read them.
func (s *Service) ListRegions(ctx context.Context) (all []ipam.Region, ownRegion string, err error) {
	return s.regions.ListRegions(ctx)
}

// RebalanceStocks calls regions.RebalanceStocks. The background worker uses it.
func (s *Service) RebalanceStocks(ctx context.Context) (moved int, err error) {
	return s.regions.RebalanceStocks(ctx)
}

// Reconcile calls regions.Reconcile. Operators use it.
func (s *Service) Reconcile(ctx context.Context, o regions.Reconciling) ([]regions.Reconciled, error) {
	return s.regions.Reconcile(ctx, o)
}
