package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Store is the interface between the use cases and the database. A read on the Store itself is one round trip, outside any transaction.
type Store interface {
	View // reads the latest data
	Feed

	// Behind returns a view of the data in the server's own region. Its reads never wait for another region, but the data may be some seconds old.
	// moment receives the time of the reads.
	Behind(moment *Moment) View

	// InTx runs fn in one transaction with the name op, and commits. The transaction is SERIALIZABLE. If the use case names its other dependencies in
	// locks, the transaction may be weaker but equivalent.
	//
	// fn may run several times, each time in a new transaction. So fn must change only tx and its own variables, and each run must overwrite the
	// previous run's results.
	//
	// InTx returns one of these results:
	//   - nil: the transaction was committed.
	//   - An error from fn, unchanged: the transaction was rolled back.
	//   - An *ipam.Error with code contention, deadline or unavailable: InTx gave up, and the transaction was rolled back.
	//   - An *ipam.Error with code outcome_unknown: it is unknown whether the COMMIT succeeded. usecase.RunWithReadBack finds out.
	InTx(ctx context.Context, op string, locks Locks, fn func(ctx context.Context, tx Tx) error) error

	// InOneRoundTrip runs fn on cached containers and projects. If the cached data is still current, it commits fn's writes in one round trip. It
	// serves claims and releases in the containers that locks names.
	//
	// fn must not refuse a request because of cached data. Instead, fn returns ErrCacheMiss. InOneRoundTrip also returns ErrCacheMiss if data is not
	// cached or is outdated. It never waits, so it returns ErrCacheMiss too if another transaction has locked a container. In these cases, nothing
	// was done. Otherwise it ends like InTx.
	//
	// InOneRoundTrip calls beforeSend before it sends anything. beforeSend returns the context for the round trip, and a function to call after the
	// round trip.
	InOneRoundTrip(ctx context.Context, op string, locks Locks, beforeSend func(context.Context) (context.Context, func()), fn func(ctx context.Context, tx Tx) error) error

	// HasCached reports whether InOneRoundTrip may succeed for a container.
	HasCached(c Container) bool

	// Durably runs readBack, and waits until the data that readBack has read is durable. Data is durable when all replicas that a COMMIT needs for
	// its acknowledgement have it.
	//
	// A use case that returns an earlier transaction's result must read that result with Durably. If a COMMIT has an unknown result, its data may be
	// visible before it is durable, and may still be lost.
	//
	// readBack may run several times. If Durably returns nil, the last run counts. All reads in readBack must use the context that readBack gets.
	Durably(ctx context.Context, readBack ReadBack) error

	// KnownRegions returns the cached list of the database's regions, in the order of their addition. The list may be outdated for a moment. An empty
	// list means that the regions are unknown.
	KnownRegions() []ipam.Region

	// RecordRegion records that a project may have claims in a region. If all regions write this data together, the write takes about a second.
	// Concurrent calls for the same record share one write.
	RecordRegion(ctx context.Context, project ipam.ID, region string) error

	// Await waits for a lock. It returns when the transactions that now hold the lock id exclusively, or wait for it, have ended.
	Await(ctx context.Context, id ipam.ID) error

	// Now returns the database clock's time, which all servers share. It makes no request.
	Now() time.Time

	// Latest returns an upper bound for the database clock's time.
	Latest() time.Time

	// DryRun is InTx, but it always rolls back the transaction.
	DryRun(ctx context.Context, op string, locks Locks, fn func(ctx context.Context, tx Tx) error) error
}

// ReadBack reads data for a response. returned means that the response contains this data. Then the data must be durable.
type ReadBack func(ctx context.Context) (returned bool, err error)

// Reader reads objects. If one object is requested and does not exist, the method returns an ipam not_found error.
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

// Tx is a transaction. It has reads, locks on containers, and one method that writes.
type Tx interface {
	Reader

	// FreeRead executes the planned reads in one round trip, and returns the free blocks. It may return a block twice. In a transaction with Locks, it
	// locks the container. In a transaction without Locks, Write detects changes to the container.
	FreeRead(ctx context.Context, c Container, reads freespace.Reads) ([]netip.Prefix, error)

	// Now returns the database clock's time. In a transaction with Locks, this is the time when the transaction got its last lock. So changes under a
	// lock have a later time than the changes by all earlier holders of the lock, on any server.
	Now() time.Time

	// Attempt counts this transaction's runs, beginning with 0. After a conflict, the next run searches for free blocks from another position.
	Attempt() int

	// GroupRead is FreeRead for a pool. In the same round trip, it reads the current pool, the grants to the claims' projects, and these projects'
	// quotas.
	GroupRead(ctx context.Context, pool Container, reads freespace.Reads, q GroupQuery) (GroupFacts, error)

	// Taken returns the claim names and idempotency keys that exist already. It includes expired keys. If a project is deleted, all names in it count as
	// taken.
	Taken(ctx context.Context, claims, keys []NameRef) (taken, used map[NameRef]bool, err error)

	// Confirm is for a transaction without writes. It delays the COMMIT's acknowledgement until the data that the transaction has read is durable.
	Confirm(ctx context.Context) error

	// Write applies all changes in one round trip. Every delete and update must affect exactly the rows that it names. Otherwise the plan is outdated,
	// and the transaction runs again. If a name or a key exists already, Write returns a *Conflict.
	Write(ctx context.Context, ch Changes) error
}
