package claims

import (
	"context"

	core "k8s.io/api/core/v1"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/judge"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// ByPod is the index of claims by the UID of the pod that uses them.
const ByPod = "pod-uid"

// Setup has a manager run the reconciler, with so many claims at a time.
func (r *Reconciler) Setup(ctx context.Context, manager ctrl.Manager, workers int) error {
	err := manager.GetFieldIndexer().IndexField(ctx, &ipam.IPClaim{}, ByPod, func(o client.Object) []string {
		if user := meta.GetControllerOf(o); isPod(user) {
			return []string{string(user.UID)}
		}
		return nil
	})
	if err != nil {
		return err
	}
	// What is written into the status makes no work; a deletion and a spec do.
	return ctrl.NewControllerManagedBy(manager).Named("claims").
		For(&ipam.IPClaim{}, builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		Watches(&core.Pod{}, handler.EnqueueRequestsFromMapFunc(r.usedBy), builder.WithPredicates(r.turned())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers}).Complete(telemetry.Traced("claim", r))
}

// usedBy answers the claims that a pod uses.
func (r *Reconciler) usedBy(ctx context.Context, pod client.Object) []reconcile.Request {
	var claims ipam.IPClaimList
	if err := r.Client.List(ctx, &claims, client.InNamespace(pod.GetNamespace()), client.MatchingFields{ByPod: string(pod.GetUID())}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "looking for the claims of a pod", "pod", pod.GetName())
		return nil
	}
	requests := make([]reconcile.Request, 0, len(claims.Items))
	for i := range claims.Items {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: claims.Items[i].Name}})
	}
	return requests
}

// turned takes the moments at which a pod may have stopped using its claims, and no other of the many changes of a pod.
func (r *Reconciler) turned() predicate.Predicate {
	gone := func(o client.Object) bool {
		pod, ok := o.(*core.Pod)
		if !ok {
			return true
		}
		verdict, _ := judge.Pod(pod, pod.UID, r.Judge)
		return verdict != judge.Keep
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return gone(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool { return gone(e.ObjectNew) },
		DeleteFunc: func(event.DeleteEvent) bool { return true },
	}
}
