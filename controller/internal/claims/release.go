package claims

import (
	"context"
	"errors"
	"fmt"

	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/judge"
)

// inUse is what a claim waits for that is deleted.
const inUse = "the block is in use; it is released when its consumers have ended"

// release has Carve release the block of a claim that is being deleted, and lets the claim go then. As long as somebody uses it, it stays.
func (r *Reconciler) release(ctx context.Context, claim *ipam.IPClaim) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(claim, ipam.Finalizer) {
		return ctrl.Result{}, nil
	}
	err := r.Realm.Carve.Release(ctx, r.Realm.Project, remoteName(claim))
	if errors.Is(err, carve.ProblemCodeInUse) {
		return ctrl.Result{RequeueAfter: again}, r.waits(ctx, claim, inUse)
	}
	if err != nil && !carve.IsNotFound(err) {
		return ctrl.Result{}, fmt.Errorf("releasing the block: %w", err)
	}
	return ctrl.Result{}, r.free(ctx, claim)
}

// leave tells Carve what has become of a pod that uses a claim. What a claim says of its pod may be copied from another namespace, whose pod lives: so
// nothing is told of a pod that Carve does not know by the name that was looked for.
func (r *Reconciler) leave(ctx context.Context, claim *ipam.IPClaim, user ipam.PodReference, s sight) error {
	switch {
	case s.verdict == judge.Keep:
		return nil
	case s.only:
		return r.Realm.Yield(ctx, remoteName(claim), user.UID)
	}
	had, err := r.Realm.HadPod(ctx, types.NamespacedName{Namespace: claim.Namespace, Name: user.Name}, user.UID)
	switch {
	case err != nil || !had:
		return err
	case s.verdict == judge.Gone:
		return r.Realm.End(ctx, user.UID)
	default:
		return r.Realm.Lapse(ctx, user.UID)
	}
}

// abandoned says whether somebody wants a claim to go without Carve.
func abandoned(claim *ipam.IPClaim) bool {
	return !claim.DeletionTimestamp.IsZero() && claim.Annotations[ipam.AbandonAnnotation] == "true"
}
