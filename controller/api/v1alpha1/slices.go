package v1alpha1

import (
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// NodeSlicePool gives each node in the cluster a slice: the node's own pool, from a class whose poolPer has a role for nodes.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:resource:scope=Cluster,shortName=nsp,categories=carve
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.spec.className`
// +kubebuilder:printcolumn:name="Assigned",type=string,JSONPath=`.status.assigned`
// +kubebuilder:printcolumn:name="Draining",type=string,JSONPath=`.status.draining`
// +kubebuilder:printcolumn:name="Free",type=string,JSONPath=`.status.free`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type NodeSlicePool struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitzero"`

	// spec selects the nodes and the class of their slices.
	Spec NodeSlicePoolSpec `json:"spec"`
	// status has the nodes' slices.
	// +optional
	Status NodeSlicePoolStatus `json:"status,omitzero"`
}

// NodeSlicePoolSpec selects the nodes and the class of their slices.
//
// +kubebuilder:validation:XValidation:rule="self.className == oldSelf.className && self.role == oldSelf.role && has(self.scope) == has(oldSelf.scope) && (!has(self.scope) || self.scope == oldSelf.scope)",message="className, role and scope cannot be changed: create another NodeSlicePool"
// +kubebuilder:validation:XValidation:rule="!has(self.scope) || !(self.role in self.scope)",message="scope must not have a value for role: each node has its own value"
type NodeSlicePoolSpec struct {
	// className names the class that carves the slices.
	ClassName Name `json:"className"`
	// role is the role in the class's poolPer whose value is the node's UID.
	// +optional
	// +kubebuilder:default=node
	Role Name `json:"role,omitempty"`
	// scope has the values for the other roles that the class requires.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Scope map[string]ScopeValue `json:"scope,omitempty"`
	// prefixLength is the expected prefix length of a slice. The class decides the real length. If the two differ, the status reports an error, and no slice changes.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	PrefixLength *int32 `json:"prefixLength,omitempty"`
	// nodeSelector selects nodes by their labels. By default all nodes.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="an operator must be In, NotIn, Exists or DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, (e.operator in ['In', 'NotIn']) == (has(e.values) && e.values.size() > 0))",message="In and NotIn need values, Exists and DoesNotExist have none"
	NodeSelector *meta.LabelSelector `json:"nodeSelector,omitempty"`
}

// NodeSlicePoolStatus has the nodes' slices.
type NodeSlicePoolStatus struct {
	// observedGeneration is the generation of the spec to which this status applies.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// prefixLength is the prefix length of a slice.
	// +optional
	PrefixLength int32 `json:"prefixLength,omitempty"`
	// total is the number of slices that fit into the class's pools, as a decimal string.
	// +optional
	Total string `json:"total,omitempty"`
	// assigned is the number of nodes with a slice.
	// +optional
	Assigned string `json:"assigned,omitempty"`
	// draining is the number of slices of deleted nodes that are still in use.
	// +optional
	Draining string `json:"draining,omitempty"`
	// free is the number of further slices that fit into the class's pools.
	// +optional
	Free string `json:"free,omitempty"`
	// assignments lists the first 100 nodes with their slices, by name. Carve has all of them.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Assignments []SliceAssignment `json:"assignments,omitempty"`
	// conditions are Ready, Reconciling and Stalled, as kstatus defines them.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []meta.Condition `json:"conditions,omitempty"`
}

// SliceAssignment is a node's slice.
type SliceAssignment struct {
	// node is the node's name. Empty if the node is deleted.
	// +optional
	Node string `json:"node,omitempty"`
	// uid is the node's UID, which identifies it in Carve.
	UID types.UID `json:"uid"`
	// cidr is the slice's block.
	CIDR string `json:"cidr"`
	// pool is the slice's pool in Carve, as project/name.
	Pool string `json:"pool"`
	// state is Assigned, or Draining if the node is deleted: the slice becomes free when its last block is released.
	// +kubebuilder:validation:Enum=Assigned;Draining
	State string `json:"state"`
}

// States that a slice can have.
const (
	SliceAssigned = "Assigned"
	SliceDraining = "Draining"
)

// NodeSlicePoolList lists NodeSlicePools.
//
// +kubebuilder:object:root=true
type NodeSlicePoolList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []NodeSlicePool `json:"items"`
}

// addClusterScoped adds the objects without a namespace to a scheme.
func addClusterScoped(s *runtime.Scheme) {
	s.AddKnownTypes(GroupVersion, &IPPool{}, &IPPoolList{}, &IPClass{}, &IPClassList{}, &NodeSlicePool{}, &NodeSlicePoolList{})
}
