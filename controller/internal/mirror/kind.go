// Package mirror creates and updates one pool or class in Carve for each IPPool or IPClass in Kubernetes, and shows its state in the status of the
// Kubernetes object. It shows changes that other clients make in Carve, but does not revert them.
package mirror

import (
	"context"
	"encoding/json"
	"iter"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/client-go/tools/events"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/client/patch"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// Object is a Kubernetes object that stands for one object in Carve.
type Object interface {
	client.Object
	// Mirror returns the status fields that all kinds share.
	Mirror() *ipam.Mirrored
	// Shows returns the name of an existing object in Carve that this object only shows. It returns "" if this object creates its own object in
	// Carve.
	Shows() ipam.Name
	// Called returns the name in Carve.
	Called() string
}

// kind has the differences between pools and classes.
type kind[O Object, R any] struct {
	what     string
	created  string // reason in the status after a creation
	updated  string // reason in the status after an update
	new      func() O
	objects  func(context.Context, client.Reader) ([]O, error)
	list     func(context.Context) iter.Seq2[R, error]
	create   func(context.Context, O, carve.CreateMetadata) (*R, error)
	resource func(name string) patch.Resource[R]
	remove   func(ctx context.Context, name, ifMatch string) error
	meta     func(*R) *carve.Metadata
	// apply copies the mutable fields of the specification to the object for Carve.
	apply func(O, *R) error
	// show writes figures into the status. It returns a message if nothing is free.
	show func(O, *R) (full string)
	// drain stops new allocations, so that the pool becomes empty. It is nil for a kind without draining.
	drain func(*R)
}

// Reconciler reconciles one kind's objects.
type Reconciler[O Object, R any] struct {
	Options
	kind kind[O, R]
	wake chan event.TypedGenericEvent[client.Object]
}

// Options has the settings that all kinds share.
type Options struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Carve is the client for Carve.
	Carve *carve.Carve
	// Project is the pools' and classes' project.
	Project string
	// Realm names the cluster in the labels that objects have in Carve.
	Realm string
	// Events records events for users.
	Events events.EventRecorder
	// Every is the interval between two lists from Carve. One list serves all objects.
	Every time.Duration
}

// Metadata that identifies an object's owner in Carve.
const (
	realmLabel     = "ipam.carve.dev/realm"
	uidAnnotation  = "ipam.carve.dev/uid"
	nameAnnotation = "ipam.carve.dev/name"
)

// metadata returns the metadata for a new object in Carve.
func (r *Reconciler[O, R]) metadata(o O) carve.CreateMetadata {
	return carve.CreateMetadata{
		Name: o.Called(), Labels: carve.Labels{realmLabel: r.Realm},
		Annotations: carve.Annotations{uidAnnotation: string(o.GetUID()), nameAnnotation: o.GetName()},
	}
}

// owns reports whether an object in Carve belongs to o.
func (r *Reconciler[O, R]) owns(o O, remote *R) bool {
	meta := r.kind.meta(remote)
	owner := meta.Annotations[uidAnnotation]
	if known := o.Mirror().Remote; known != nil && owner == "" {
		return known.UID == meta.UID
	}
	return owner == string(o.GetUID())
}

// inherits reports whether o may take over an object in Carve. That object was created for an earlier object with the same name in this realm. A
// moved or restored object has another UID than the earlier one.
func (r *Reconciler[O, R]) inherits(o O, remote *R) bool {
	meta := r.kind.meta(remote)
	return o.Mirror().Remote == nil && meta.Labels[realmLabel] == r.Realm && meta.Annotations[nameAnnotation] == o.GetName()
}

// differences returns the fields that differ between the specification and the object in Carve.
func (r *Reconciler[O, R]) differences(o O, remote *R) (fields []string, err error) {
	before, err := patch.Take(remote)
	if err != nil {
		return nil, err
	}
	wanted := *remote
	if err := r.kind.apply(o, &wanted); err != nil {
		return nil, err
	}
	changes, err := before.Changes(&wanted)
	if err != nil || changes == nil {
		return nil, err
	}
	var changed struct {
		Spec map[string]json.RawMessage `json:"spec"`
	}
	if err := json.Unmarshal(changes, &changed); err != nil {
		return nil, err
	}
	for field := range changed.Spec {
		fields = append(fields, "spec."+field)
	}
	slices.Sort(fields)
	return fields, nil
}

// note records an event. Its type depends on the reason.
func (r *Reconciler[O, R]) note(o O, reason, message string) {
	kind := core.EventTypeNormal
	if reason == ipam.ReasonError || reason == ipam.ReasonPoolFull {
		kind = core.EventTypeWarning
	}
	r.Events.Eventf(o, nil, kind, reason, "Mirror", "%s", message)
}
