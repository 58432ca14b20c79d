// Package claims makes IPClaims true in Carve: one claim of Carve for each, called by the UID of the IPClaim, so that no repeat, restart or second
// controller ever makes another.
package claims

import (
	"context"
	"errors"
	"time"

	core "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/judge"
	"github.com/carve-ipam/carve/controller/internal/realm"
	"github.com/carve-ipam/carve/controller/patch"
)

// Reconciler makes IPClaims true.
type Reconciler struct {
	// Client reads what is remembered of the API server, and writes to it.
	Client client.Client
	// Live reads the API server itself: nothing else proves that a pod is gone.
	Live client.Reader
	// Realm is where pods are consumers.
	Realm *realm.Realm
	// Judge are the options of the decision on pods.
	Judge judge.Options
	// Between is how long after the first look at a pod's network status the second one is, if the first finds no address.
	Between time.Duration
	// Events are told to people.
	Events events.EventRecorder
	// Shown answers the addresses that objects of another kind show to their users, and for each the UIDs of the objects that control them. It is nil
	// where there are none.
	Shown func(context.Context) (map[Place][]types.UID, error)

	feed  *feed
	seen  observations
	short waiting
	ended refusedPods
	begun attempts
}

const (
	// again is when a claim is looked at that waits for others: consumers who are not of this cluster, or pods that expire.
	again = 15 * time.Second
	// atMost is when a claim is tried again that was refused, unless something wakes it before.
	atMost = time.Minute
)

// Reconcile brings one claim nearer to what it is to be.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var claim ipam.IPClaim
	err := r.Client.Get(ctx, request.NamespacedName, &claim)
	gone := apierrors.IsNotFound(err)
	if err != nil && !gone {
		return ctrl.Result{}, err
	}
	if err := r.abort(ctx, request.NamespacedName, claim.UID); err != nil {
		return ctrl.Result{}, err
	}
	if gone {
		r.short.remove(request.NamespacedName)
		return ctrl.Result{}, nil
	}
	if abandoned(&claim) {
		r.Events.Eventf(&claim, nil, core.EventTypeWarning, "Abandoned", "Release", "the claim goes without Carve; what it held may be held there still")
		return ctrl.Result{}, r.free(ctx, &claim)
	}
	bring := func() (ctrl.Result, error) { return r.share(ctx, &claim) }
	if user := PodOf(&claim); user != nil {
		bring = func() (ctrl.Result, error) { return r.own(ctx, &claim, user) }
	}
	result, err := bring()
	if err != nil && !claim.DeletionTimestamp.IsZero() && ofCarve(err) {
		return r.refused(ctx, &claim, err)
	}
	return result, err
}

// ofCarve reports whether an error comes from a call to Carve.
func ofCarve(err error) bool {
	_, refused := carve.AsProblem(err)
	_, failed := errors.AsType[*carve.Error](err)
	return refused || failed
}

// PodOf answers the pod that owns a claim, if one does.
func PodOf(claim client.Object) *meta.OwnerReference {
	owner := meta.GetControllerOf(claim)
	if owner == nil || owner.APIVersion != "v1" || owner.Kind != "Pod" {
		return nil
	}
	return owner
}

// own brings on a claim that a pod owns.
func (r *Reconciler) own(ctx context.Context, claim *ipam.IPClaim, owner *meta.OwnerReference) (ctrl.Result, error) {
	user := ipam.PodReference{Name: owner.Name, UID: owner.UID}
	s, err := r.look(ctx, claim, user, claim.Annotations[ipam.InterfaceAnnotation])
	if err == nil {
		s, err = r.lookForEntry(ctx, claim, s)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if claim.DeletionTimestamp.IsZero() {
		if s.verdict != judge.Keep {
			r.Events.Eventf(claim, nil, core.EventTypeNormal, "Released", "Release", "%s", s.why)
			return ctrl.Result{}, r.discard(ctx, claim)
		}
		result, err := r.hold(ctx, claim, owner, s.pod)
		return sooner(result, s.again), err
	}
	if !controllerutil.ContainsFinalizer(claim, ipam.Finalizer) {
		return ctrl.Result{}, nil
	}
	if s.verdict == judge.Keep && claim.Status.Claim != nil { // the pod's end brings it here again, and nothing is to be asked until then
		return ctrl.Result{RequeueAfter: s.again}, r.waits(ctx, claim, inUse)
	}
	if err := r.leave(ctx, claim, user, s); err != nil {
		return ctrl.Result{}, err
	}
	result, err := r.release(ctx, claim)
	return sooner(result, s.again), err
}

// sooner is a result that comes no later than after a pause; 0 is none.
func sooner(result ctrl.Result, pause time.Duration) ctrl.Result {
	if pause > 0 && (result.RequeueAfter == 0 || pause < result.RequeueAfter) {
		result.RequeueAfter = pause
	}
	return result
}

// discard deletes a claim of which the pod is gone, that very one.
func (r *Reconciler) discard(ctx context.Context, claim *ipam.IPClaim) error {
	return client.IgnoreNotFound(r.Client.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}))
}

// change writes the changes that a step makes to the status. A step is decided for one block, so change does not write if the status has another one.
func (r *Reconciler) change(ctx context.Context, claim *ipam.IPClaim, step func(*ipam.IPClaimStatus)) error {
	return patch.Change(ctx, r.Client, claim, func() {
		claim.Status.ObservedGeneration = claim.Generation
		step(&claim.Status)
	}, patch.While("status", "claim"))
}

// guard puts the finalizer on a claim before anything is held for it.
func (r *Reconciler) guard(ctx context.Context, claim *ipam.IPClaim) error {
	return patch.Change(ctx, r.Client, claim, func() { controllerutil.AddFinalizer(claim, ipam.Finalizer) })
}

// free takes the finalizer off a claim for which nothing is held.
func (r *Reconciler) free(ctx context.Context, claim *ipam.IPClaim) error {
	return client.IgnoreNotFound(patch.Change(ctx, r.Client, claim, func() { controllerutil.RemoveFinalizer(claim, ipam.Finalizer) }))
}

// waits says of a claim what is under way.
func (r *Reconciler) waits(ctx context.Context, claim *ipam.IPClaim, message string) error {
	return r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		conditions.Working(&s.Conditions, claim.Generation, ipam.ReasonReconciling, message)
	})
}
