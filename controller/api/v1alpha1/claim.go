package v1alpha1

import (
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// IPClaim asks for a block of addresses. The block is in its status, and is its own until it is deleted.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:resource:shortName=ipc,categories=carve
// +kubebuilder:printcolumn:name="CIDR",type=string,JSONPath=`.status.cidr`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Pool",type=string,priority=1,JSONPath=`.status.pool`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="has(self.spec) == has(oldSelf.spec)",message="the spec cannot be taken away or added later"
type IPClaim struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitzero"`

	// spec is what is asked for; nothing of it can be changed. Without it the default class serves the claim.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a claim is not changed: make another one"
	Spec IPClaimSpec `json:"spec,omitzero"`
	// status is what came of it.
	// +optional
	Status IPClaimStatus `json:"status,omitzero"`
}

// IPClaimSpec says where to take a block from, and which: what Carve's own claims say, in the same words.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.className) && has(self.poolRef))",message="at most one of className and poolRef"
// +kubebuilder:validation:XValidation:rule="[has(self.cidr), has(self.address), has(self.prefixLength)].filter(x, x).size() <= 1",message="at most one of cidr, address and prefixLength"
// +kubebuilder:validation:XValidation:rule="!has(self.nodeRole) || (has(self.bindingMode) && self.bindingMode == 'WaitForFirstConsumer')",message="nodeRole needs the bindingMode WaitForFirstConsumer"
// +kubebuilder:validation:XValidation:rule="!has(self.nodeRole) || !has(self.maxConsumers) || self.maxConsumers == 1",message="nodeRole is for claims of one pod"
// +kubebuilder:validation:XValidation:rule="!has(self.nodeRole) || !has(self.scope) || !(self.nodeRole in self.scope)",message="the role of the node has a value in scope already"
type IPClaimSpec struct {
	// className is the class whose policy serves the claim; by default the default class of the family.
	// +optional
	ClassName Name `json:"className,omitempty"`
	// poolRef takes the block from this very pool. Prefer a class: a claim that names a pool fails when that pool is full.
	// +optional
	PoolRef *PoolRef `json:"poolRef,omitempty"`
	// scope is the values of the roles that the class asks for, by role.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Scope map[string]ScopeValue `json:"scope,omitempty"`
	// prefixLength is the length of the block; by default that of the class, or else of the pool.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	PrefixLength *int32 `json:"prefixLength,omitempty"`
	// ipFamily admits only classes and pools of this family.
	// +optional
	// +kubebuilder:validation:Enum=IPv4;IPv6
	IPFamily string `json:"ipFamily,omitempty"`
	// cidr is this very block.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="must be a block such as 10.20.0.0/24, without bits behind its length"
	CIDR string `json:"cidr,omitempty"`
	// address is this very address, as a /32 or /128.
	// +optional
	// +kubebuilder:validation:MaxLength=39
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="must be an address such as 10.20.0.17"
	Address string `json:"address,omitempty"`
	// reclaimPolicy is what becomes of the block when the claim is deleted: free again, or kept by its allocation. By default what the class says.
	// +optional
	// +kubebuilder:validation:Enum=Delete;Retain
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// bindingMode says when the block is taken: at once (Immediate, the default), or when the first pod that uses it has a node (WaitForFirstConsumer).
	// A claim of several pods that waited for the first gives its block back with the last, and waits again.
	// +optional
	// +kubebuilder:validation:Enum=Immediate;WaitForFirstConsumer
	BindingMode string `json:"bindingMode,omitempty"`
	// nodeRole is the role of the scope that takes the UID of this pod's node, as slices of nodes have it: the block comes from the node's slice.
	// +optional
	NodeRole Name `json:"nodeRole,omitempty"`
	// maxConsumers is how many pods may use the claim at once, if it is of no single pod; 1 by default.
	// +optional
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=256
	MaxConsumers int32 `json:"maxConsumers,omitempty"`
}

// The binding modes.
const (
	BindingImmediate            = "Immediate"
	BindingWaitForFirstConsumer = "WaitForFirstConsumer"
)

// Name is that of something in Carve.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
type Name string

// ScopeValue is the value of one role of a scope.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type ScopeValue string

// PoolRef names a pool of Carve.
type PoolRef struct {
	// name is that of the pool.
	Name Name `json:"name"`
	// project is whose pool it is, if not of the project that claims.
	// +optional
	Project Name `json:"project,omitempty"`
}

// IPClaimStatus is what came of a claim.
type IPClaimStatus struct {
	// observedGeneration is the generation of the spec that this is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// cidr is the block.
	// +optional
	CIDR string `json:"cidr,omitempty"`
	// address is the address, when the block is a single one.
	// +optional
	Address string `json:"address,omitempty"`
	// pool is where the block was carved from, with its project.
	// +optional
	Pool string `json:"pool,omitempty"`
	// className is the class that served the claim.
	// +optional
	ClassName string `json:"className,omitempty"`
	// claim is the claim in Carve.
	// +optional
	Claim *RemoteClaim `json:"claim,omitempty"`
	// reservedFor are the pods that use the claim, if it is of no single pod.
	// +optional
	// +listType=map
	// +listMapKey=uid
	// +kubebuilder:validation:MaxItems=256
	ReservedFor []PodReference `json:"reservedFor,omitempty"`
	// conditions are Ready, Reconciling and Stalled, as kstatus reads them.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []meta.Condition `json:"conditions,omitempty"`
}

// RemoteClaim is a claim in Carve.
type RemoteClaim struct {
	// project is whose claim it is.
	Project string `json:"project"`
	// name is what it is called there.
	Name string `json:"name"`
	// uid tells it from others of that name.
	UID string `json:"uid"`
}

// PodReference is a pod of the claim's namespace.
type PodReference struct {
	// name is that of the pod.
	Name string `json:"name"`
	// uid tells it from others of that name.
	UID types.UID `json:"uid"`
}

// IPClaimList is a list of claims.
//
// +kubebuilder:object:root=true
type IPClaimList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []IPClaim `json:"items"`
}
