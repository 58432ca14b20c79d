package v1alpha1

import meta "k8s.io/apimachinery/pkg/apis/meta/v1"

// IPClass is a class of Carve: one that it makes, or one that exists there and is shown. A class says how one kind of addresses is handed out.
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
// +kubebuilder:validation:XValidation:rule="has(self.spec.existing) || has(self.spec.name) || self.metadata.name.matches('^[a-z0-9]([-a-z0-9]{0,61}[a-z0-9])?$')",message="a name with dots or of more than 63 characters is none of a class: give the class another one in spec.name"
type IPClass struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitzero"`

	// spec is the class that is to be.
	Spec IPClassSpec `json:"spec"`
	// status is what it is in Carve.
	// +optional
	Status IPClassStatus `json:"status,omitzero"`
}

// IPClassSpec says what the class is, in the words of Carve.
//
// +kubebuilder:validation:XValidation:rule="has(self.existing) != has(self.ipFamily)",message="exactly one of existing and ipFamily"
// +kubebuilder:validation:XValidation:rule="!has(self.existing) || [has(self.name), has(self.allowedPrefixLengths), has(self.defaultPrefixLength), has(self.isDefault), has(self.strategy), has(self.poolSelection), has(self.reclaimPolicy), has(self.reuseAfter), has(self.reuseAfterLost), has(self.uniqueWithin), has(self.poolPer), has(self.poolPrefixLength), has(self.emptyPoolTTL), has(self.description)].filter(x, x).size() == 0",message="existing stands alone: a class that is only shown is changed in Carve"
// +kubebuilder:validation:XValidation:rule="has(self.poolPer) == has(self.poolPrefixLength)",message="poolPer and poolPrefixLength belong together"
// +kubebuilder:validation:XValidation:rule="has(self.existing) == has(oldSelf.existing) && (!has(self.existing) || self.existing == oldSelf.existing) && has(self.name) == has(oldSelf.name) && (!has(self.name) || self.name == oldSelf.name) && (!has(self.ipFamily) || self.ipFamily == oldSelf.ipFamily) && has(self.uniqueWithin) == has(oldSelf.uniqueWithin) && (!has(self.uniqueWithin) || self.uniqueWithin == oldSelf.uniqueWithin) && has(self.poolPer) == has(oldSelf.poolPer) && (!has(self.poolPer) || (self.poolPer == oldSelf.poolPer && self.poolPrefixLength == oldSelf.poolPrefixLength))",message="existing, name, ipFamily, uniqueWithin, poolPer and poolPrefixLength are not changed: make another class"
type IPClassSpec struct {
	// existing is the name of a class that the project can use and that is shown: the controller neither changes nor deletes it.
	// +optional
	Existing Name `json:"existing,omitempty"`
	// name is what the class is called in Carve; by default what this object is called.
	// +optional
	Name Name `json:"name,omitempty"`
	// ipFamily is that of its blocks.
	// +optional
	// +kubebuilder:validation:Enum=IPv4;IPv6
	IPFamily string `json:"ipFamily,omitempty"`
	// allowedPrefixLengths are which blocks can be claimed.
	// +optional
	AllowedPrefixLengths *PrefixLengths `json:"allowedPrefixLengths,omitempty"`
	// defaultPrefixLength is the length of a block whose claim does not say it.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	DefaultPrefixLength *int32 `json:"defaultPrefixLength,omitempty"`
	// isDefault has it serve claims of its family that name nothing.
	// +optional
	IsDefault *bool `json:"isDefault,omitempty"`
	// strategy is which of the free blocks that fit is taken; by default what the pool says.
	// +optional
	// +kubebuilder:validation:Enum=BestFit;FirstFit;Random;Sparse
	Strategy string `json:"strategy,omitempty"`
	// poolSelection is the order in which its pools are tried.
	// +optional
	// +kubebuilder:validation:Enum=FirstFit;LeastUtilized
	PoolSelection string `json:"poolSelection,omitempty"`
	// reclaimPolicy is what becomes of the block of a claim that does not say it.
	// +optional
	// +kubebuilder:validation:Enum=Delete;Retain
	ReclaimPolicy string `json:"reclaimPolicy,omitempty"`
	// reuseAfter is for how long nobody gets a block that was released; by default what the pool says.
	// +optional
	ReuseAfter Duration `json:"reuseAfter,omitempty"`
	// reuseAfterLost is the same for a block whose last consumer was lost; 5m by default.
	// +optional
	ReuseAfterLost Duration `json:"reuseAfterLost,omitempty"`
	// uniqueWithin is within what no two claims overlap: the space of their pool (the default), or the class.
	// +optional
	// +kubebuilder:validation:Enum=Space;Class
	UniqueWithin string `json:"uniqueWithin,omitempty"`
	// poolPer is whose claims have a pool of their own: project, and then roles of a claim's scope, such as node.
	// +optional
	// +listType=atomic
	// +kubebuilder:validation:MaxItems=9
	PoolPer []Name `json:"poolPer,omitempty"`
	// poolPrefixLength is the length of each such pool.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	PoolPrefixLength *int32 `json:"poolPrefixLength,omitempty"`
	// emptyPoolTTL is after how long such a pool is given back that holds nothing; 24h by default. Slices of nodes want a long one.
	// +optional
	EmptyPoolTTL Duration `json:"emptyPoolTTL,omitempty"`
	// description is for people.
	// +optional
	Description Description `json:"description,omitempty"`
}

// PrefixLengths are those from min to max.
type PrefixLengths struct {
	// min is that of the largest block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	Min *int32 `json:"min,omitempty"`
	// max is that of the smallest block.
	// +optional
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=128
	Max *int32 `json:"max,omitempty"`
}

// IPClassStatus is what a class is in Carve, and what stands behind it. Counts of addresses are decimal strings.
type IPClassStatus struct {
	Mirrored `json:",inline"`
	// ipFamily is IPv4 or IPv6.
	// +optional
	IPFamily string `json:"ipFamily,omitempty"`
	// backingPools is how many pools list the class.
	// +optional
	BackingPools int64 `json:"backingPools,omitempty"`
	// total is how many addresses they have together.
	// +optional
	Total string `json:"total,omitempty"`
	// used is how many of them nobody can claim now.
	// +optional
	Used string `json:"used,omitempty"`
	// free is how many of them can be claimed.
	// +optional
	Free string `json:"free,omitempty"`
	// utilization is the share of used in total.
	// +optional
	Utilization string `json:"utilization,omitempty"`
}

// IPClassList is a list of classes.
//
// +kubebuilder:object:root=true
type IPClassList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []IPClass `json:"items"`
}
