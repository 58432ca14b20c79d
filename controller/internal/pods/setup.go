package pods

import (
	"context"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/podstate"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// byTemplate indexes pods by the templates that they request.
const byTemplate = "asked-template"

// soon is the pause before a retry after the cache was old.
const soon = 100 * time.Millisecond

// Setup adds the reconciler to a manager. The manager reconciles as many pods at once as it has workers. It uses the indexes of [claims.Reconciler].
func (r *Reconciler) Setup(ctx context.Context, manager ctrl.Manager, workers int) error {
	if err := manager.GetFieldIndexer().IndexField(ctx, &core.Pod{}, byTemplate, templatesOf); err != nil {
		return err
	}
	return ctrl.NewControllerManagedBy(manager).Named("pods").
		For(&core.Pod{}, builder.WithPredicates(r.asked())).
		Watches(&ipam.IPClaim{}, handler.EnqueueRequestsFromMapFunc(r.concerned), builder.WithPredicates(settled())).
		Watches(&ipam.IPClaimTemplate{}, handler.EnqueueRequestsFromMapFunc(r.asking), builder.WithPredicates(appeared())).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: claims.Patience()}).Complete(telemetry.Traced("pod", r))
}

// Remembered returns the cache's transformation for pods. The cache keeps only the fields that the controller's decisions need.
func Remembered() map[client.Object]cache.ByObject {
	return map[client.Object]cache.ByObject{&core.Pod{}: {Transform: func(object any) (any, error) {
		if pod, ok := object.(*core.Pod); ok {
			pod.ManagedFields = nil
			pod.Spec = core.PodSpec{NodeName: pod.Spec.NodeName}
			pod.Status = core.PodStatus{Phase: pod.Status.Phase, Reason: pod.Status.Reason, Conditions: pod.Status.Conditions}
		}
		return object, nil
	}}}
}

func templatesOf(pod client.Object) (names []string) {
	all, _ := entries.Of(pod) // an unreadable annotation requests nothing; the reconciler reports it
	for _, e := range all {
		if e.Template != "" {
			names = append(names, e.Template)
		}
	}
	return names
}

// concerned returns requests for the pods that show a claim in their status. These are the pod that owns the claim, and the pods that request it by
// name.
func (r *Reconciler) concerned(ctx context.Context, claim client.Object) []reconcile.Request {
	requests := r.find(ctx, claim, claims.ByClaim)
	if user := claims.PodOf(claim); user != nil {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: claim.GetNamespace(), Name: user.Name}})
	}
	return requests
}

// asking returns the pods that request a template.
func (r *Reconciler) asking(ctx context.Context, template client.Object) []reconcile.Request {
	return r.find(ctx, template, byTemplate)
}

// find returns the pods that an index has under an object's name.
func (r *Reconciler) find(ctx context.Context, object client.Object, index string) []reconcile.Request {
	var pods core.PodList
	if err := r.Client.List(ctx, &pods, client.InNamespace(object.GetNamespace()), client.MatchingFields{index: object.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list pods", "of", object.GetName())
		return nil
	}
	requests := make([]reconcile.Request, 0, len(pods.Items))
	for i := range pods.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pods.Items[i])})
	}
	return requests
}

// asked accepts a change of a pod's entries, status, node or verdict.
func (r *Reconciler) asked() predicate.Predicate {
	concerned := func(o client.Object) bool {
		return o.GetAnnotations()[ipam.ClaimsAnnotation] != "" || o.GetAnnotations()[ipam.StatusAnnotation] != ""
	}
	state := func(o client.Object) (node string, verdict podstate.Verdict) {
		pod, ok := o.(*core.Pod)
		if !ok {
			return "", podstate.Keep
		}
		verdict, _ = podstate.Assess(pod, pod.UID, r.Judge)
		return pod.Spec.NodeName, verdict
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return concerned(e.Object) },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, after := e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()
			node, verdict := state(e.ObjectOld)
			newNode, newVerdict := state(e.ObjectNew)
			return concerned(e.ObjectNew) && (before[ipam.ClaimsAnnotation] != after[ipam.ClaimsAnnotation] ||
				before[ipam.StatusAnnotation] != after[ipam.StatusAnnotation] || node != newNode || verdict != newVerdict)
		},
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}

// settled accepts changes of the claims' statuses, because the pods' annotations show these statuses.
func settled() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*ipam.IPClaim)
		after, also := e.ObjectNew.(*ipam.IPClaim)
		return ok && also && !equality.Semantic.DeepEqual(before.Status, after.Status)
	}}
}

// appeared accepts new templates. A changed template changes no existing claim.
func appeared() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}
