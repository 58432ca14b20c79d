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
	"github.com/carve-ipam/carve/controller/internal/judge"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// The indexes.
const (
	// ByPod finds claims by the UID of the pod that owns them.
	ByPod = "pod-uid"
	// ByRemoteName finds claims by what they are called in Carve.
	ByRemoteName = "remote-name"
	// byBlock finds claims by the blocks that their metadata records.
	byBlock = "recorded-block"
	// ByClaim finds pods by the claims that they ask for by name.
	ByClaim = "asked-claim"
)

// Setup has a manager run the reconciler, with so many claims at a time, and what it needs beside it.
func (r *Reconciler) Setup(ctx context.Context, manager ctrl.Manager, workers int) error {
	r.feed = newFeed(r)
	if r.Between == 0 {
		r.Between = usuallyBetween
	}
	if err := errors.Join(index(ctx, manager.GetFieldIndexer()), manager.Add(r.feed)); err != nil {
		return err
	}
	// A status makes no work, but for its pods; a deletion and a spec do.
	specs := predicate.Or(predicate.GenerationChangedPredicate{}, predicate.NewPredicateFuncs(func(o client.Object) bool {
		claim, ok := o.(*ipam.IPClaim)
		return ok && abandoned(claim)
	}), reserved())
	return ctrl.NewControllerManagedBy(manager).Named("claims").
		For(&ipam.IPClaim{}, builder.WithPredicates(specs)).
		Watches(&ipam.IPClaim{}, handler.EnqueueRequestsFromMapFunc(r.heirs), builder.WithPredicates(deletions())).
		Watches(&core.Pod{}, handler.EnqueueRequestsFromMapFunc(r.usedBy), builder.WithPredicates(r.turned())).
		WatchesRawSource(source.Channel(r.feed.wake, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: workers, RateLimiter: Patience()}).Complete(telemetry.Traced("claim", r))
}

// reserved takes a change of the pods that a claim names. A pod may end after the controller has attached it and before the cache has the claim's new
// status. The event of the pod finds a claim that does not name it then, and so the controller looks at the claim again when the cache does.
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

// Patience is how long is waited after what fails: each time longer, and a minute at most.
func Patience() workqueue.TypedRateLimiter[reconcile.Request] {
	return workqueue.NewTypedItemExponentialFailureRateLimiter[reconcile.Request](20*time.Millisecond, atMost)
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

// claimsOf answers the claims that a pod asks for by their names.
func claimsOf(pod client.Object) (names []string) {
	all, _ := entries.Of(pod) // what cannot be read asks for nothing; the pod is told so
	for _, e := range all {
		if e.Claim != "" {
			names = append(names, e.Claim)
		}
	}
	return names
}

// usedBy answers the claims that a pod uses, or asks for.
func (r *Reconciler) usedBy(ctx context.Context, pod client.Object) []reconcile.Request {
	var claims ipam.IPClaimList
	if err := r.Client.List(ctx, &claims, client.InNamespace(pod.GetNamespace()), client.MatchingFields{ByPod: string(pod.GetUID())}); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "looking for the claims of a pod", "pod", pod.GetName())
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

// turned takes the moments at which a pod may begin or stop to use claims, and no other of the many changes of a pod.
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
		CreateFunc: func(e event.CreateEvent) bool { return gone(e.Object) || len(claimsOf(e.Object)) > 0 },
		UpdateFunc: func(e event.UpdateEvent) bool { return gone(e.ObjectNew) || placed(e) || told(e) || began(e) },
		DeleteFunc: func(event.DeleteEvent) bool { return true },
	}
}

// placed says whether a pod has been given its node.
func placed(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*core.Pod)
	after, also := e.ObjectNew.(*core.Pod)
	return ok && also && before.Spec.NodeName != after.Spec.NodeName
}

// told says whether a pod asks for something else, or something else is said of its interfaces.
func told(e event.UpdateEvent) bool {
	before, after := e.ObjectOld.GetAnnotations(), e.ObjectNew.GetAnnotations()
	return before[ipam.ClaimsAnnotation] != after[ipam.ClaimsAnnotation] || before[ipam.NetworkStatusAnnotation] != after[ipam.NetworkStatusAnnotation]
}

// began reports whether a pod has begun to run: on a node its network status is written before that, and counts from now on.
func began(e event.UpdateEvent) bool {
	before, ok := e.ObjectOld.(*core.Pod)
	after, also := e.ObjectNew.(*core.Pod)
	return ok && also && !judge.NetworkIsSetUp(before) && judge.NetworkIsSetUp(after)
}
