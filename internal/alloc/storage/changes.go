package storage

import (
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Changes contains a transaction's writes, as data. The deletes run first, then the updates, then the inserts.
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

	// These are allocations without a claim. Updates and deletes require the revision that was read.
	AllocationInsert []ipam.Allocation
	AllocationUpdate *AllocationUpdate
	AllocationDelete []ipam.Allocation

	// A claim's allocation has no entry here: it is written and deleted with the claim.
	ClaimInsert  []ipam.Claim
	ClaimUpdate  *ClaimUpdate
	ClaimRebind  *ClaimUpdate // a new claim that replaces a retained allocation
	ClaimDelete  []ipam.Claim // only at the revisions that were read
	ClaimRelease []Release

	StoredResponses []StoredResponse

	AccessChanges
	AlertChanges
	ClassChanges
	ConsumerChanges
	QuotaChanges
	RegionChanges
	WebhookChanges

	Events  []ipam.Event
	History []ipam.Hold // holds that ended
}

// FreeChange replaces free blocks in one container.
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

// PoolUpdate replaces the mutable fields in a pool that still has revision Was.
type PoolUpdate struct {
	Was ipam.ID
	Now ipam.Pool
}

// AllocationUpdate replaces the mutable fields in an allocation without a claim that still has revision Was.
type AllocationUpdate struct {
	Was ipam.ID
	Now ipam.Allocation
}

// ClaimUpdate replaces the mutable fields in a claim or a retained allocation that still has revision Was.
type ClaimUpdate struct {
	Was ipam.ID
	Now ipam.Claim
}

// Release deletes a claim that still has the revision that was read, and keeps its allocation. The allocation is then retained, or in cool-down.
type Release struct {
	Claim ipam.Claim
	Now   ipam.Allocation
}

// Conflict means that some rows are not as the transaction expected. It lists names or keys that exist already, and claims that have changed or are
// gone. The transaction was rolled back, and the caller must repeat its look-up.
type Conflict struct {
	ClaimRefs       []NameRef
	IdempotencyKeys []NameRef
}

// NameRef is a name, or an idempotency key, in a project.
type NameRef struct {
	ProjectID ipam.ID
	Name      string
}

// Found reports whether the conflict lists any row.
func (c *Conflict) Found() bool { return len(c.ClaimRefs)+len(c.IdempotencyKeys) > 0 }

// Error implements error.
func (c *Conflict) Error() string { return "rows have changed since they were read" }
