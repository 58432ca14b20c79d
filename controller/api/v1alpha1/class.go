package v1alpha1

import meta "k8s.io/apimachinery/pkg/apis/meta/v1"

// IPClass is a class in Carve: the controller creates it, or shows an existing one. A class has the rules for allocating one kind of address space.
//
// +kubebuilder:object:root=true
// +kubebuilder:subresource:status
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io="
// +kubebuilder:metadata:labels="clusterctl.cluster.x-k8s.io/move="
// +kubebuilder:resource:scope=Cluster,path=ipclasses,shortName=ipcl,categories=carve
// +kubebuilder:printcolumn:name="Family",type=string,JSONPath=`.status.ipFamily`
// +kubebuilder:printcolumn:name="Pools",type=integer,JSONPath=`.status.backingPools`
// +kubebuilder:printcolumn:name="Utilization",type=string,JSONPath=`.status.utilization`
// +kubebuilder:printcolumn:name="Ready",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].status`
// +kubebuilder:printcolumn:name="Reason",type=string,JSONPath=`.status.conditions[?(@.type=="Ready")].reason`
// +kubebuilder:printcolumn:name="Message",type=string,priority=1,JSONPath=`.status.conditions[?(@.type=="Ready")].message`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
// +kubebuilder:validation:XValidation:rule="has(self.spec.existing) || has(self.spec.name) || self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="a class's name cannot have dots or more than 63 characters: set spec.name"
type IPClass struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitzero"`

	// spec describes the class.
	Spec IPClassSpec `json:"spec"`
	// status has the class's state in Carve.
	// +optional
	Status IPClassStatus `json:"status,omitzero"`
}

// IPClassSpec describes a class. Its fields have the same names and meanings as in Carve.
//
// +kubebuilder:validation:XValidation:rule="has(self.existing) != has(self.ipFamily)",message="set exactly one of existing and ipFamily"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || [has(self.name), has(self.allowedPrefixLengths), has(self.defaultPrefixLength), has(self.isDefault), has(self.strategy), has(self.poolSelection), has(self.reclaimPolicy), has(self.reuseAfter), has(self.reuseAfterLost), has(self.uniqueWithin), has(self.poolPer), has(self.poolPrefixLength), has(self.emptyPoolTTL), has(self.description)].filter(x, x).size() == 0",message="existing excludes all other fields: change an existing class in Carve"
// +kubebuilder:validation:XValidation:rule="has(self.poolPer) == has(self.poolPrefixLength)",message="set both poolPer and poolPrefixLength, or neither"
// +kubebuilder:validation:XValidation:rule="has(self.existing) == has(oldSelf.existing) && (!has(self.existing) || self.existing == oldSelf.existing) && has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name) && (!has(self.ipFamily) || self.ipFamily == oldSelf.ipFamily) && has(self.uniqueWithin) == has(oldSelf.uniqueWithin) && (!has(self.uniqueWithin) || self.uniqueWithin == oldSelf.uniqueWithin) && has(self.poolPer) == has(oldSelf.poolPer) && (!has(self.poolPer) || (self.poolPer == oldSelf.poolPer && self.poolPrefixLength == oldSelf.poolPrefixLength))",message="existing, name, ipFamily, uniqueWithin, poolPer and poolPrefixLength cannot be changed: create another class"
type IPClassSpec struct {
	// existing names an existing class that the project can use. The controller shows it, and neither changes nor deletes it.
	// +optional
	Existing Name `json:"existing,omitempty"`
	// name is the class's name in Carve. By default this object's name.
	// +optional
	Name Name `json:"name,omitempty"`
	// ipFamily is the address family of the class's blocks.
	// +optional
	// +kubebuilder:validation:Enum=IPv4;IPv6
	IPFamily string `json:"ipFamily,omitempty"`
	// allowedPrefixLengths limits the blocks that can be claimed.
	// +optional
	AllowedPrefixLengths *PrefixLengths `json:"allowedPrefixLengths,omitempty"`
	// defaultPrefixLength is the prefix length for claims that set none.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	DefaultPrefixLength *int32 `json:"defaultPrefixLength,omitempty"`
	// isDefault lets the class serve claims of its family that name no class and no pool.
	// +optional
	IsDefault *bool `json:"isDefault,omitempty"`
	// strategy selects among the free blocks that fit. By default the pool's strategy.
	// +optional
	// +kubebuilder:validation:Enum=BestFit;FirstFit;Random;Sparse
	Strategy string `json:"strategy,omitempty"`
	// poolSelection is the order in which Carve tries the class's pools.
	// +optional
	// +kubebuilder:validation:Enum=FirstFit;LeastUtilized
	PoolSelection string `json:"poolSelection,omitempty"`
	// reclaimPolicy is the policy for claims that set none.
	// +optional
	// +kubebuilder:validation:Enum=Delete;Retain
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// reuseAfter is the cool-down: the time before a released block can be claimed again. By default the pool's.
	// +optional
	ReuseAfter Duration `json:"reuseAfter,omitempty"`
	// reuseAfterLost is the cool-down for a block whose last consumer was lost. 5m by default.
	// +optional
	ReuseAfterLost Duration `json:"reuseAfterLost,omitempty"`
	// uniqueWithin is the range in which two claims never overlap: the pool's space (the default), or the class.
	// +optional
	// +kubebuilder:validation:Enum=Space;Class
	UniqueWithin string `json:"uniqueWithin,omitempty"`
	// poolPer lists the roles that get separate pools, one for each combination of values: project, and then roles in a claim's scope, such as node.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=9
	PoolPer []Name `json:"poolPer,omitempty"`
	// poolPrefixLength is the prefix length of each pool that is carved for poolPer.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	PoolPrefixLength *int32 `json:"poolPrefixLength,omitempty"`
	// emptyPoolTTL is the time after which an empty pool of poolPer is deleted. 24h by default. Choose a long time for node slices.
	// +optional
	EmptyPoolTTL Duration `json:"emptyPoolTTL,omitempty"`
	// description is free text.
	// +optional
	Description Description `json:"description,omitempty"`
}

// PrefixLengths is a range of prefix lengths.
type PrefixLengths struct {
	// min is the prefix length of the largest block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	Min *int32 `json:"min,omitempty"`
	// max is the prefix length of the smallest block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	Max *int32 `json:"max,omitempty"`
}

// IPClassStatus has the state of a class in Carve and of its pools. Address counts are decimal strings.
type IPClassStatus struct {
	Mirrored `json:",inline"`
	// ipFamily is IPv4 or IPv6.
	// +optional
	IPFamily string `json:"ipFamily,omitempty"`
	// backingPools is the number of pools that list the class.
	// +optional
	BackingPools int64 `json:"backingPools,omitempty"`
	// total is the number of addresses in these pools.
	// +optional
	Total string `json:"total,omitempty"`
	// used is the number of these addresses that cannot be claimed now.
	// +optional
	Used string `json:"used,omitempty"`
	// free is the number of these addresses that can be claimed.
	// +optional
	Free string `json:"free,omitempty"`
	// utilization is the used share of total.
	// +optional
	Utilization string `json:"utilization,omitempty"`
}

// IPClassList lists classes.
//
// +kubebuilder:object:root=true
type IPClassList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []IPClass `json:"items"`
}
