package claims

import (
	"context"
	"errors"
	"fmt"
	"strconv"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// inUse is the status message for a deleted claim while its block has consumers.
const inUse = "the block is in use; Carve releases it when its consumers have ended"

// release releases the block of a claim that is being deleted, and removes the finalizer afterwards. It waits while the block has consumers. It keeps
// the block if another IPClaim has taken over the block.
func (r *Reconciler) release(ctx context.Context, claim *ipam.IPClaim) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(claim, ipam.Finalizer) {
		return ctrl.Result{}, nil
	}
	heir, err := r.successor(ctx, claim)
	if err != nil {
		return ctrl.Result{}, err
	}
	if heir != "" {
		r.Events.Eventf(claim, nil, core.EventTypeNormal, "HandedOver", "Release", "Carve keeps the block for another object: %s", heir)
		return ctrl.Result{}, r.free(ctx, claim)
	}
	err = r.releaseClaim(ctx, remoteName(claim), claim.UID)
	if errors.Is(err, carve.ProblemCodeInUse) {
		return ctrl.Result{RequeueAfter: recheckAfter}, r.waits(ctx, claim, inUse)
	}
	if err != nil {
		return ctrl.Result{}, fmt.Errorf("release the block: %w", err)
	}
	return ctrl.Result{}, r.free(ctx, claim)
}

// releaseClaim releases a claim in Carve, if it still belongs to the IPClaim with the UID. It returns no error if the claim does not exist.
func (r *Reconciler) releaseClaim(ctx context.Context, name string, holder types.UID) error {
	found, err := r.Realm.Carve.GetClaim(ctx, r.Realm.Project, name)
	if err == nil && holderOf(found) == holder {
		err = r.Realm.Carve.DeleteClaim(ctx, r.Realm.Project, name, carve.DeleteClaimParams{IfMatch: new(strconv.Quote(found.Metadata.Revision))})
	}
	if carve.IsNotFound(err) {
		return nil
	}
	return err
}

// releaseFromPod reports to Carve that a pod no longer uses a claim. A claim may be a copy from another namespace, where its pod still lives.
// Therefore releaseFromPod ends a pod's consumer only if Carve knows the UID under the pod's namespace and name.
func (r *Reconciler) releaseFromPod(ctx context.Context, claim *ipam.IPClaim, user ipam.PodReference, s podAssessment) error {
	if s.verdict == podstate.Keep {
		return nil
	}
	if err := r.withdraw(ctx, claim, user, s.pod); err != nil {
		return err
	}
	switch {
	case s.dropped:
		err := r.Realm.Detach(ctx, remoteName(claim), user.UID)
		if carve.IsNotFound(err) {
			return nil
		}
		return err
	case s.only:
		return r.Realm.Yield(ctx, remoteName(claim), user.UID)
	}
	had, err := r.Realm.HadPod(ctx, types.NamespacedName{Namespace: claim.Namespace, Name: user.Name}, user.UID)
	switch {
	case err != nil || !had:
		return err
	case s.verdict == podstate.Gone:
		return r.Realm.End(ctx, user.UID)
	default:
		return r.Realm.Lapse(ctx, user.UID)
	}
}

// withdraw removes the block from the status annotation of a pod, if the pod exists.
func (r *Reconciler) withdraw(ctx context.Context, claim *ipam.IPClaim, user ipam.PodReference, pod *core.Pod) error {
	if pod == nil || pod.UID != user.UID {
		return nil
	}
	return entries.Withdraw(ctx, r.Client, pod, claim.Name)
}

// detach takes a claim from a live pod. It first removes the address from the pod's status annotation, so that another pod cannot get the address
// before. The claim stays, so its block does not cool down.
func (r *Reconciler) detach(ctx context.Context, claim *ipam.IPClaim, user ipam.PodReference) error {
	pod, err := r.podIn(ctx, r.Live, claim.Namespace, user.Name)
	if err == nil {
		err = r.withdraw(ctx, claim, user, pod)
	}
	if err != nil {
		return err
	}
	return r.Realm.Detach(ctx, remoteName(claim), user.UID)
}

// abandoned reports whether a user wants to delete a claim without a release in Carve.
func abandoned(claim *ipam.IPClaim) bool {
	return !claim.DeletionTimestamp.IsZero() && claim.Annotations[ipam.AbandonAnnotation] == "true"
}
