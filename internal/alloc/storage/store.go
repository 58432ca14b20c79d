package storage

import (
	"context"
	"net/netip"
	"time"

	"github.com/carve-ipam/carve/internal/alloc/space"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Store is the database as the use cases need it. Reads called on the Store itself are one round trip each, outside any
// transaction of ours.
type Store interface {
	View // of what was written last
	Feed

	// Behind is a view of what the region knows, which may be some seconds old, so that its reads wait for no other region. It notes when they were.
	Behind(at *Moment) View

	// InTx runs fn in one transaction named op and commits. It is SERIALIZABLE, or as good as that for a use case that has
	// named in locks what else it depends on. fn may run several times, each time in a
	// fresh transaction: it touches nothing but tx and its own arguments, and its effects outside must be overwritten
	// by the next run. The three ends: nil (committed); an error of fn, returned unchanged (rolled back); an
	// *ipam.Error with code contention, deadline or unavailable (rolled back, gave up) or outcome_unknown
	// (COMMIT was sent and its outcome is not known; usecase.Settled finds out).
	InTx(ctx context.Context, op string, locks Locks, fn func(ctx context.Context, tx Tx) error) error

	// InOneTrip runs fn on what the store remembers of the containers and the projects that it asks for, and commits what it writes in one round trip if
	// all of that is still so. It is for claims and releases, of containers that are named in locks. What fn has found is nothing to refuse anything for: it
	// ends in ErrForgotten then, as it does when something is not remembered, or is not so any more, and nothing was done. Else it ends as InTx does. Nobody
	// waits for a container in it: when another transaction has one, this one ends in ErrForgotten.
	//
	// sent is called before anything is sent, and answers what that runs in, and what to call when it has.
	InOneTrip(ctx context.Context, op string, locks Locks, sent func(context.Context) (context.Context, func()), fn func(ctx context.Context, tx Tx) error) error

	// Remembers reports whether it may be worth while to try that for a container.
	Remembers(c Container) bool

	// Durably runs look, and returns when what it has read is durable at all the places where a COMMIT is before it is acknowledged. Whoever answers with what an
	// earlier transaction did reads it so: a COMMIT whose outcome is not known may be seen before it is durable, and be lost. look may run several times; what counts is what it
	// found the last time, when Durably has answered nil. All of its reads have to be by the context that it is given.
	Durably(ctx context.Context, look Look) error

	// KnownRegions answers the database's regions as the store remembers them, in the order in which they were added: for what a moment's delay
	// does not harm. Empty: not known.
	KnownRegions() []ipam.Region

	// Place notes that a project may have claims in a region. Where what all regions read is written at once in all, that takes about a second. Who asks for
	// the same meanwhile waits for the same.
	Place(ctx context.Context, project ipam.ID, region string) error

	// Await returns when no transaction that came before is alone with an id any more.
	Await(ctx context.Context, id ipam.ID) error

	// Now is the time by the database's clock, which all servers have in common, without asking it.
	Now() time.Time

	// Latest returns an upper bound for the time by that clock.
	Latest() time.Time

	// DryRun is InTx that always rolls back, whatever fn answers.
	DryRun(ctx context.Context, op string, locks Locks, fn func(ctx context.Context, tx Tx) error) error
}

// Look reads what may be answered with. answers is whether it is: whether what was read has to be durable.
type Look func(ctx context.Context) (answers bool, err error)

// Reader reads. Methods named for one thing answer an ipam not_found error when it does not exist.
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

// Tx is a transaction: reads, and two ways to touch blocks.
type Tx interface {
	Reader

	// FreeRead executes the planned reads in one round trip and answers the free blocks found; a block may come twice.
	// In a transaction under locks it adds the container to them; otherwise Write notices whatever changed.
	FreeRead(ctx context.Context, c Container, reads space.Reads) ([]netip.Prefix, error)

	// Now is the time by the database's clock. In a transaction under locks it is when the last of them was got, so that what is done under a lock has a
	// later time than what was done by those who had it before, on whatever server.
	Now() time.Time

	// Attempt counts the runs of this transaction, from 0: after a conflict, plans start from other places.
	Attempt() int

	// GroupRead is FreeRead of a pool together with the pool as it is now, and with what a group's claims from other projects,
	// and their quotas, depend on, in the same round trip.
	GroupRead(ctx context.Context, pool Container, reads space.Reads, q GroupQuery) (GroupFacts, error)

	// Taken answers which of some claims, and of some idempotency keys, exist already, expired keys included. A claim
	// in a project that is gone counts as taken.
	Taken(ctx context.Context, claims, keys []NameRef) (taken, used map[NameRef]bool, err error)

	// Confirm has the COMMIT of a transaction that writes nothing acknowledged when what the transaction has read is durable.
	Confirm(ctx context.Context) error

	// Write applies all changes in one round trip. Every delete and update must hit exactly the rows that it names;
	// otherwise the plan was made from a state that is gone, and the attempt is run again.
	// Names or keys that exist already are answered as *Conflict.
	Write(ctx context.Context, ch Changes) error
}
