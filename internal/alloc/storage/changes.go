package storage

import (
	"net/netip"

	"github.com/carve-ipam/carve/internal/ipam"
)

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

	// Of blocks that no claim holds, at the revisions that were read.
	AllocationInsert []ipam.Allocation
	AllocationUpdate *AllocationUpdate
	AllocationDelete []ipam.Allocation

	// A claim comes and goes with its allocation, which follows from it.
	ClaimInsert  []ipam.Claim
	ClaimUpdate  *ClaimUpdate
	ClaimRebind  *ClaimUpdate // a new claim in place of a retained allocation
	ClaimDelete  []ipam.Claim // at the revisions that were read
	ClaimRelease []Release

	Answers []Answer

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

// AllocationUpdate replaces what can change of an allocation that no claim has and that still has revision Was.
type AllocationUpdate struct {
	Was ipam.ID
	Now ipam.Allocation
}

// ClaimUpdate replaces what can change of a hold that still has revision Was.
type ClaimUpdate struct {
	Was ipam.ID
	Now ipam.Claim
}

// Release is a claim that goes, at the revision that was read, while its allocation stays: retained, or to cool down.
type Release struct {
	Claim ipam.Claim
	Now   ipam.Allocation
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
