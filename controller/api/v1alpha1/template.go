package v1alpha1

import meta "k8s.io/apimachinery/pkg/apis/meta/v1"

// IPClaimTemplate is what claims are made from, one for each pod that asks for it. Changing or deleting it changes no claim that was made.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=ipct,categories=carve
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.spec.spec.className`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type IPClaimTemplate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitzero"`

	// spec is what claims are made of.
	Spec IPClaimTemplateSpec `json:"spec"`
}

// IPClaimTemplateSpec is what claims are made of.
type IPClaimTemplateSpec struct {
	// metadata is given to every claim.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitzero"`
	// spec is that of every claim.
	// +optional
	Spec IPClaimSpec `json:"spec,omitzero"`
}

// TemplateMetadata are the labels and annotations of claims to be made.
type TemplateMetadata struct {
	// labels are given to every claim.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations are given to every claim.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// IPClaimTemplateList is a list of templates.
//
// +kubebuilder:object:root=true
type IPClaimTemplateList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []IPClaimTemplate `json:"items"`
}
