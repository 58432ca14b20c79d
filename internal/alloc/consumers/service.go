package consumers

import (
	"context"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Releasing is the ordinary release of claims.
type Releasing interface {
	// ReleaseUnused releases a claim, as it was read, in the transaction that detaches its last consumer. If it is not so any more, that is a *storage.Conflict.
	ReleaseUnused(ctx context.Context, key storage.ProjectKey, c ipam.Claim, because ipam.Because, cooling time.Duration, event ipam.Event, r usecase.Request) error
	// ForgetClaim is for those who have changed a claim.
	ForgetClaim(key storage.ProjectKey, name string)
}

// Consumers is the use cases on consumers.
type Consumers struct {
	*usecase.Core

	claims Releasing

	passing sync.Mutex
	serving serving                        // guarded by passing
	from    time.Time                      // guarded by passing: those that expired before were looked at in earlier passes; zero when all were
	judged  map[storage.RealmKey]time.Time // guarded by passing: when it was counted in realms that are held, if that was lately
	counted time.Time                      // guarded by passing: when it was counted last where no more consumers are made
}

// New makes the room.
func New(core *usecase.Core, claims Releasing) *Consumers {
	return &Consumers{Core: core, claims: claims, judged: map[storage.RealmKey]time.Time{}}
}

// Keeper is who ends what has expired, as the trail names it.
const Keeper = "system:consumer-keeper"

// lockOf stands for a consumer in locks.
func lockOf(key storage.ProjectKey, ref ipam.ConsumerRef) ipam.ID {
	return ipam.DerivedID(key.ID, "consumer "+ref.String())
}
