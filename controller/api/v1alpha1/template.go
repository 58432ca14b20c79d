package v1alpha1

import meta "k8s.io/apimachinery/pkg/apis/meta/v1"

// IPClaimTemplate is a template for claims: the controller creates one claim for each pod that requests it. Changing or deleting the template does not affect existing claims.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:shortName=ipct,categories=carve
// +kubebuilder:printcolumn:name="Class",type=string,JSONPath=`.spec.spec.className`
// +kubebuilder:printcolumn:name="Age",type=date,JSONPath=`.metadata.creationTimestamp`
type IPClaimTemplate struct {
	meta.TypeMeta   `json:",inline"`
	meta.ObjectMeta `json:"metadata,omitzero"`

	// spec describes the claims.
	Spec IPClaimTemplateSpec `json:"spec"`
}

// IPClaimTemplateSpec describes the claims of a template.
type IPClaimTemplateSpec struct {
	// metadata is copied to each claim.
	// +optional
	Metadata TemplateMetadata `json:"metadata,omitzero"`
	// spec is the spec of each claim.
	// +optional
	Spec IPClaimSpec `json:"spec,omitzero"`
}

// TemplateMetadata has labels and annotations for new claims.
type TemplateMetadata struct {
	// labels are added to each claim.
	// +optional
	Labels map[string]string `json:"labels,omitempty"`
	// annotations are added to each claim.
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// IPClaimTemplateList lists templates.
//
// +kubebuilder:object:root=true
type IPClaimTemplateList struct {
	meta.TypeMeta `json:",inline"`
	meta.ListMeta `json:"metadata,omitzero"`
	Items         []IPClaimTemplate `json:"items"`
}
