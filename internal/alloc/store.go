package alloc

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
	Reader

	// InTx runs fn in one transaction named op and commits. It is SERIALIZABLE, or as good as that for a use case that has
	// named in locks what else it depends on. fn may run several times, each time in a
	// fresh transaction: it touches nothing but tx and its own arguments, and its effects outside must be overwritten
	// by the next run. The three ends: nil (committed); an error of fn, returned unchanged (rolled back); an
	// *ipam.Error with code contention, deadline or unavailable (rolled back, gave up) or outcome_unknown
	// (COMMIT was sent and its outcome is not known; use settle).
	InTx(ctx context.Context, op string, locks Locks, fn func(ctx context.Context, tx Tx) error) error

	// OneMoment runs fn with reads that are all of one moment; for a context of Stale, of one that may be some seconds ago. fn may run several times.
	OneMoment(ctx context.Context, op string, fn func(ctx context.Context, read Reader) error) error

	// Durably runs look, and returns when what it has read is durable at all the places where a COMMIT is before it is acknowledged. Whoever answers with what an
	// earlier transaction did reads it so: a COMMIT whose outcome is not known may be seen before it is durable, and be lost. look may run several times; what counts is what it
	// found the last time, when Durably has answered nil. All of its reads have to be by the context that it is given.
	Durably(ctx context.Context, look Look) error

	// KnownRegions answers the database's regions as the store remembers them, in the order in which they were added: for what a moment's delay
	// does not harm. Empty: not known.
	KnownRegions() []ipam.Region

	// Now is the time by the database's clock, which all servers have in common, without asking it.
	Now() time.Time

	// DryRun is InTx that always rolls back, whatever fn answers.
	DryRun(ctx context.Context, op string, locks Locks, fn func(ctx context.Context, tx Tx) error) error
}

// Look reads what may be answered with. answers is whether it is: whether what was read has to be durable.
type Look func(ctx context.Context) (answers bool, err error)

// Reader reads. Methods named for one thing answer an ipam not_found error when it does not exist.
type Reader interface {
	ProjectGet(ctx context.Context, name string) (ipam.Project, error)
	// ProjectList answers up to limit projects with names after the given one, in order of name.
	ProjectList(ctx context.Context, after string, limit int) ([]ipam.Project, error)
	// ProjectListNamed answers those of the names that exist, in order of name.
	ProjectListNamed(ctx context.Context, names []string) ([]ipam.Project, error)
	// ProjectHoldings counts what a project holds: pools, claims, and spaces besides the default one.
	ProjectHoldings(ctx context.Context, projectID ipam.ID) (Holdings, error)

	// NamesThere answers those of the names that mean something to the project: what it has, or may use. Whether something else has the name makes no difference.
	NamesThere(ctx context.Context, project ProjectKey, names []Named) ([]Named, error)

	SpaceGet(ctx context.Context, project ProjectKey, name string) (ipam.Space, error)
	SpaceList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Space, error)

	PoolGet(ctx context.Context, project ProjectKey, name string) (ipam.Pool, error)
	PoolGetByID(ctx context.Context, id ipam.ID) (ipam.Pool, error)
	PoolList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Pool, error)
	// PoolListByLabels answers up to limit pools that carry all the labels, in order of name, after a name.
	PoolListByLabels(ctx context.Context, project ProjectKey, labels map[string]string, after string, limit int) ([]ipam.Pool, error)
	// PoolListOverlapping answers up to limit pools carved from the container that overlap the block.
	PoolListOverlapping(ctx context.Context, containerID ipam.ID, block netip.Prefix, limit int) ([]ipam.Pool, error)

	// Stocks answers what is free, and what is cooling down, in each container, by size.
	Stocks(ctx context.Context, containers []Container) (map[ipam.ID]ipam.Stock, error)
	// RoomIn answers which containers have a free block that can hold the prefix length asked of each: one probe each,
	// whatever the containers hold.
	RoomIn(ctx context.Context, ask []RoomQuery) (map[ipam.ID]bool, error)
	// FreeList answers up to limit free blocks that are at most maxBits long (so each can hold that length), in order
	// of length, then address, after the given block (the zero Prefix: from the start).
	FreeList(ctx context.Context, c Container, maxBits int, after netip.Prefix, limit int) ([]netip.Prefix, error)

	// ClaimGet answers a claim of whichever region: the server's own is looked at first.
	ClaimGet(ctx context.Context, project ProjectKey, name string) (ipam.Claim, error)
	// ClaimsHeld answers the ids of those of the claims that exist, each looked for in its own region by name and id.
	ClaimsHeld(ctx context.Context, project ProjectKey, claims []ipam.Claim) (map[ipam.ID]bool, error)
	ClaimList(ctx context.Context, project ProjectKey, after string, limit int) ([]ipam.Claim, error)
	// ClaimListInPool answers the project's claims on a pool whose blocks begin inside within, in order of address.
	ClaimListInPool(ctx context.Context, project ProjectKey, pool Container, within netip.Prefix, after netip.Addr, limit int) ([]ipam.Claim, error)

	AllocationGet(ctx context.Context, project ProjectKey, id ipam.ID) (ipam.Allocation, error)
	// AllocationList answers a project's allocations in order of (container, address).
	AllocationList(ctx context.Context, project ProjectKey, after AllocationCursor, limit int) ([]ipam.Allocation, error)
	// AllocationListInPool answers a pool's allocations whose blocks begin inside within, in order of address.
	AllocationListInPool(ctx context.Context, pool Container, within netip.Prefix, after netip.Addr, limit int) ([]ipam.Allocation, error)
	// AllocationListRetained answers what a project has retained in pools of any project, in the cursor's order.
	AllocationListRetained(ctx context.Context, holder ProjectKey, after RetainedCursor, limit int) ([]ipam.Allocation, error)
	// AllocationsNamed answers those of some allocations that exist, in whichever projects' pools they are.
	AllocationsNamed(ctx context.Context, keys []AllocationKey) (map[ipam.ID]ipam.Allocation, error)
	// HeldBefore answers where the last block begins that is held in a container at or before an address; found is false when there is none.
	HeldBefore(ctx context.Context, c Container, at netip.Addr) (begins netip.Addr, found bool, err error)
	// HeldCount counts what is held in a container.
	HeldCount(ctx context.Context, c Container) (Held, error)

	// AnswerGet finds the stored answer of an idempotency key that has not expired at now; ok is false when there is none.
	AnswerGet(ctx context.Context, projectID ipam.ID, key string, now time.Time) (answer Answer, ok bool, err error)

	// ClaimLookup reads in one round trip what creating a claim has to know first.
	ClaimLookup(ctx context.Context, q ClaimQuery) (ClaimFacts, error)

	AccessReader
	ClassReader
	CooldownReader
	QuotaReader
	RegionReader
	TrailReader
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

// ProjectKey is what statements need of a project.
type ProjectKey = ipam.ProjectKey

// Key of a project.
func Key(p ipam.Project) ProjectKey { return ProjectKey{ID: p.UID, Name: p.Name} }

// Container is what blocks are carved from: a pool in a region, or one family of a space.
type Container struct {
	Region    string
	ID        ipam.ID
	ProjectID ipam.ID // owner
	Block     netip.Prefix
	Pool      ipam.Ref // zero for a space's container
	Away      bool     // of a pool in another region than its home: it covers what was lent to that, and not Block
}

// PoolContainer is a pool as a container, in the region that it is drawn from (Pool.At).
func PoolContainer(p ipam.Pool) Container {
	return Container{Region: p.Place(), ID: p.UID, ProjectID: p.ProjectID, Block: p.Block, Pool: p.Ref(), Away: p.At != ""}
}

// Lock is what stands for a container in Locks: its id at home, and one of its own in each other region, so that regions do not wait for
// each other.
func (c Container) Lock() ipam.ID {
	if c.Away {
		return awayLock(c.ID, c.Region)
	}
	return c.ID
}

func awayLock(container ipam.ID, region string) ipam.ID {
	return ipam.DerivedID(container, "in "+region)
}

// SpaceContainer is one family of a space as a container.
func SpaceContainer(s ipam.Space, f ipam.Family) Container {
	return Container{Region: s.Region, ID: s.Container(f), ProjectID: s.ProjectID, Block: f.Everything()}
}

// RoomQuery asks whether a container can hold a block of a prefix length.
type RoomQuery struct {
	Container Container
	Bits      int
}

// Holdings of a project.
type Holdings struct{ Pools, Claims, Spaces int64 }

// Held counts the rows held in a container by purpose; Retained claims are counted apart from bound ones.
type Held struct{ Claims, Retained, CoolingDown, ChildPools, Reservations, RootPools int64 }

// AllocationCursor is a place in a project's allocations.
type AllocationCursor struct {
	ContainerID ipam.ID    `json:"c"`
	Base        netip.Addr `json:"b"`
}

// Answer is what was answered to a request with an idempotency key.
type Answer struct {
	ProjectID   ipam.ID
	Key         string
	Fingerprint [32]byte // SHA-256 of operation and request
	Body        []byte   // the domain value, JSON
	CreatedAt   time.Time
	ExpiresAt   time.Time
}

// ClaimQuery asks for the facts before a claim. Empty fields are not looked up. Pool may be another project's: it is answered if it is shared, and
// granted to this one.
type ClaimQuery struct {
	Project ProjectKey
	Name    string
	Pool    ipam.Ref
	Class   *ClassQuery
	Key     string
	Now     time.Time

	Generated bool // the name was generated: only in the server's own region can it be in use
}

// ClaimFacts answers a ClaimQuery; nil = does not exist.
type ClaimFacts struct {
	Claim   *ipam.Claim
	Pool    *ipam.Pool
	Granted bool // the pool is another project's, shared, and granted to this one
	Class   ClassFacts
	Answer  *Answer
}

// Changes is everything one transaction writes, as data. Order of execution: deletes, updates, inserts.
type Changes struct {
	Free []FreeChange

	ProjectInsert *ipam.Project
	ProjectUpdate *ProjectUpdate
	ProjectDelete *ipam.Project

	SpaceInsert []ipam.Space
	SpaceUpdate *SpaceUpdate
	SpaceDelete []ipam.Space

	PoolInsert []ipam.Pool
	PoolUpdate *PoolUpdate
	PoolDelete *ipam.Pool

	AllocationInsert []ipam.Allocation
	AllocationUpdate []AllocationUpdate
	AllocationDelete []ipam.Allocation

	ClaimInsert []ipam.Claim
	ClaimUpdate *ClaimUpdate
	ClaimDelete []ipam.Claim // at the revision that was read

	Answers []Answer

	AccessChanges
	ClassChanges
	QuotaChanges
	RegionChanges

	Events  []ipam.Event
	History []ipam.Hold // holds that ended
}

// FreeChange replaces free blocks of one container.
type FreeChange struct {
	Container      Container
	Delete, Insert []netip.Prefix
}

// ProjectUpdate replaces a project that still has revision Was.
type ProjectUpdate struct {
	Was ipam.ID
	Now ipam.Project
}

// SpaceUpdate replaces a space that still has revision Was.
type SpaceUpdate struct {
	Was ipam.ID
	Now ipam.Space
}

// PoolUpdate replaces what can change of a pool that still has revision Was.
type PoolUpdate struct {
	Was ipam.ID
	Now ipam.Pool
}

// AllocationUpdate replaces what can change of an allocation (found by place and id) that is still in phase Was.
type AllocationUpdate struct {
	Was ipam.Phase
	Now ipam.Allocation
}

// ClaimUpdate replaces what can change of a claim that still has revision Was.
type ClaimUpdate struct {
	Was ipam.ID
	Now ipam.Claim
}

// Conflict says which rows were not as the plan had them: names or keys that exist already, or claims that are not there
// any more as they were read. The transaction was rolled back; whoever asked for them looks again.
type Conflict struct {
	ClaimRefs  []NameRef
	AnswerKeys []NameRef
}

// NameRef is a name, or an idempotency key, in a project.
type NameRef struct {
	ProjectID ipam.ID
	Name      string
}

// Found reports whether there is any.
func (c *Conflict) Found() bool { return len(c.ClaimRefs)+len(c.AnswerKeys) > 0 }

// Error implements error.
func (c *Conflict) Error() string { return "rows are not as they were read" }
