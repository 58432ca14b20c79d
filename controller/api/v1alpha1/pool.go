package v1alpha1

import meta "k8s.io/apimachinery/pkg/apis/meta/v1"

// IPPool is a pool in Carve: the controller creates it, or shows an existing one. It has no namespace, because addresses have none.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io/move="
// +kubebuilder:resource:scope=Cluster,shortName=ipp,categories=carve
// +kubebuilder:printcolumn:name="CIDR",type=string,JSONPath=`.status.cidr`
// +kubebuilder:printcolumn:name="Utilization",type=string,JSONPath=`.status.utilization`
// +kubebuilder:printcolumn:name="Free",type=string,JSONPath=`.status.free`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Used",type=string,priority=1,JSONPath=`.status.used`
// +kubebuilder:printcolumn:name="Total",type=string,priority=1,JSONPath=`.status.total`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="has(self.spec.existing) || has(self.spec.name) || self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="a pool's name cannot have dots or more than 63 characters: set spec.name"
type IPPool struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitzero"`

	// spec describes the pool.
	Spec IPPoolSpec `json:"spec"`
	// status has the pool's state in Carve.
	// +optional
	Status IPPoolStatus `json:"status,omitzero"`
}

// IPPoolSpec describes a pool. Its fields have the same names and meanings as in Carve.
//
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || [has(self.name), has(self.cidr), has(self.parentRef), has(self.prefixLength), has(self.spaceRef), has(self.classNames), has(self.allocation), has(self.reservations), has(self.reuseAfter), has(self.description), has(self.drain)].filter(x, x).size() == 0",message="existing excludes all other fields: change an existing pool in Carve"
// +kubebuilder:validation:XValidation:rule="has(self.existing) || has(self.cidr) || (has(self.parentRef) && has(self.prefixLength))",message="set existing, cidr, or parentRef with prefixLength"
// +kubebuilder:validation:XValidation:rule="!has(self.prefixLength) || (has(self.parentRef) && !has(self.cidr))",message="prefixLength requires parentRef and excludes cidr"
// +kubebuilder:validation:XValidation:rule="!(has(self.parentRef) && has(self.spaceRef))",message="set at most one of parentRef and spaceRef"
// +kubebuilder:validation:XValidation:rule="has(self.existing) == has(oldSelf.existing) && (!has(self.existing) || self.existing == oldSelf.existing) && has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name) && has(self.cidr) == has(oldSelf.cidr) && (!has(self.cidr) || self.cidr == oldSelf.cidr) && has(self.parentRef) == has(oldSelf.parentRef) && (!has(self.parentRef) || self.parentRef == oldSelf.parentRef) && has(self.prefixLength) == has(oldSelf.prefixLength) && (!has(self.prefixLength) || self.prefixLength == oldSelf.prefixLength) && has(self.spaceRef) == has(oldSelf.spaceRef) && (!has(self.spaceRef) || self.spaceRef == oldSelf.spaceRef)",message="existing, name, cidr, parentRef, prefixLength and spaceRef cannot be changed: create another pool"
type IPPoolSpec struct {
	// existing names an existing pool in the project. The controller shows it, and neither changes nor deletes it.
	// +optional
	Existing Name `json:"existing,omitempty"`
	// name is the pool's name in Carve. By default this object's name.
	// +optional
	Name Name `json:"name,omitempty"`
	// cidr is the block. Without parentRef: a root pool's block. With parentRef: the exact block to carve from the parent.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="must be a block such as 10.20.0.0/16, without bits set after its prefix"
	CIDR string `json:"cidr,omitempty"`
	// parentRef names the pool in the project from which to carve this pool.
	// +optional
	ParentRef *ParentRef `json:"parentRef,omitempty"`
	// prefixLength is the prefix length of the block that the parent chooses.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	PrefixLength *int32 `json:"prefixLength,omitempty"`
	// spaceRef names a root pool's space, in which no other root pool overlaps it. By default the project's space default.
	// +optional
	SpaceRef *PoolRef `json:"spaceRef,omitempty"`
	// classNames lists the classes that the pool backs.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	ClassNames []Name `json:"classNames,omitempty"`
	// allocation has the rules for carving blocks from the pool.
	// +optional
	Allocation *PoolAllocation `json:"allocation,omitempty"`
	// reservations lists parts of the pool that are never carved: gateways, routers, ranges that another system allocates.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Reservations []Reservation `json:"reservations,omitempty"`
	// reuseAfter is the cool-down: the time before a released block can be claimed again.
	// +optional
	ReuseAfter Duration `json:"reuseAfter,omitempty"`
	// description is free text.
	// +optional
	Description Description `json:"description,omitempty"`
	// drain stops new allocations from the pool. Existing blocks stay.
	// +optional
	// +kubebuilder:validation:Enum=Keep
	Drain string `json:"drain,omitempty"`
}

// ParentRef names a pool in the same project.
type ParentRef struct {
	// name is the pool's name.
	Name Name `json:"name"`
}

// PoolAllocation has the rules for carving blocks from a pool.
type PoolAllocation struct {
	// strategy selects among the free blocks that fit. BestFit by default.
	// +optional
	// +kubebuilder:validation:Enum=BestFit;FirstFit;Random;Sparse
	Strategy string `json:"strategy,omitempty"`
	// defaultPrefixLength is the prefix length for claims that set none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	DefaultPrefixLength *int32 `json:"defaultPrefixLength,omitempty"`
	// minPrefixLength is the prefix length of the largest block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	MinPrefixLength *int32 `json:"minPrefixLength,omitempty"`
	// maxPrefixLength is the prefix length of the smallest block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	MaxPrefixLength *int32 `json:"maxPrefixLength,omitempty"`
}

// Reservation is a part of a pool that is never carved.
//
// +kubebuilder:validation:XValidation:rule="[has(self.cidr), has(self.from), has(self.first), has(self.last)].filter(x, x).size() == 1 && has(self.from) == has(self.to)",message="set exactly one of cidr, first, last, or the pair from and to"
type Reservation struct {
	// cidr is the reserved block.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	CIDR string `json:"cidr,omitempty"`
	// from is the first address of the reserved range.
	// +optional
	// +kubebuilder:validation:MaxLength=39
	From string `json:"from,omitempty"`
	// to is the last address of the reserved range.
	// +optional
	// +kubebuilder:validation:MaxLength=39
	To string `json:"to,omitempty"`
	// first is the number of addresses to reserve at the start of the pool.
	// +optional
	// +kubebuilder:validation:Minimum=1
	First int32 `json:"first,omitempty"`
	// last is the number of addresses to reserve at the end of the pool.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Last int32 `json:"last,omitempty"`
	// reason is free text.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}

// IPPoolStatus has the state of a pool in Carve, without its allocations. Address counts are decimal strings, because IPv6 counts exceed 64 bits.
type IPPoolStatus struct {
	Mirrored `json:",inline"`
	// cidr is the block.
	// +optional
	CIDR string `json:"cidr,omitempty"`
	// ipFamily is IPv4 or IPv6.
	// +optional
	IPFamily string `json:"ipFamily,omitempty"`
	// total is the number of addresses in the pool.
	// +optional
	Total string `json:"total,omitempty"`
	// used is the number of addresses that cannot be claimed now: allocated, reserved or in cool-down.
	// +optional
	Used string `json:"used,omitempty"`
	// free is the number of addresses that can be claimed.
	// +optional
	Free string `json:"free,omitempty"`
	// utilization is the used share of total.
	// +optional
	Utilization string `json:"utilization,omitempty"`
	// largestFreePrefixLength is the prefix length of the largest free block. Absent if nothing is free.
	// +optional
	LargestFreePrefixLength *int32 `json:"largestFreePrefixLength,omitempty"`
}

// IPPoolList lists pools.
//
// +kubebuilder:object:root=true
type IPPoolList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []IPPool `json:"items"`
}
