// Package claims keeps one claim in Carve for each IPClaim. The claim's name contains the UID of the IPClaim. A retry, a restart or a second
// controller therefore finds the same claim and never creates another.
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
	"github.com/carve-ipam/carve/controller/internal/podstate"
	"github.com/carve-ipam/carve/controller/internal/realm"
	"github.com/carve-ipam/carve/controller/patch"
)

// Reconciler keeps the claims in Carve as the IPClaims want them.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server. Only such a read proves that a pod is gone.
	Live client.Reader
	// Realm is the realm in which the cluster's pods are consumers.
	Realm *realm.Realm
	// Judge has the options for the decision whether a pod still uses its claims.
	Judge podstate.Options
	// Between is the pause between two reads of a pod's network status. The controller treats a claim's address as missing only if both reads lack it.
	Between time.Duration
	// Events records events for users.
	Events events.EventRecorder
	// Shown returns the addresses that objects of other kinds, such as Cluster API's IPAddress, show to their users. For each address it returns the
	// UIDs of these objects' controllers (owner references). Shown is nil if no such kind exists.
	Shown func(context.Context) (map[Place][]types.UID, error)

	feed  *feed
	seen  observations
	short waiting
	ended refusedPods
	begun attempts
}

const (
	// recheckAfter is the pause before the next reconciliation of a claim that waits for consumers of other clusters, or for pods that expire.
	recheckAfter = 15 * time.Second
	// maxRetryPause is the pause before the retry of a refused claim. An event may cause an earlier retry.
	maxRetryPause = time.Minute
)

// Reconcile brings one claim closer to its desired state.
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
		r.seen.keep(request.NamespacedName, nil)
		return ctrl.Result{}, nil
	}
	if abandoned(&claim) {
		r.Events.Eventf(&claim, nil, core.EventTypeWarning, "Abandoned", "Release", "the claim was removed without a request to Carve, which may still have its block")
		return ctrl.Result{}, r.free(ctx, &claim)
	}
	bring := func() (ctrl.Result, error) { return r.share(ctx, &claim) }
	if user := PodOf(&claim); user != nil {
		bring = func() (ctrl.Result, error) { return r.own(ctx, &claim, user) }
	}
	result, err := bring()
	if err != nil && !claim.DeletionTimestamp.IsZero() && ofCarve(err) {
		return r.setRefused(ctx, &claim, err)
	}
	return result, err
}

// ofCarve reports whether an error comes from a call to Carve.
func ofCarve(err error) bool {
	_, refused := carve.AsProblem(err)
	_, failed := errors.AsType[*carve.Error](err)
	return refused || failed
}

// PodOf returns the reference to the pod that owns a claim, or nil if no pod does.
func PodOf(claim client.Object) *meta.OwnerReference {
	owner := meta.GetControllerOf(claim)
	if owner == nil || owner.APIVersion != "v1" || owner.Kind != "Pod" {
		return nil
	}
	return owner
}

// own reconciles a claim that a pod owns.
func (r *Reconciler) own(ctx context.Context, claim *ipam.IPClaim, owner *meta.OwnerReference) (ctrl.Result, error) {
	user := ipam.PodReference{Name: owner.Name, UID: owner.UID}
	s, err := r.assessPod(ctx, claim, user, claim.Annotations[ipam.InterfaceAnnotation])
	if err == nil {
		s, err = r.lookForEntry(ctx, claim, s)
	}
	if err != nil {
		return ctrl.Result{}, err
	}
	if claim.DeletionTimestamp.IsZero() {
		if s.verdict != podstate.Keep {
			r.Events.Eventf(claim, nil, core.EventTypeNormal, "Released", "Release", "%s", s.why)
			return ctrl.Result{}, r.discard(ctx, claim)
		}
		result, err := r.hold(ctx, claim, owner, s.pod)
		return withinPause(result, s.again), err
	}
	if !controllerutil.ContainsFinalizer(claim, ipam.Finalizer) {
		return ctrl.Result{}, nil
	}
	if s.verdict == podstate.Keep && claim.Status.Claim != nil { // the event of the pod's end reconciles the claim again
		return ctrl.Result{RequeueAfter: s.again}, r.waits(ctx, claim, inUse)
	}
	if err := r.releaseFromPod(ctx, claim, user, s); err != nil {
		return ctrl.Result{}, err
	}
	result, err := r.release(ctx, claim)
	return withinPause(result, s.again), err
}

// withinPause reduces a result's RequeueAfter to at most pause. If the result has no RequeueAfter, withinPause sets it to pause. A pause of 0 changes
// nothing.
func withinPause(result ctrl.Result, pause time.Duration) ctrl.Result {
	if pause > 0 && (result.RequeueAfter == 0 || pause < result.RequeueAfter) {
		result.RequeueAfter = pause
	}
	return result
}

// discard deletes a claim after its pod has gone. The UID precondition protects a newer claim with the same name.
func (r *Reconciler) discard(ctx context.Context, claim *ipam.IPClaim) error {
	return client.IgnoreNotFound(r.Client.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}))
}

// change applies a step to the status and writes it. The caller chose the step for the block that it read. If the status has another block by now,
// change fails.
func (r *Reconciler) change(ctx context.Context, claim *ipam.IPClaim, step func(*ipam.IPClaimStatus)) error {
	return patch.Change(ctx, r.Client, claim, func() {
		claim.Status.ObservedGeneration = claim.Generation
		step(&claim.Status)
	}, patch.While("status", "claim"))
}

// guard adds the finalizer to a claim. The controller claims a block only afterwards, so that it can release the block when a user deletes the claim.
func (r *Reconciler) guard(ctx context.Context, claim *ipam.IPClaim) error {
	return patch.Change(ctx, r.Client, claim, func() { controllerutil.AddFinalizer(claim, ipam.Finalizer) })
}

// free removes a claim's finalizer.
func (r *Reconciler) free(ctx context.Context, claim *ipam.IPClaim) error {
	return client.IgnoreNotFound(patch.Change(ctx, r.Client, claim, func() { controllerutil.RemoveFinalizer(claim, ipam.Finalizer) }))
}

// waits reports in the status that the controller still works on a claim.
func (r *Reconciler) waits(ctx context.Context, claim *ipam.IPClaim, message string) error {
	return r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		conditions.Working(&s.Conditions, claim.Generation, ipam.ReasonReconciling, message)
	})
}
