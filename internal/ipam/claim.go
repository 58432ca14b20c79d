package ipam

import (
	"net/netip"
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
}

// OwnerRef is free text that identifies the caller's own object.
type OwnerRef struct {
	Kind string `json:"kind,omitempty"`
	Name string `json:"name,omitempty"`
	UID  string `json:"uid,omitempty"`
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
