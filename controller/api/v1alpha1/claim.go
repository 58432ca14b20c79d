package v1alpha1

import (
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
)

// IPClaim requests a block of addresses. Its status has the block, and the claim keeps the block until it is deleted.
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
// +kubebuilder:validation:XValidation:rule="has(self.spec) == has(oldSelf.spec)",message="the spec cannot be added or removed later"
type IPClaim struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitzero"`

	// spec describes the block. It cannot be changed. Without it the default class serves the claim.
	// +optional
	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="a claim cannot be changed: create another one"
	Spec IPClaimSpec `json:"spec,omitzero"`
	// status has the block and the claim's state.
	// +optional
	Status IPClaimStatus `json:"status,omitzero"`
}

// IPClaimSpec selects the source and the block. Its fields have the same names and meanings as those of claims in Carve.
//
// +kubebuilder:validation:XValidation:rule="!(has(self.className) && has(self.poolRef))",message="set at most one of className and poolRef"
// +kubebuilder:validation:XValidation:rule="[has(self.cidr), has(self.address), has(self.prefixLength)].filter(x, x).size() <= 1",message="set at most one of cidr, address and prefixLength"
// +kubebuilder:validation:XValidation:rule="!has(self.nodeRole) || (has(self.bindingMode) && self.bindingMode == 'WaitForFirstConsumer')",message="nodeRole requires the bindingMode WaitForFirstConsumer"
// +kubebuilder:validation:XValidation:rule="!has(self.nodeRole) || !has(self.maxConsumers) || self.maxConsumers == 1",message="nodeRole requires maxConsumers 1: the claim is for one pod"
// +kubebuilder:validation:XValidation:rule="!has(self.nodeRole) || !has(self.scope) || !(self.nodeRole in self.scope)",message="scope must not have a value for nodeRole"
type IPClaimSpec struct {
	// className names the class that serves the claim. By default the default class of the address family.
	// +optional
	ClassName Name `json:"className,omitempty"`
	// poolRef names the pool to take the block from. Prefer a class: a claim that names a pool fails when that pool is full.
	// +optional
	PoolRef *PoolRef `json:"poolRef,omitempty"`
	// scope has the values for the roles that the class requires, by role.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Scope map[string]ScopeValue `json:"scope,omitempty"`
	// prefixLength is the block's prefix length. By default the class's, or else the pool's.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	PrefixLength *int32 `json:"prefixLength,omitempty"`
	// ipFamily restricts the claim to classes and pools of this address family.
	// +optional
	// +kubebuilder:validation:Enum=IPv4;IPv6
	IPFamily string `json:"ipFamily,omitempty"`
	// cidr is the exact block to claim.
	// +optional
	// +kubebuilder:validation:MaxLength=43
	// +kubebuilder:validation:XValidation:rule="isCIDR(self) && cidr(self) == cidr(self).masked()",message="must be a block such as 10.20.0.0/24, without bits set after its prefix"
	CIDR string `json:"cidr,omitempty"`
	// address is the exact address to claim, as a /32 or /128.
	// +optional
	// +kubebuilder:validation:MaxLength=39
	// +kubebuilder:validation:XValidation:rule="isIP(self)",message="must be an address such as 10.20.0.17"
	Address string `json:"address,omitempty"`
	// reclaimPolicy selects the treatment of the block when the claim is deleted: the block becomes free (Delete), or its allocation keeps the block (Retain). By default the class's policy.
	// +optional
	// +kubebuilder:validation:Enum=Delete;Retain
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// bindingMode selects the time of allocation: immediately (Immediate, the default), or when the first pod that uses the claim has a node
	// (WaitForFirstConsumer). With WaitForFirstConsumer, a claim for several pods releases its block when the last pod leaves, and waits again.
	// +optional
	// +kubebuilder:validation:Enum=Immediate;WaitForFirstConsumer
	BindingMode string `json:"bindingMode,omitempty"`
	// nodeRole names the role in the scope whose value is the UID of the pod's node. The block comes from that node's slice (see NodeSlicePool).
	// +optional
	NodeRole Name `json:"nodeRole,omitempty"`
	// maxConsumers is the maximum number of pods that can use the claim at the same time, if no pod owns it. 1 by default.
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

// Name is the name of an object in Carve.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^[a-z0-9]([-a-z0-9]*[a-z0-9])?$`
type Name string

// ScopeValue is the value for one role in a scope.
//
// +kubebuilder:validation:MaxLength=63
// +kubebuilder:validation:Pattern=`^([A-Za-z0-9]([-A-Za-z0-9_.]*[A-Za-z0-9])?)?$`
type ScopeValue string

// PoolRef names a pool in Carve.
type PoolRef struct {
	// name is the pool's name.
	Name Name `json:"name"`
	// project is the pool's project. By default the project that claims.
	// +optional
	Project Name `json:"project,omitempty"`
}

// IPClaimStatus has a claim's block and state.
type IPClaimStatus struct {
	// observedGeneration is the generation of the spec to which this status applies.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// cidr is the allocated block.
	// +optional
	CIDR string `json:"cidr,omitempty"`
	// address is the address, if the block is a single address.
	// +optional
	Address string `json:"address,omitempty"`
	// pool is the pool from which the block was carved, as project/name.
	// +optional
	Pool string `json:"pool,omitempty"`
	// className is the class that served the claim.
	// +optional
	ClassName string `json:"className,omitempty"`
	// claim identifies the claim in Carve.
	// +optional
	Claim *RemoteClaim `json:"claim,omitempty"`
	// reservedFor lists the pods that use the claim, if no pod owns it.
	// +optional
	// +listType=map
	// +listMapKey=uid
	// +kubebuilder:validation:MaxItems=256
	ReservedFor []PodReference `json:"reservedFor,omitempty"`
	// conditions are Ready, Reconciling and Stalled, as kstatus defines them.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []meta.Condition `json:"conditions,omitempty"`
}

// RemoteClaim identifies a claim in Carve.
type RemoteClaim struct {
	// project is the claim's project.
	Project string `json:"project"`
	// name is the claim's name in Carve.
	Name string `json:"name"`
	// uid distinguishes the claim from others with the same name.
	UID string `json:"uid"`
}

// PodReference identifies a pod in the claim's namespace.
type PodReference struct {
	// name is the pod's name.
	Name string `json:"name"`
	// uid distinguishes the pod from others with the same name.
	UID types.UID `json:"uid"`
}

// IPClaimList lists claims.
//
// +kubebuilder:object:root=true
type IPClaimList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []IPClaim `json:"items"`
}
