package v1alpha1

import meta "k8s.io/apimachinery/pkg/apis/meta/v1"

// IPPool is a pool of Carve: one that it makes, or one that exists there and is shown. It is of no namespace, as addresses are not.
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
// +kubebuilder:validation:XValidation:rule="has(self.spec.existing) || has(self.spec.name) || self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="a name with dots or of more than 63 characters is none of a pool: give the pool another one in spec.name"
type IPPool struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitzero"`

	// spec is the pool that is to be.
	Spec IPPoolSpec `json:"spec"`
	// status is what it is in Carve.
	// +optional
	Status IPPoolStatus `json:"status,omitzero"`
}

// IPPoolSpec says what the pool is, in the words of Carve.
//
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || [has(self.name), has(self.cidr), has(self.parentRef), has(self.prefixLength), has(self.spaceRef), has(self.classNames), has(self.allocation), has(self.reservations), has(self.reuseAfter), has(self.description), has(self.drain)].filter(x, x).size() == 0",message="existing stands alone: a pool that is only shown is changed in Carve"
// +kubebuilder:validation:XValidation:rule="has(self.existing) || has(self.cidr) || (has(self.parentRef) && has(self.prefixLength))",message="one of existing, cidr, and parentRef with prefixLength"
// +kubebuilder:validation:XValidation:rule="!has(self.prefixLength) || (has(self.parentRef) && !has(self.cidr))",message="prefixLength is for a parentRef without cidr"
// +kubebuilder:validation:XValidation:rule="!(has(self.parentRef) && has(self.spaceRef))",message="at most one of parentRef and spaceRef"
// +kubebuilder:validation:XValidation:rule="has(self.existing) == has(oldSelf.existing) && (!has(self.existing) || self.existing == oldSelf.existing) && has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name) && has(self.cidr) == has(oldSelf.cidr) && (!has(self.cidr) || self.cidr == oldSelf.cidr) && has(self.parentRef) == has(oldSelf.parentRef) && (!has(self.parentRef) || self.parentRef == oldSelf.parentRef) && has(self.prefixLength) == has(oldSelf.prefixLength) && (!has(self.prefixLength) || self.prefixLength == oldSelf.prefixLength) && has(self.spaceRef) == has(oldSelf.spaceRef) && (!has(self.spaceRef) || self.spaceRef == oldSelf.spaceRef)",message="existing, name, cidr, parentRef, prefixLength and spaceRef are not changed: make another pool"
type IPPoolSpec struct {
	// existing is the name of a pool of the project that is there and is shown: the controller neither changes nor deletes it.
	// +optional
	Existing Name `json:"existing,omitempty"`
	// name is what the pool is called in Carve; by default what this object is called.
	// +optional
	Name Name `json:"name,omitempty"`
	// cidr is the block: of a root, or with parentRef this very one of the parent.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="must be a block such as 10.20.0.0/16, without bits behind its length"
	CIDR string `json:"cidr,omitempty"`
	// parentRef is the pool of the project to carve the pool from.
	// +optional
	ParentRef *ParentRef `json:"parentRef,omitempty"`
	// prefixLength is the length of the block that the parent is to choose.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	PrefixLength *int32 `json:"prefixLength,omitempty"`
	// spaceRef is the space of a root, in which nothing overlaps it; by default the project's own.
	// +optional
	SpaceRef *PoolRef `json:"spaceRef,omitempty"`
	// classNames are the classes that the pool backs.
	// +optional
	// +listType=set
	// +kubebuilder:validation:MaxItems=64
	ClassNames []Name `json:"classNames,omitempty"`
	// allocation is how blocks are carved from the pool.
	// +optional
	Allocation *PoolAllocation `json:"allocation,omitempty"`
	// reservations are what is withheld: gateways, routers, what others give out.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=256
	Reservations []Reservation `json:"reservations,omitempty"`
	// reuseAfter is for how long nobody gets a block that was released.
	// +optional
	ReuseAfter Duration `json:"reuseAfter,omitempty"`
	// description is for people.
	// +optional
	Description Description `json:"description,omitempty"`
	// drain keeps everything new out of the pool; what it holds stays.
	// +optional
	// +kubebuilder:validation:Enum=Keep
	Drain string `json:"drain,omitempty"`
}

// ParentRef names a pool of the same project.
type ParentRef struct {
	// name is that of the pool.
	Name Name `json:"name"`
}

// PoolAllocation is how blocks are carved from a pool.
type PoolAllocation struct {
	// strategy is which of the free blocks that fit is taken; BestFit by default.
	// +optional
	// +kubebuilder:validation:Enum=BestFit;FirstFit;Random;Sparse
	Strategy string `json:"strategy,omitempty"`
	// defaultPrefixLength is the length of a block whose claim does not say it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	DefaultPrefixLength *int32 `json:"defaultPrefixLength,omitempty"`
	// minPrefixLength is that of the largest block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	MinPrefixLength *int32 `json:"minPrefixLength,omitempty"`
	// maxPrefixLength is that of the smallest block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	MaxPrefixLength *int32 `json:"maxPrefixLength,omitempty"`
}

// Reservation is a part of a pool that nobody gets.
//
// +kubebuilder:validation:XValidation:rule="[has(self.cidr), has(self.from), has(self.first), has(self.last)].filter(x, x).size() == 1 && has(self.from) == has(self.to)",message="one of cidr, first, last, and from with to"
type Reservation struct {
	// cidr is this block.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	CIDR string `json:"cidr,omitempty"`
	// from is the first address of a range.
	// +optional
	// +kubebuilder:validation:MaxLength=39
	From string `json:"from,omitempty"`
	// to is the last address of the range.
	// +optional
	// +kubebuilder:validation:MaxLength=39
	To string `json:"to,omitempty"`
	// first is so many addresses from the beginning of the pool.
	// +optional
	// +kubebuilder:validation:Minimum=1
	First int32 `json:"first,omitempty"`
	// last is so many addresses from its end.
	// +optional
	// +kubebuilder:validation:Minimum=1
	Last int32 `json:"last,omitempty"`
	// reason is for people.
	// +optional
	// +kubebuilder:validation:MaxLength=256
	Reason string `json:"reason,omitempty"`
}

// IPPoolStatus is what a pool is in Carve. What is held in it is in Carve alone. Counts of addresses are decimal strings, as IPv6 has so many.
type IPPoolStatus struct {
	Mirrored `json:",inline"`
	// cidr is the block.
	// +optional
	CIDR string `json:"cidr,omitempty"`
	// ipFamily is IPv4 or IPv6.
	// +optional
	IPFamily string `json:"ipFamily,omitempty"`
	// total is how many addresses the pool has.
	// +optional
	Total string `json:"total,omitempty"`
	// used is how many of them nobody can claim now: those that are held, reserved or cooling down.
	// +optional
	Used string `json:"used,omitempty"`
	// free is how many of them can be claimed.
	// +optional
	Free string `json:"free,omitempty"`
	// utilization is the share of used in total.
	// +optional
	Utilization string `json:"utilization,omitempty"`
	// largestFreePrefixLength is that of the largest block that is free; absent when nothing is.
	// +optional
	LargestFreePrefixLength *int32 `json:"largestFreePrefixLength,omitempty"`
}

// IPPoolList is a list of pools.
//
// +kubebuilder:object:root=true
type IPPoolList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []IPPool `json:"items"`
}
