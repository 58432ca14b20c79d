// Package publish writes the block of an IPClaim into a ConfigMap or a Secret, for whoever wants to mount it.
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

// Reconciler publishes the blocks of IPClaims that ask for it.
type Reconciler struct {
	// Client reads what is remembered of the API server, and writes to it.
	Client client.Client
	// Live reads the API server itself: ConfigMaps and Secrets are neither listed nor watched.
	Live client.Reader
	// Events are told to people.
	Events events.EventRecorder
	// Kinds are those that may be written: ConfigMap, Secret.
	Kinds []string
	// Again is when a claim is looked at whose name somebody else has.
	Again time.Duration
}

// Setup has a manager run the reconciler.
func (r *Reconciler) Setup(manager ctrl.Manager) error {
	matters := predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return concerns(e.Object) },
		DeleteFunc: func(event.DeleteEvent) bool { return false }, // what was published goes with its owner
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

// Reconcile writes one claim's block to where it is wanted, and takes it away from where it is not wanted any more.
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
	// What is to be written is recorded first, so that it is found again by whoever comes next.
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

// wanted is where a claim's block is to be written, as KIND/NAME; empty for nowhere, and while there is no block.
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
		return "", fmt.Errorf("%s: %q is neither ConfigMap/NAME nor Secret/NAME", ipam.PublishAnnotation, asked)
	case !slices.Contains(r.Kinds, kind):
		return "", fmt.Errorf("the controller may not write a %s: see its flag --publish", kind)
	}
	return kind + "/" + name, nil
}

// record writes into a claim where its block is written to.
func (r *Reconciler) record(ctx context.Context, claim *ipam.IPClaim, place string) error {
	return patch.Change(ctx, r.Client, claim, func() {
		if claim.Annotations[ipam.PublishedAnnotation] = place; place == "" {
			delete(claim.Annotations, ipam.PublishedAnnotation)
		}
	}, patch.While("status", "cidr"))
}

// write writes a claim's block to a place. What somebody else has made there stays as it is.
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
		r.Events.Eventf(claim, nil, core.EventTypeWarning, ipam.ReasonError, "Publish", "%s is there and is not this claim's: it is left as it is", place)
		return ctrl.Result{RequeueAfter: r.Again}, nil
	}
	return ctrl.Result{}, patch.Change(ctx, r.Client, object, func() { fill(object, facts(claim)) })
}

// withdraw deletes what was written for a claim, that very object.
func (r *Reconciler) withdraw(ctx context.Context, claim *ipam.IPClaim, place string) error {
	kind, name, _ := strings.Cut(place, "/")
	object := empty(kind, claim.Namespace, name)
	if object == nil || !slices.Contains(r.Kinds, kind) {
		return nil // it goes with the claim
	}
	err := r.Live.Get(ctx, types.NamespacedName{Namespace: claim.Namespace, Name: name}, object)
	if err != nil || !meta.IsControlledBy(object, claim) {
		return client.IgnoreNotFound(err)
	}
	uid, version := object.GetUID(), object.GetResourceVersion()
	return client.IgnoreNotFound(r.Client.Delete(ctx, object, client.Preconditions{UID: &uid, ResourceVersion: &version}))
}
