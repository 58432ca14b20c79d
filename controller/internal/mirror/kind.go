// Package mirror makes objects of Kubernetes true that are one of Carve each, a pool or a class, and shows in their status what is so there. What
// somebody changes in Carve is shown and left as it is.
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

// Object is one that is something of Carve.
type Object interface {
	client.Object
	// Mirror is what all of them have in their status.
	Mirror() *ipam.Mirrored
	// Shows is the name of what is only shown; empty when the object makes something.
	Shows() ipam.Name
	// Called is its name in Carve.
	Called() string
}

// kind is what pools and classes differ in.
type kind[O Object, R any] struct {
	what     string
	created  string // the reason of one that was just made
	updated  string // the reason of one that was just changed
	new      func() O
	objects  func(context.Context, client.Reader) ([]O, error)
	list     func(context.Context) iter.Seq2[R, error]
	create   func(context.Context, O, carve.CreateMetadata) (*R, error)
	resource func(name string) patch.Resource[R]
	remove   func(ctx context.Context, name, ifMatch string) error
	meta     func(*R) *carve.Metadata
	// apply writes what can be changed of the object's spec into that of Carve.
	apply func(O, *R) error
	// show writes figures into the status, and says so if nothing is free.
	show func(O, *R) (full string)
	// drain keeps everything new out, so that it becomes empty; nil for what is nothing to drain.
	drain func(*R)
}

// Reconciler makes the objects of one kind true.
type Reconciler[O Object, R any] struct {
	Options
	kind kind[O, R]
	wake chan event.TypedGenericEvent[client.Object]
}

// Options are the same for all kinds.
type Options struct {
	// Client reads what is remembered of the API server, and writes to it.
	Client client.Client
	// Carve is where everything is.
	Carve *carve.Carve
	// Project is whose pools and classes they are.
	Project string
	// Realm names the cluster on what is made for it.
	Realm string
	// Events are told to people.
	Events events.EventRecorder
	// Every is how often Carve is asked how things are, in one call for all objects of a kind.
	Every time.Duration
}

// What is made in Carve says whose it is.
const (
	realmLabel     = "ipam.carve.dev/realm"
	uidAnnotation  = "ipam.carve.dev/uid"
	nameAnnotation = "ipam.carve.dev/name"
)

// metadata is what something is made with.
func (r *Reconciler[O, R]) metadata(o O) carve.CreateMetadata {
	return carve.CreateMetadata{
		Name: o.Called(), Labels: carve.Labels{realmLabel: r.Realm},
		Annotations: carve.Annotations{uidAnnotation: string(o.GetUID()), nameAnnotation: o.GetName()},
	}
}

// owns says whether something in Carve was made for an object, and no other object has taken it over.
func (r *Reconciler[O, R]) owns(o O, remote *R) bool {
	meta := r.kind.meta(remote)
	owner := meta.Annotations[uidAnnotation]
	if known := o.Mirror().Remote; known != nil && owner == "" {
		return known.UID == meta.UID
	}
	return owner == string(o.GetUID())
}

// inherits says whether something in Carve was made for a former object of the name in this realm: the object was moved or restored, and has another UID.
func (r *Reconciler[O, R]) inherits(o O, remote *R) bool {
	meta := r.kind.meta(remote)
	return o.Mirror().Remote == nil && meta.Labels[realmLabel] == r.Realm && meta.Annotations[nameAnnotation] == o.GetName()
}

// differences are the fields in which something in Carve is not as the object has it.
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

// note tells people of what has become of an object, with the event's type.
func (r *Reconciler[O, R]) note(o O, reason, message string) {
	kind := core.EventTypeNormal
	if reason == ipam.ReasonError || reason == ipam.ReasonPoolFull {
		kind = core.EventTypeWarning
	}
	r.Events.Eventf(o, nil, kind, reason, "Mirror", "%s", message)
}
