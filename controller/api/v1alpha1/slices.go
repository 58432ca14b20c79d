package v1alpha1

import (
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/types"
)

// NodeSlicePool gives each node of the cluster a slice: a pool of its own, of a class whose poolPer has a role for the node.
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

	// spec is which nodes get slices, and of what.
	Spec NodeSlicePoolSpec `json:"spec"`
	// status is what they have.
	// +optional
	Status NodeSlicePoolStatus `json:"status,omitzero"`
}

// NodeSlicePoolSpec says which nodes get slices, and of what.
//
// +kubebuilder:validation:XValidation:rule="self.className == oldSelf.className && self.role == oldSelf.role && has(self.scope) == has(oldSelf.scope) && (!has(self.scope) || self.scope == oldSelf.scope)",message="className, role and scope are not changed: make another NodeSlicePool"
// +kubebuilder:validation:XValidation:rule="!has(self.scope) || !(self.role in self.scope)",message="the role of the node is not in scope: each node has its own value"
type NodeSlicePoolSpec struct {
	// className is the class of which each slice is a pool.
	ClassName Name `json:"className"`
	// role is the one in the class's poolPer whose value is the UID of the node.
	// +optional
	// +kubebuilder:default=node
	Role Name `json:"role,omitempty"`
	// scope is the values of the other roles that the class asks for.
	// +optional
	// +kubebuilder:validation:MaxProperties=8
	Scope map[string]ScopeValue `json:"scope,omitempty"`
	// prefixLength is the length of a slice, which the class decides: another one here is shown as an error, and nothing is moved.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	PrefixLength *int32 `json:"prefixLength,omitempty"`
	// nodeSelector takes nodes by their labels; all of them by default.
	// +optional
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, e.operator in ['In', 'NotIn', 'Exists', 'DoesNotExist'])",message="an operator is In, NotIn, Exists or DoesNotExist"
	// +kubebuilder:validation:XValidation:rule="!has(self.matchExpressions) || self.matchExpressions.all(e, (e.operator in ['In', 'NotIn']) == (has(e.values) && e.values.size() > 0))",message="In and NotIn need values, Exists and DoesNotExist have none"
	NodeSelector *meta.LabelSelector `json:"nodeSelector,omitempty"`
}

// NodeSlicePoolStatus is what nodes have.
type NodeSlicePoolStatus struct {
	// observedGeneration is the generation of the spec that this is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// prefixLength is the length of a slice.
	// +optional
	PrefixLength int32 `json:"prefixLength,omitempty"`
	// total is how many slices the pools behind the class have room for in all, a decimal string.
	// +optional
	Total string `json:"total,omitempty"`
	// assigned is how many nodes have a slice.
	// +optional
	Assigned string `json:"assigned,omitempty"`
	// draining is how many slices of nodes that are gone are still in use.
	// +optional
	Draining string `json:"draining,omitempty"`
	// free is how many slices the pools behind the class have room for still.
	// +optional
	Free string `json:"free,omitempty"`
	// assignments are which node has which slice, in order of name: the first hundred. All of them are in Carve.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=100
	Assignments []SliceAssignment `json:"assignments,omitempty"`
	// conditions are Ready, Reconciling and Stalled, as kstatus reads them.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []meta.Condition `json:"conditions,omitempty"`
}

// SliceAssignment is the slice of a node.
type SliceAssignment struct {
	// node is its name; empty when it is gone.
	// +optional
	Node string `json:"node,omitempty"`
	// uid is its UID, by which Carve knows it.
	UID types.UID `json:"uid"`
	// cidr is the slice.
	CIDR string `json:"cidr"`
	// pool is the slice in Carve, with its project.
	Pool string `json:"pool"`
	// state is Assigned, or Draining when the node is gone: the slice is another's when nothing in it is held any more.
	// +kubebuilder:validation:Enum=Assigned;Draining
	State string `json:"state"`
}

// States of a slice.
const (
	SliceAssigned = "Assigned"
	SliceDraining = "Draining"
)

// NodeSlicePoolList is a list of what gives nodes slices.
//
// +kubebuilder:object:root=true
type NodeSlicePoolList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []NodeSlicePool `json:"items"`
}

// addClusterScoped makes the objects known that are of no namespace.
func addClusterScoped(s *runtime.Scheme) {
	s.AddKnownTypes(GroupVersion, &IPPool{}, &IPPoolList{}, &IPClass{}, &IPClassList{}, &NodeSlicePool{}, &NodeSlicePoolList{})
}
