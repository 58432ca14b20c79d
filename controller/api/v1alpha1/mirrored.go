package v1alpha1

import meta "k8s.io/apimachinery/pkg/apis/meta/v1"

// Mirrored has the status fields that all mirrored objects share: pools and classes.
type Mirrored struct {
	// observedGeneration is the generation of the spec to which this status applies.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// remote identifies the object in Carve.
	// +optional
	Remote *Remote `json:"remote,omitempty"`
	// conditions are Ready, Reconciling and Stalled, as kstatus defines them.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []meta.Condition `json:"conditions,omitempty"`
}

// Remote identifies an object in Carve.
type Remote struct {
	// project is the object's project.
	Project string `json:"project"`
	// name is the object's name in Carve.
	Name string `json:"name"`
	// uid distinguishes the object from others with the same name.
	UID string `json:"uid"`
	// generation is the generation of the object's spec in Carve at the last comparison.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// appliedGeneration is the generation of this object's spec that was last applied in Carve. Absent if the object is only shown.
	// +optional
	AppliedGeneration int64 `json:"appliedGeneration,omitempty"`
}

// Duration is a length of time, such as 30s, 5m or 24h.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
type Duration string

// Description is free text of at most 1,024 bytes.
//
// +kubebuilder:validation:MaxLength=1024
type Description string

// Mirror returns the status fields that pools and classes share.
func (p *IPPool) Mirror() *Mirrored { return &p.Status.Mirrored }

// Shows returns the existing pool's name if the object only shows it, or an empty name if the controller creates the pool.
func (p *IPPool) Shows() Name { return p.Spec.Existing }

// Called returns the pool's name in Carve.
func (p *IPPool) Called() string { return called(p.Spec.Existing, p.Spec.Name, p.Name) }

// Mirror returns the status fields that pools and classes share.
func (c *IPClass) Mirror() *Mirrored { return &c.Status.Mirrored }

// Shows returns the existing class's name if the object only shows it, or an empty name if the controller creates the class.
func (c *IPClass) Shows() Name { return c.Spec.Existing }

// Called returns the class's name in Carve.
func (c *IPClass) Called() string { return called(c.Spec.Existing, c.Spec.Name, c.Name) }

func called(existing, chosen Name, own string) string {
	switch {
	case existing != "":
		return string(existing)
	case chosen != "":
		return string(chosen)
	default:
		return own
	}
}

// Reasons in mirrored objects' conditions.
const (
	ReasonPoolCreated = "PoolCreated"
	ReasonPoolUpdated = "PoolUpdated"
	ReasonValidated   = "Validated"
)

// AbandonRemote is an annotation. If it is "true", the controller removes a deleted object although its pool or class cannot be deleted in Carve: the pool or
// class stays there.
const AbandonRemote = "ipam.carve.dev/abandon"

// Annotations on IPClaims whose block the controller writes into another object.
const (
	// PublishAnnotation names the other object: ConfigMap/NAME or Secret/NAME in the claim's namespace. The name is the claim's by default.
	PublishAnnotation = "ipam.carve.dev/publish"
	// PublishedAnnotation names the object that the controller writes to. The controller sets it.
	PublishedAnnotation = "ipam.carve.dev/published"
)
