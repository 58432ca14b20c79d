package claims

import (
	"context"
	"errors"
	"slices"
	"time"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/workqueue"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
	"sigs.k8s.io/controller-runtime/pkg/source"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/entries"
	"github.com/carve-ipam/carve/controller/internal/podstate"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// Index names.
const (
	// ByPod indexes claims by their pods' UIDs.
	ByPod = "pod-uid"
	// ByRemoteName indexes claims by their names in Carve.
	ByRemoteName = "remote-name"
	// byBlock indexes claims by the blocks that their metadata records.
	byBlock = "recorded-block"
	// ByClaim indexes pods by the claims that they request by name.
	ByClaim = "asked-claim"
)

// Setup adds the reconciler, its indexes and its feed to a manager. The manager reconciles as many claims at once as it has workers.
func (r *Reconciler) Setup(ctx context.Context, manager ctrl.Manager, workers int) error {
	r.feed = newFeed(r)
	if r.Between == 0 {
		r.Between = usuallyBetween
	}
	if err := errors.Join(index(ctx, manager.GetFieldIndexer()), manager.Add(r.feed)); err != nil {
		return err
	}
	// A deletion and a change to the spec start a reconciliation. A change to the status starts one only if it changes the claim's pods.
	specs := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.NewPredicateFuncs(func(o client.Object) bool {
		claim, ok := o.(*ipam.IPClaim)
		return ok && abandoned(claim)
	}), reserved())
	return ctrl.NewControllerManagedBy(manager).Named("claims").
		For(&ipam.IPClaim{}, builder.WithPredicates(specs)).
		Watches(&ipam.IPClaim{}, handler.EnqueueRequestsFromMapFunc(r.successors), builder.WithPredicates(deletions())).
		Watches(&core.Pod{}, handler.EnqueueRequestsFromMapFunc(r.usedBy), builder.WithPredicates(r.podChanged())).
		WatchesRawSource(source.Channel(r.feed.wake, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: Patience()}).Complete(telemetry.Traced("claim", r))
}

// reserved accepts a change to the pods that a claim names. A pod may end after the controller has attached it and before the cache has the claim's
// new status. The pod's event then finds a claim that does not name the pod. The controller therefore reconciles the claim again when its new status
// reaches the cache.
func reserved() predicate.Predicate {
	return predicate.Funcs{
		CreateFunc: func(event.CreateEvent) bool { return false }, DeleteFunc: func(event.DeleteEvent) bool { return false },
		UpdateFunc: func(e event.UpdateEvent) bool {
			before, ok := e.ObjectOld.(*ipam.IPClaim)
			after, also := e.ObjectNew.(*ipam.IPClaim)
			return ok && also && !slices.Equal(before.Status.ReservedFor, after.Status.ReservedFor)
		},
		GenericFunc: func(event.GenericEvent) bool { return false },
	}
}

const usuallyBetween = 30 * time.Second

// Patience returns the rate limiter for failed requests. The pause doubles from 20 ms up to one minute.
func Patience() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](20*time.Millisecond, maxRetryPause)
}

func index(ctx context.Context, indexer client.FieldIndexer) error {
	return errors.Join(
		indexer.IndexField(ctx, &ipam.IPClaim{}, ByPod, func(o client.Object) []string {
			if user := PodOf(o); user != nil {
				return []string{string(user.UID)}
			}
			return nil
		}),
		indexer.IndexField(ctx, &ipam.IPClaim{}, ByRemoteName, func(o client.Object) []string {
			claim, ok := o.(*ipam.IPClaim)
			if !ok {
				return nil
			}
			return []string{remoteName(claim)}
		}),
		indexer.IndexField(ctx, &ipam.IPClaim{}, byBlock, func(o client.Object) []string { return []string{o.GetAnnotations()[ipam.BlockAnnotation]} }),
		indexer.IndexField(ctx, &core.Pod{}, ByClaim, claimsOf),
	)
}

// claimsOf returns the claims that a pod requests by name.
func claimsOf(pod client.Object) (names []string) {
	all, _ := entries.Of(pod) // an unreadable annotation requests nothing; the pods reconciler reports it
	for _, e := range all {
		if e.Claim != "" {
			names = append(names, e.Claim)
		}
	}
	return names
}

// usedBy returns reconcile requests for the claims that a pod owns or requests by name.
func (r *Reconciler) usedBy(ctx context.Context, pod client.Object) []reconcile.Request {
	var claims ipam.IPClaimList
	if err := r.Client.List(ctx, &claims, client.InNamespace(pod.GetNamespace()), client.MatchingFields{ByPod: string(pod.GetUID())}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list the claims of a pod", "pod", pod.GetName())
		return nil
	}
	names := claimsOf(pod)
	for i := range claims.Items {
		names = append(names, claims.Items[i].Name)
	}
	requests := make([]reconcile.Request, 0, len(names))
	for _, name := range names {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Namespace: pod.GetNamespace(), Name: name}})
	}
	return requests
}

// podChanged accepts the changes after which a pod may begin or stop to use claims. It drops all other changes of pods.
func (r *Reconciler) podChanged() predicate.Predicate {
	gone := func(o client.Object) bool {
		pod, ok := o.(*core.Pod)
		if !ok {
			return true
		}
		verdict, _ := podstate.Assess(pod, pod.UID, r.Judge)
		return verdict != podstate.Keep
	}
	return predicate.Funcs{
		CreateFunc: func(e event.CreateEvent) bool { return gone(e.Object) || len(claimsOf(e.Object)) > 0 },
		UpdateFunc: func(e event.UpdateEvent) bool {
			return gone(e.ObjectNew) || nodeAssigned(e) || requestsChanged(e) || startedRunning(e)
		},
		DeleteFunc: func(event.DeleteEvent) bool { return true },
	}
}

// nodeAssigned reports whether a pod has got its node.
func nodeAssigned(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*core.Pod)
	after, also := e.ObjectNew.(*core.Pod)
	return ok && also && before.Spec.NodeName != after.Spec.NodeName
}

// requestsChanged reports whether the claims that a pod requests, or its network status, have changed.
func requestsChanged(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()
	return before[ipam.ClaimsAnnotation] != after[ipam.ClaimsAnnotation] || before[ipam.NetworkStatusAnnotation] != after[ipam.NetworkStatusAnnotation]
}

// startedRunning reports whether a pod has begun to run. A node writes the pod's network status earlier, but podstate.Network reads it only while the pod runs.
func startedRunning(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*core.Pod)
	after, also := e.ObjectNew.(*core.Pod)
	return ok && also && !podstate.NetworkIsSetUp(before) && podstate.NetworkIsSetUp(after)
}
