package ipam

import "net/netip"

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
}

// ClaimSpec is what the caller writes of a claim, as it was written: exactly one of PoolRef, PoolSelector and
// AllocationRef is set; at most one of CIDR and Address.
type ClaimSpec struct {
	PoolRef       Ref           `json:"poolRef,omitzero"`
	PoolSelector  *Selector     `json:"poolSelector,omitempty"`
	AllocationRef string        `json:"allocationRef,omitempty"` // name of a retained allocation to bind again
	PrefixLength  *int          `json:"prefixLength,omitempty"`
	Family        Family        `json:"ipFamily,omitempty"`
	CIDR          netip.Prefix  `json:"cidr,omitzero"`
	Address       netip.Addr    `json:"address,omitzero"`
	ReclaimPolicy ReclaimPolicy `json:"reclaimPolicy"`
	OwnerRef      *OwnerRef     `json:"ownerRef,omitempty"`
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

// Ref of the claim.
func (c Claim) Ref() Ref { return Ref{Project: c.Project, Name: c.Name} }
