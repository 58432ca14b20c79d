package consumers

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Releaser releases claims as a caller would.
type Releaser interface {
	// ReleaseUnused releases a claim, as it was read, in the transaction that detaches its last consumer. It returns a *storage.Conflict if the claim
	// has changed since.
	ReleaseUnused(ctx context.Context, key storage.ProjectKey, c ipam.Claim, because ipam.Because, cooling time.Duration, event ipam.Event, r usecase.Request) error
	// ForgetClaim removes a changed claim from the cache.
	ForgetClaim(key storage.ProjectKey, name string)
}

// Consumers contains the use cases on consumers.
type Consumers struct {
	*usecase.Core

	claims Releaser

	passing sync.Mutex
	serving uptime                         // guarded by passing
	from    time.Time                      // guarded by passing: where the next scan starts; consumers that expired before were scanned in earlier passes; zero: start over
	judged  map[storage.RealmKey]time.Time // guarded by passing: last count in each held realm, if recent
	counted time.Time                      // guarded by passing: last count in the full projects
}

// New creates the use cases.
func New(core *usecase.Core, claims Releaser) *Consumers {
	return &Consumers{Core: core, claims: claims, judged: map[storage.RealmKey]time.Time{}}
}

// Keeper is the subject in the trail for the background worker that ends consumers.
const Keeper = "system:consumer-keeper"

// lockOf returns a consumer's lock id.
func lockOf(key storage.ProjectKey, ref ipam.ConsumerRef) ipam.ID {
	return ipam.DerivedID(key.ID, "consumer "+ref.String())
}
