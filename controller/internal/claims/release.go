package claims

import (
	"context"
	"errors"
	"fmt"

	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/judge"
)

// release has Carve release the block of a claim that is being deleted, and lets the claim go then. As long as a pod uses it, it stays.
func (r *Reconciler) release(ctx context.Context, claim *ipam.IPClaim, user *meta.OwnerReference, verdict judge.Verdict) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(claim, ipam.Finalizer) {
		return ctrl.Result{}, nil
	}
	if err := r.leave(ctx, claim.Namespace, user, verdict); err != nil {
		return ctrl.Result{}, err
	}
	err := r.Realm.Carve.Release(ctx, r.Realm.Project, remoteName(claim))
	if errors.Is(err, carve.ProblemCodeInUse) {
		return ctrl.Result{RequeueAfter: again}, r.waits(ctx, claim, "the block is in use; it is released when its consumers have ended")
	}
	if err != nil && !carve.IsNotFound(err) {
		return ctrl.Result{}, fmt.Errorf("releasing the block: %w", err)
	}
	return ctrl.Result{}, r.free(ctx, claim)
}

// leave tells Carve what has become of the pod that uses a claim.
func (r *Reconciler) leave(ctx context.Context, namespace string, user *meta.OwnerReference, verdict judge.Verdict) error {
	switch {
	case user == nil || verdict == judge.Keep:
		return nil
	case verdict == judge.Gone:
		return r.Realm.End(ctx, user.UID)
	default:
		return r.Realm.Lapse(ctx, types.NamespacedName{Namespace: namespace, Name: user.Name}, user.UID)
	}
}
