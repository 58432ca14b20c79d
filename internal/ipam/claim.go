package ipam

import (
	"net/netip"
	"strings"
	"time"
)

// ReclaimPolicy says what becomes of a block when its claim is deleted.
type ReclaimPolicy string

// The reclaim policies. ReclaimDelete is the default.
const (
	ReclaimDelete ReclaimPolicy = "Delete" // the block is free again at once
	ReclaimRetain ReclaimPolicy = "Retain" // the allocation stays, without a claim
)

// Claim is a request for one block, together with the block it got. A Claim that exists is bound.
type Claim struct {
	Metadata
	ProjectID     ID           `json:"projectId"`
	Spec          ClaimSpec    `json:"spec"`
	Block         netip.Prefix `json:"block"`
	Pool          Ref          `json:"pool"`
	PoolID        ID           `json:"poolId"`
	PoolProjectID ID           `json:"poolProjectId"`
	AllocationID  ID           `json:"allocationId"`

	// What came of the spec and of the class's policy when the claim was bound.
	Class         ClassRef      `json:"class,omitzero"` // none by poolRef and poolSelector
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy"`
	ReuseAfter    time.Duration `json:"reuseAfter,omitempty"` // cool-down of the block after its release

	Allocated Allocated `json:"allocated,omitzero"`

	Consumers int `json:"consumers,omitempty"` // that are attached
}

// Allocated is what a claim's allocation says of itself where it is not what the claim says. Zero: the same.
type Allocated struct {
	Revision  ID        `json:"revision,omitzero"`  // since the claim's labels were changed
	UpdatedAt time.Time `json:"updatedAt,omitzero"` // since its reclaimPolicy was
	CreatedAt time.Time `json:"createdAt,omitzero"` // of a block that was retained before, and
	CreatedBy string    `json:"createdBy,omitempty"`
}

// ClaimSpec is what the caller writes of a claim, as it was written: at most one of ClassName, PoolRef, PoolSelector and
// AllocationRef is set, and none means the default class of the family; at most one of CIDR and Address.
type ClaimSpec struct {
	ClassName     string            `json:"className,omitempty"`
	Scope         map[string]string `json:"scope,omitempty"` // values of the roles that a scoped class asks for; others are ignored
	PoolRef       Ref               `json:"poolRef,omitzero"`
	PoolSelector  *Selector         `json:"poolSelector,omitempty"`
	AllocationRef string            `json:"allocationRef,omitempty"` // name of a retained allocation to bind again
	AllocationOf  string            `json:"allocationOf,omitempty"`  // project of its pool, if the caller said so
	PrefixLength  *int              `json:"prefixLength,omitempty"`
	Family        Family            `json:"ipFamily,omitempty"`
	CIDR          netip.Prefix      `json:"cidr,omitzero"`
	Address       netip.Addr        `json:"address,omitzero"`
	ReclaimPolicy ReclaimPolicy     `json:"reclaimPolicy,omitempty"` // "": the class's, or else Delete
	OwnerRef      *OwnerRef         `json:"ownerRef,omitempty"`
	MaxConsumers  int               `json:"maxConsumers,omitempty"` // 0: one
	WhenUnused    WhenUnused        `json:"whenUnused,omitempty"`   // "": UnusedKeep

	Consumers []NewConsumer `json:"-"` // to be attached when the claim is made; nothing of what it is
}

// MostConsumers is how many consumers can be attached at once.
func (s *ClaimSpec) MostConsumers() int { return max(s.MaxConsumers, 1) }

// Alike reports whether two specs surely ask for the same, whoever owns what. Selectors and scopes are not looked into.
func (s *ClaimSpec) Alike(t *ClaimSpec) bool {
	return s.PoolSelector == nil && t.PoolSelector == nil && len(s.Scope)+len(t.Scope) == 0 &&
		s.ClassName == t.ClassName && s.PoolRef == t.PoolRef && s.AllocationRef == t.AllocationRef && s.AllocationOf == t.AllocationOf &&
		sameLength(s.PrefixLength, t.PrefixLength) && s.Family == t.Family &&
		s.CIDR == t.CIDR && s.Address == t.Address && s.ReclaimPolicy == t.ReclaimPolicy && s.MaxConsumers == t.MaxConsumers && s.WhenUnused == t.WhenUnused
}

func sameLength(a, b *int) bool {
	return a == b || a != nil && b != nil && *a == *b
}

// OwnerRef is free text that identifies the caller's own object.
type OwnerRef struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
}

// String is kind, name and uid with slashes between them, without those at the end that are empty: the owner as filters name it.
func (o *OwnerRef) String() string {
	if o == nil {
		return ""
	}
	return strings.TrimRight(o.Kind+"/"+o.Name+"/"+o.UID, "/")
}

// Exact is the very block that was asked for, by cidr or by address; invalid when none was.
func (s ClaimSpec) Exact() netip.Prefix {
	if s.CIDR.IsValid() {
		return s.CIDR
	}
	if s.Address.IsValid() {
		return HostBlock(s.Address)
	}
	return netip.Prefix{}
}

// ByClass reports whether a class is to find the pool: a named one, or the default one.
func (s ClaimSpec) ByClass() bool {
	return s.PoolRef == Ref{} && s.PoolSelector == nil && s.AllocationRef == ""
}

// WantedFamily is the family whose default class serves a claim that names nothing: the one that was asked for, that of the very
// block, or IPv4.
func (s ClaimSpec) WantedFamily() Family {
	if exact := s.Exact(); exact.IsValid() {
		return FamilyOf(exact.Addr())
	}
	if s.Family != "" {
		return s.Family
	}
	return IPv4
}

// Ref of the claim.
func (c Claim) Ref() Ref { return Ref{Project: c.Project, Name: c.Name} }

// Allocation is the record of the claim's block.
func (c Claim) Allocation() Allocation {
	a := Allocation{
		ID: c.AllocationID, Region: c.Region, ProjectID: c.PoolProjectID, Project: c.Pool.Project, ContainerID: c.PoolID, Pool: c.Pool,
		Block: c.Block, Purpose: PurposeClaim, Phase: PhaseBound,
		HolderProjectID: c.ProjectID, Holder: c.Ref(), Class: c.Class, ReclaimPolicy: c.ReclaimPolicy, OwnerRef: c.Spec.OwnerRef,
		Since: c.CreatedAt, Revision: c.Allocated.Revision, CreatedAt: c.Allocated.CreatedAt, UpdatedAt: c.Allocated.UpdatedAt, CreatedBy: c.Allocated.CreatedBy,
	}
	if a.Revision.IsZero() {
		// It follows the claim's and does not tell it: the pool's owner, who reads the allocation, learns so that the claim was changed, and not the tag
		// with which its holder changes it.
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
