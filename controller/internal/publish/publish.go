// Package publish writes an IPClaim's block into a ConfigMap or a Secret that programs can mount.
package publish

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"

	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/predicate"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
	"github.com/carve-ipam/carve/controller/patch"
)

// Reconciler publishes the blocks for IPClaims that have the annotation.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server. The reconciler neither lists nor watches ConfigMaps and Secrets.
	Live client.Reader
	// Events records events for users.
	Events events.EventRecorder
	// Kinds are the kinds that the reconciler may write: ConfigMap, Secret.
	Kinds []string
	// Again is the pause before a retry if an object with the name exists and belongs to another owner.
	Again time.Duration
}

// Setup adds the reconciler to a manager.
func (r *Reconciler) Setup(manager ctrl.Manager) error {
	matters := predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return concerns(e.Object) },
		DeleteFunc: func(event.DeleteEvent) bool { return false }, // the garbage collector deletes the published object with its owner
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, ok := e.ObjectOld.(*ipam.IPClaim)
			is, also := e.ObjectNew.(*ipam.IPClaim)
			return ok && also && (concerns(was) || concerns(is)) && (was.Status.CIDR != is.Status.CIDR || !maps.Equal(was.Annotations, is.Annotations))
		},
	}
	return ctrl.NewControllerManagedBy(manager).Named("publish").For(&ipam.IPClaim{}, builder.WithPredicates(matters)).Complete(telemetry.Traced("publish", r))
}

func concerns(o client.Object) bool {
	return o.GetAnnotations()[ipam.PublishAnnotation] != "" || o.GetAnnotations()[ipam.PublishedAnnotation] != ""
}

// Reconcile writes one claim's block into the requested object, and deletes the object that the claim requested before.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var claim ipam.IPClaim
	if err := r.Client.Get(ctx, request.NamespacedName, &claim); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !claim.DeletionTimestamp.IsZero() {
		return ctrl.Result{}, nil
	}
	wanted, err := r.wanted(&claim)
	if err != nil {
		r.Events.Eventf(&claim, nil, core.EventTypeWarning, ipam.ReasonError, "Publish", "%s", err)
		wanted = ""
	}
	was := claim.Annotations[ipam.PublishedAnnotation]
	if was != "" && was != wanted {
		if err := r.withdraw(ctx, &claim, was); err != nil {
			return ctrl.Result{}, err
		}
	}
	// The claim records the new object before the object is written, so that a later reconciliation finds it.
	if was != wanted {
		if err := r.record(ctx, &claim, wanted); err != nil || wanted == "" {
			return ctrl.Result{}, err
		}
	}
	if wanted == "" {
		return ctrl.Result{}, nil
	}
	return r.write(ctx, &claim, wanted)
}

// wanted returns the object for a claim's block, as KIND/NAME. It returns "" if the claim requests no object, or has no block.
func (r *Reconciler) wanted(claim *ipam.IPClaim) (string, error) {
	asked := claim.Annotations[ipam.PublishAnnotation]
	if asked == "" || claim.Status.CIDR == "" {
		return "", nil
	}
	kind, name, named := strings.Cut(asked, "/")
	if !named {
		name = claim.Name
	}
	switch {
	case kind != kindConfigMap && kind != kindSecret || name == "" || strings.Contains(name, "/"):
		return "", fmt.Errorf("%s: %q has neither the form ConfigMap/NAME nor Secret/NAME", ipam.PublishAnnotation, asked)
	case !slices.Contains(r.Kinds, kind):
		return "", fmt.Errorf("the controller cannot write a %s: enable it with the flag --publish", kind)
	}
	return kind + "/" + name, nil
}

// record writes the kind and name of the published object into an annotation of the claim.
func (r *Reconciler) record(ctx context.Context, claim *ipam.IPClaim, place string) error {
	return patch.Change(ctx, r.Client, claim, func() {
		if claim.Annotations[ipam.PublishedAnnotation] = place; place == "" {
			delete(claim.Annotations, ipam.PublishedAnnotation)
		}
	}, patch.While("status", "cidr"))
}

// write writes a claim's block into an object. It leaves another owner's object as it is.
func (r *Reconciler) write(ctx context.Context, claim *ipam.IPClaim, place string) (ctrl.Result, error) {
	kind, name, _ := strings.Cut(place, "/")
	object := empty(kind, claim.Namespace, name)
	err := r.Live.Get(ctx, client.ObjectKeyFromObject(object), object)
	switch {
	case api.IsNotFound(err):
		object = empty(kind, claim.Namespace, name)
		object.SetOwnerReferences([]meta.OwnerReference{ownedBy(claim)})
		fill(object, facts(claim))
		return ctrl.Result{}, r.Client.Create(ctx, object)
	case err != nil:
		return ctrl.Result{}, err
	case !meta.IsControlledBy(object, claim):
		r.Events.Eventf(claim, nil, core.EventTypeWarning, ipam.ReasonError, "Publish", "%s exists and does not belong to this claim, so the controller does not change it", place)
		return ctrl.Result{RequeueAfter: r.Again}, nil
	}
	return ctrl.Result{}, patch.Change(ctx, r.Client, object, func() { fill(object, facts(claim)) })
}

// withdraw deletes the object with a claim's block, if the claim still controls it. Preconditions protect a newer object.
func (r *Reconciler) withdraw(ctx context.Context, claim *ipam.IPClaim, place string) error {
	kind, name, _ := strings.Cut(place, "/")
	object := empty(kind, claim.Namespace, name)
	if object == nil || !slices.Contains(r.Kinds, kind) {
		return nil // the garbage collector deletes it with the claim
	}
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: claim.Namespace, Name: name}, object)
	if err != nil || !meta.IsControlledBy(object, claim) {
		return client.IgnoreNotFound(err)
	}
	uid, version := object.GetUID(), object.GetResourceVersion()
	return client.IgnoreNotFound(r.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version}))
}
