package ipam

import (
	"net/netip"
	"strings"
	"time"
)

// ReclaimPolicy determines whether a block becomes free when its claim is deleted.
type ReclaimPolicy string

// The reclaim policies. ReclaimDelete is the default.
const (
	ReclaimDelete ReclaimPolicy = "Delete" // the block becomes free, after its cool-down if it has one
	ReclaimRetain ReclaimPolicy = "Retain" // the allocation stays, without a claim
)

// Claim is a request for one block, with the block it got. Every existing Claim is bound.
type Claim struct {
	Metadata
	ProjectID     ID           `json:"projectId"`
	Spec          ClaimSpec    `json:"spec"`
	Block         netip.Prefix `json:"block"`
	Pool          Ref          `json:"pool"`
	PoolID        ID           `json:"poolId"`
	PoolProjectID ID           `json:"poolProjectId"`
	AllocationID  ID           `json:"allocationId"`

	// The server computes these fields from the spec and the class when it binds the claim.
	Class         ClassRef      `json:"class,omitzero"` // zero for poolRef and poolSelector
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy"`
	ReuseAfter    time.Duration `json:"reuseAfter,omitempty"` // the block's cool-down after its release

	Allocated Allocated `json:"allocated,omitzero"`

	Consumers int `json:"consumers,omitempty"` // number of attached consumers
}

// Allocated has the fields in which the claim's allocation differs from the claim. A zero field means that both are equal.
type Allocated struct {
	Revision  ID        `json:"revision,omitzero"`  // set when the claim's labels change
	UpdatedAt time.Time `json:"updatedAt,omitzero"` // set when its reclaimPolicy changes
	CreatedAt time.Time `json:"createdAt,omitzero"` // set with CreatedBy if the block was retained before
	CreatedBy string    `json:"createdBy,omitempty"`
}

// ClaimSpec has the claim fields that the caller sets. At most one of ClassName, PoolRef, PoolSelector and AllocationRef is set. If all are unset,
// the family's default class applies. At most one of CIDR and Address is set.
type ClaimSpec struct {
	ClassName     string            `json:"className,omitempty"`
	Scope         map[string]string `json:"scope,omitempty"` // values for a scoped class's roles; other roles are ignored
	PoolRef       Ref               `json:"poolRef,omitzero"`
	PoolSelector  *Selector         `json:"poolSelector,omitempty"`
	AllocationRef string            `json:"allocationRef,omitempty"` // a retained allocation to bind again, by name
	AllocationOf  string            `json:"allocationOf,omitempty"`  // its pool's project, if the caller set it
	PrefixLength  *int              `json:"prefixLength,omitempty"`
	Family        Family            `json:"ipFamily,omitempty"`
	CIDR          netip.Prefix      `json:"cidr,omitzero"`
	Address       netip.Addr        `json:"address,omitzero"`
	ReclaimPolicy ReclaimPolicy     `json:"reclaimPolicy,omitempty"` // "": the class's, or else Delete
	OwnerRef      *OwnerRef         `json:"ownerRef,omitempty"`
	MaxConsumers  int               `json:"maxConsumers,omitempty"` // 0: one
	WhenUnused    WhenUnused        `json:"whenUnused,omitempty"`   // "": UnusedKeep

	Consumers []NewConsumer `json:"-"` // consumers to attach at the creation; not part of the stored spec
}

// MostConsumers returns how many consumers may be attached at the same time.
func (s *ClaimSpec) MostConsumers() int { return max(s.MaxConsumers, 1) }

// Alike reports whether two specs certainly request the same. It ignores owners and consumers. If a spec has a selector or a scope, Alike returns
// false.
func (s *ClaimSpec) Alike(t *ClaimSpec) bool {
	return s.PoolSelector == nil && t.PoolSelector == nil && len(s.Scope)+len(t.Scope) == 0 &&
		s.ClassName == t.ClassName && s.PoolRef == t.PoolRef && s.AllocationRef == t.AllocationRef && s.AllocationOf == t.AllocationOf &&
		same(s.PrefixLength, t.PrefixLength) && s.Family == t.Family &&
		s.CIDR == t.CIDR && s.Address == t.Address && s.ReclaimPolicy == t.ReclaimPolicy && s.MaxConsumers == t.MaxConsumers && s.WhenUnused == t.WhenUnused
}

// OwnerRef is free text that identifies the caller's own object.
type OwnerRef struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// String returns kind, name and uid, joined by slashes. It omits empty parts at the end. Filters use this format.
func (o *OwnerRef) String() string {
	if o == nil {
		return ""
	}
	return strings.TrimRight(o.Kind+"/"+o.Name+"/"+o.UID, "/")
}

// Exact returns the block that cidr or address requests. The result is invalid if neither is set.
func (s ClaimSpec) Exact() netip.Prefix {
	if s.CIDR.IsValid() {
		return s.CIDR
	}
	if s.Address.IsValid() {
		return HostBlock(s.Address)
	}
	return netip.Prefix{}
}

// ByClass reports whether a class selects the pool. The class is the one in ClassName, or the default class.
func (s ClaimSpec) ByClass() bool {
	return s.PoolRef == Ref{} && s.PoolSelector == nil && s.AllocationRef == ""
}

// WantedFamily returns the default class's family for a claim that names no class and no pool. The result is the exact block's family, or the
// requested one, or IPv4.
func (s ClaimSpec) WantedFamily() Family {
	if exact := s.Exact(); exact.IsValid() {
		return FamilyOf(exact.Addr())
	}
	if s.Family != "" {
		return s.Family
	}
	return IPv4
}

// Allocation returns the allocation for the claim's block.
func (c Claim) Allocation() Allocation {
	a := Allocation{
		ID: c.AllocationID, Region: c.Region, ProjectID: c.PoolProjectID, Project: c.Pool.Project, ContainerID: c.PoolID, Pool: c.Pool,
		Block: c.Block, Purpose: PurposeClaim, Phase: PhaseBound,
		HolderProjectID: c.ProjectID, Holder: c.Ref(), Class: c.Class, ReclaimPolicy: c.ReclaimPolicy, OwnerRef: c.Spec.OwnerRef,
		Since: c.CreatedAt, Revision: c.Allocated.Revision, CreatedAt: c.Allocated.CreatedAt, UpdatedAt: c.Allocated.UpdatedAt, CreatedBy: c.Allocated.CreatedBy,
	}
	if a.Revision.IsZero() {
		// The pool's owner may read the allocation, but must not learn the claim's revision, which a caller needs to update the claim. So the
		// revision here is derived from the claim's revision. It still shows each change.
		a.Revision = DerivedID(c.Revision, "allocation")
	}
	if a.CreatedAt.IsZero() {
		a.CreatedAt, a.CreatedBy = c.CreatedAt, c.CreatedBy
	}
	if a.UpdatedAt.IsZero() {
		a.UpdatedAt = c.CreatedAt
	}
	return a
}
