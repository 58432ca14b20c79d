package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Store is the use cases' interface to the database. A read on the Store itself is one round trip, outside any transaction.
type Store interface {
	View // of the latest data
	Feed

	// Behind returns a view of the region's local data, so that its reads wait for no other region. The data may be some seconds old; at gets the
	// time of the reads.
	Behind(at *Moment) View

	// InTx runs fn in one transaction named op and commits. The transaction is SERIALIZABLE, or equivalent for a use case that names its other
	// dependencies in locks. fn may run several times, each time in a fresh transaction. So fn must touch only tx and its own arguments, and each run
	// must overwrite its effects outside. InTx ends in one of three ways: nil (committed); an error of fn, returned unchanged (rolled back); or an
	// *ipam.Error with code contention, deadline or unavailable (rolled back, gave up) or outcome_unknown (indeterminate COMMIT, which
	// usecase.RunWithReadBack resolves).
	InTx(ctx context.Context, op string, locks Locks, fn func(ctx context.Context, tx Tx) error) error

	// InOneRoundTrip runs fn on cached containers and projects. It commits the writes of fn in one round trip if the cached data is still current. It is
	// for claims and releases in containers that locks names. fn must refuse nothing because of cached data: it returns ErrCacheMiss then. InOneRoundTrip
	// also returns ErrCacheMiss if data is not cached or is outdated, or if another transaction has locked a container, because it never waits.
	// Nothing was done in these cases. Otherwise it ends like InTx.
	//
	// InOneRoundTrip calls sent before it sends anything. sent returns the context of the round trip, and a function to call after it.
	InOneRoundTrip(ctx context.Context, op string, locks Locks, sent func(context.Context) (context.Context, func()), fn func(ctx context.Context, tx Tx) error) error

	// HasCached reports whether InOneRoundTrip may succeed for a container.
	HasCached(c Container) bool

	// Durably runs look, and returns when the data that look has read is durable on all replicas that a COMMIT needs for its acknowledgement. A use
	// case that returns the result of an earlier transaction must read it this way: an indeterminate COMMIT may be visible before it is durable, and
	// may still be lost. look may run several times. The last run counts, if Durably returns nil. All reads of look must use the context that it
	// gets.
	Durably(ctx context.Context, look ReadBack) error

	// KnownRegions returns the database's cached regions, in the order of their addition. The list may be a moment old. Empty means unknown.
	KnownRegions() []ipam.Region

	// Place records that a project may have claims in a region. If all regions share this data and write it together, that takes about a second.
	// Concurrent calls for the same record share one write.
	Place(ctx context.Context, project ipam.ID, region string) error

	// Await waits until the transactions that now hold the lock id exclusively, or wait for it, have ended.
	Await(ctx context.Context, id ipam.ID) error

	// Now returns the time by the database's clock, which all servers share. It makes no request.
	Now() time.Time

	// Latest returns an upper bound for the time by that clock.
	Latest() time.Time

	// DryRun is InTx that always rolls back, whatever fn returns.
	DryRun(ctx context.Context, op string, locks Locks, fn func(ctx context.Context, tx Tx) error) error
}

// ReadBack reads data for a response. It returns answers if the caller will return the data, which must then be durable.
type ReadBack func(ctx context.Context) (answers bool, err error)

// Reader reads. A method for one object returns an ipam not_found error if the object does not exist.
type Reader interface {
	AccessReader
	AlertReader
	AllocationReader
	ClaimReader
	ClassReader
	ConsumerReader
	CooldownReader
	FeedReader
	FreeReader
	PoolReader
	ProjectReader
	QuotaReader
	RegionReader
	SearchReader
	SpaceReader
	TrailReader
	WebhookReader
}

// Tx is a transaction: reads, locks on containers, and one method that writes.
type Tx interface {
	Reader

	// FreeRead executes the planned reads in one round trip and returns the free blocks found, some of them twice. In a transaction under locks it
	// locks the container; in any other, Write detects changes.
	FreeRead(ctx context.Context, c Container, reads freespace.Reads) ([]netip.Prefix, error)

	// Now returns the time by the database's clock. Under locks it is the time when the last lock was taken. So changes under a lock have a later
	// time than changes by the lock's earlier owners, on any server.
	Now() time.Time

	// Attempt counts the runs of this transaction, from 0. After a conflict, a plan starts from another place.
	Attempt() int

	// GroupRead is FreeRead of a pool, in one round trip with the current pool, the grants to the claims' projects, and their quotas.
	GroupRead(ctx context.Context, pool Container, reads freespace.Reads, q GroupQuery) (GroupFacts, error)

	// Taken returns the claims and the idempotency keys that exist already, with expired keys. A claim in a deleted project counts as taken.
	Taken(ctx context.Context, claims, keys []NameRef) (taken, used map[NameRef]bool, err error)

	// Confirm delays the acknowledgement for a COMMIT without writes until the transaction's reads are durable.
	Confirm(ctx context.Context) error

	// Write applies all changes in one round trip. Every delete and update must hit exactly the rows that it names. Otherwise the plan is outdated,
	// and the attempt runs again. Write returns a *Conflict for names or keys that exist already.
	Write(ctx context.Context, ch Changes) error
}
