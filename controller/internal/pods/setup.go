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
	"github.com/carve-ipam/carve/controller/internal/judge"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// byTemplate is the index of pods by the templates that they ask for.
const byTemplate = "asked-template"

// soon is when a pod is looked at again of which something old was remembered.
const soon = 100 * time.Millisecond

// Setup has a manager run the reconciler, with so many pods at a time. It uses the indexes of [claims.Reconciler].
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

// Remembered is what of the cluster's pods is kept in memory: what is decided by, and nothing else.
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
	all, _ := entries.Of(pod) // what cannot be read asks for nothing; the pod is told so
	for _, e := range all {
		if e.Template != "" {
			names = append(names, e.Template)
		}
	}
	return names
}

// concerned answers the pods that a claim is told to: who owns it, and who asks for it by its name.
func (r *Reconciler) concerned(ctx context.Context, claim client.Object) []reconcile.Request {
	requests := r.find(ctx, claim, claims.ByClaim)
	if user := claims.PodOf(claim); user != nil {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: claim.GetNamespace(), Name: user.Name}})
	}
	return requests
}

// asking answers the pods that ask for a template.
func (r *Reconciler) asking(ctx context.Context, template client.Object) []reconcile.Request {
	return r.find(ctx, template, byTemplate)
}

// find answers the pods that name an object.
func (r *Reconciler) find(ctx context.Context, object client.Object, index string) []reconcile.Request {
	var pods core.PodList
	if err := r.Client.List(ctx, &pods, client.InNamespace(object.GetNamespace()), client.MatchingFields{index: object.GetName()}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "looking for pods", "of", object.GetName())
		return nil
	}
	requests := make([]reconcile.Request, 0, len(pods.Items))
	for i := range pods.Items {
		requests = append(requests, reconcile.Request{NamespacedName: client.ObjectKeyFromObject(&pods.Items[i])})
	}
	return requests
}

// asked takes a change of the entries of a pod or of its status, and the moment at which the pod gets its node or ends.
func (r *Reconciler) asked() predicate.Predicate {
	concerned := func(o client.Object) bool {
		return o.GetAnnotations()[ipam.ClaimsAnnotation] != "" || o.GetAnnotations()[ipam.StatusAnnotation] != ""
	}
	state := func(o client.Object) (node string, verdict judge.Verdict) {
		pod, ok := o.(*core.Pod)
		if !ok {
			return "", judge.Keep
		}
		verdict, _ = judge.Pod(pod, pod.UID, r.Judge)
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

// settled takes what changes of claims that pods are told.
func settled() predicate.Predicate {
	return predicate.Funcs{UpdateFunc: func(e event.UpdateEvent) bool {
		before, ok := e.ObjectOld.(*ipam.IPClaim)
		after, also := e.ObjectNew.(*ipam.IPClaim)
		return ok && also && !equality.Semantic.DeepEqual(before.Status, after.Status)
	}}
}

// appeared takes templates that are new. What changes of one concerns no claim that was made.
func appeared() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(event.UpdateEvent) bool { return false },
		DeleteFunc: func(event.DeleteEvent) bool { return false },
	}
}
