package v1alpha1

import meta "k8s.io/apimachinery/pkg/apis/meta/v1"

// Mirrored is what the status of every object has that is one of Carve: a pool, or a class.
type Mirrored struct {
	// observedGeneration is the generation of the spec that this is about.
	// +optional
	ObservedGeneration int64 `json:"observedGeneration,omitempty"`
	// remote is what it is in Carve.
	// +optional
	Remote *Remote `json:"remote,omitempty"`
	// conditions are Ready, Reconciling and Stalled, as kstatus reads them.
	// +optional
	// +listType=map
	// +listMapKey=type
	Conditions []meta.Condition `json:"conditions,omitempty"`
}

// Remote is something in Carve.
type Remote struct {
	// project is whose it is.
	Project string `json:"project"`
	// name is what it is called there.
	Name string `json:"name"`
	// uid tells it from others of that name.
	UID string `json:"uid"`
	// generation is that of its spec in Carve, as it was last seen.
	// +optional
	Generation int64 `json:"generation,omitempty"`
	// appliedGeneration is the generation of this object's spec that it was last given; none when it is only shown.
	// +optional
	AppliedGeneration int64 `json:"appliedGeneration,omitempty"`
}

// Duration is a time such as 30s, 5m or 24h.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:Pattern=`^([0-9]+(\.[0-9]+)?(s|m|h))+$`
type Duration string

// Description is at most 1,024 bytes.
//
// +kubebuilder:validation:MaxLength=1024
type Description string

// Mirror is what the object has in its status as others of its sort do.
func (p *IPPool) Mirror() *Mirrored { return &p.Status.Mirrored }

// Shows is the name of the pool that is only shown; empty when the object makes one.
func (p *IPPool) Shows() Name { return p.Spec.Existing }

// Called is what the pool is called in Carve.
func (p *IPPool) Called() string { return called(p.Spec.Existing, p.Spec.Name, p.Name) }

// Mirror is what the object has in its status as others of its sort do.
func (c *IPClass) Mirror() *Mirrored { return &c.Status.Mirrored }

// Shows is the name of the class that is only shown; empty when the object makes one.
func (c *IPClass) Shows() Name { return c.Spec.Existing }

// Called is what the class is called in Carve.
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

// Reasons of the conditions of what is mirrored.
const (
	ReasonPoolCreated = "PoolCreated"
	ReasonPoolUpdated = "PoolUpdated"
	ReasonValidated   = "Validated"
)

// AbandonRemote is the annotation that, if it is "true", lets an object go whose pool or class cannot be deleted in Carve: what is there stays there.
const AbandonRemote = "ipam.carve.dev/abandon"

// Annotations of IPClaims whose block is written into another object.
const (
	// PublishAnnotation asks for it: ConfigMap/NAME or Secret/NAME in the claim's namespace. Without a name it is that of the claim.
	PublishAnnotation = "ipam.carve.dev/publish"
	// PublishedAnnotation is the controller's: where it writes to.
	PublishedAnnotation = "ipam.carve.dev/published"
)
