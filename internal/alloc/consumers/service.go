package consumers

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Releaser releases claims with the same effects as a caller's release.
type Releaser interface {
	// ReleaseUnused releases a claim in the transaction that detaches its last consumer. c is the claim as the caller has read it. If the claim has
	// changed since, ReleaseUnused returns a *storage.Conflict.
	ReleaseUnused(ctx context.Context, key storage.ProjectKey, c ipam.Claim, because ipam.ReleaseCause, cooling time.Duration, event ipam.Event, r usecase.Request) error
	// ForgetClaim removes a changed claim from the cache.
	ForgetClaim(key storage.ProjectKey, name string)
}

// Consumers contains the use cases on consumers.
type Consumers struct {
	*usecase.Core

	claims Releaser

	passing sync.Mutex
	serving uptime                         // guarded by passing
	from    time.Time                      // guarded by passing: earlier passes have scanned up to this expiry time; zero: start over
	judged  map[storage.RealmKey]time.Time // guarded by passing: last count in each held realm, if recent
	counted time.Time                      // guarded by passing: last count in the projects that may be full
}

// New creates the use cases.
func New(core *usecase.Core, claims Releaser) *Consumers {
	return &Consumers{Core: core, claims: claims, judged: map[storage.RealmKey]time.Time{}}
}

// Keeper is the name of the background worker that ends consumers. Its events in the audit trail have this subject.
const Keeper = "system:consumer-keeper"

// lockOf returns a consumer's lock id.
func lockOf(key storage.ProjectKey, ref ipam.ConsumerRef) ipam.ID {
	return ipam.DerivedID(key.ID, "consumer "+ref.String())
}
