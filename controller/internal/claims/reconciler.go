// Package claims makes IPClaims true in Carve: one claim of Carve for each, called by the UID of the IPClaim, so that no repeat, restart or second
// controller ever makes another.
package claims

import (
	"context"
	"time"

	core "k8s.io/api/core/v1"
	api "k8s.io/apimachinery/pkg/api/errors"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/internal/judge"
	"github.com/carve-ipam/carve/controller/internal/realm"
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
	// Events are told to people.
	Events events.EventRecorder
}

// again is when a claim is looked at that waits for others: consumers who are not of this cluster, or pods that expire.
const again = 15 * time.Second

// Reconcile brings one claim nearer to what it is to be.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var claim ipam.IPClaim
	if err := r.Client.Get(ctx, request.NamespacedName, &claim); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	user := meta.GetControllerOf(&claim)
	if !isPod(user) {
		user = nil
	}
	verdict, why := judge.Keep, ""
	if user != nil {
		var err error
		if verdict, why, err = r.judge(ctx, claim.Namespace, user); err != nil {
			return ctrl.Result{}, err
		}
	}
	switch {
	case verdict != judge.Keep && claim.DeletionTimestamp.IsZero():
		r.Events.Eventf(&claim, nil, core.EventTypeNormal, "Released", "Release", "%s", why)
		return ctrl.Result{}, r.discard(ctx, &claim)
	case !claim.DeletionTimestamp.IsZero():
		return r.release(ctx, &claim, user, verdict)
	}
	return r.hold(ctx, &claim, user)
}

// isPod says whether an owner is a pod.
func isPod(owner *meta.OwnerReference) bool {
	return owner != nil && owner.APIVersion == "v1" && owner.Kind == "Pod"
}

// judge asks what has become of the pod that uses a claim. What would be released is looked up in the API server itself first: what is remembered may be
// older than the pod.
func (r *Reconciler) judge(ctx context.Context, namespace string, user *meta.OwnerReference) (judge.Verdict, string, error) {
	verdict, why := judge.Keep, ""
	for _, reader := range []client.Reader{r.Client, r.Live} {
		pod := new(core.Pod)
		if err := reader.Get(ctx, types.NamespacedName{Namespace: namespace, Name: user.Name}, pod); api.IsNotFound(err) {
			pod = nil
		} else if err != nil {
			return judge.Keep, "", err
		}
		if verdict, why = judge.Pod(pod, user.UID, r.Judge); verdict == judge.Keep {
			break
		}
	}
	return verdict, why, nil
}

// discard deletes a claim of which the pod is gone, that very one.
func (r *Reconciler) discard(ctx context.Context, claim *ipam.IPClaim) error {
	return client.IgnoreNotFound(r.Client.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}))
}

// change writes what a step makes of the status, if it makes anything of it.
func (r *Reconciler) change(ctx context.Context, claim *ipam.IPClaim, step func(*ipam.IPClaimStatus)) error {
	before := claim.DeepCopy()
	claim.Status.ObservedGeneration = claim.Generation
	step(&claim.Status)
	patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
	if unchanged(before, claim) {
		return nil
	}
	return r.Client.Status().Patch(ctx, claim, patch)
}

// guard puts the finalizer on a claim before anything is held for it.
func (r *Reconciler) guard(ctx context.Context, claim *ipam.IPClaim) error {
	before := claim.DeepCopy()
	if !controllerutil.AddFinalizer(claim, ipam.Finalizer) {
		return nil
	}
	return r.Client.Patch(ctx, claim, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// free takes the finalizer off a claim for which nothing is held.
func (r *Reconciler) free(ctx context.Context, claim *ipam.IPClaim) error {
	before := claim.DeepCopy()
	if !controllerutil.RemoveFinalizer(claim, ipam.Finalizer) {
		return nil
	}
	return client.IgnoreNotFound(r.Client.Patch(ctx, claim, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})))
}

// waits says of a claim what is under way.
func (r *Reconciler) waits(ctx context.Context, claim *ipam.IPClaim, message string) error {
	return r.change(ctx, claim, func(s *ipam.IPClaimStatus) {
		conditions.Working(&s.Conditions, claim.Generation, ipam.ReasonReconciling, message)
	})
}
