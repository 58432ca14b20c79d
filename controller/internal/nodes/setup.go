package nodes

import (
	"context"
	"maps"
	"slices"

	core "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
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
	"github.com/carve-ipam/carve/controller/internal/telemetry"
	"github.com/carve-ipam/carve/controller/patch"
)

// Setup adds the reconciler to a manager. It reads only the nodes' metadata. A node's heartbeat starts no reconciliation.
func (r *Reconciler) Setup(manager ctrl.Manager) error {
	specs := builder.WithPredicates(predicate.GenerationChangedPredicate{})
	return ctrl.NewControllerManagedBy(manager).Named("nodeslicepool").
		For(&ipam.NodeSlicePool{}, specs).
		Watches(&core.Node{}, handler.EnqueueRequestsFromMapFunc(r.all), builder.OnlyMetadata, builder.WithPredicates(turned())).
		Watches(&ipam.NodeSlicePool{}, handler.EnqueueRequestsFromMapFunc(r.all), specs).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).Complete(telemetry.Traced("slices", r))
}

// turned accepts the changes after which a node may need a slice, or no longer need one.
func turned() predicate.Predicate {
	return predicate.Funcs{
		UpdateFunc: func(e event.UpdateEvent) bool {
			was, is := e.ObjectOld, e.ObjectNew
			return was.GetUID() != is.GetUID() || !maps.Equal(was.GetLabels(), is.GetLabels()) ||
				was.GetDeletionTimestamp().IsZero() != is.GetDeletionTimestamp().IsZero()
		},
	}
}

// all returns reconcile requests for all NodeSlicePools, because each of them may select the changed node or affect the other NodeSlicePools.
func (r *Reconciler) all(ctx context.Context, _ client.Object) (requests []reconcile.Request) {
	var pools ipam.NodeSlicePoolList
	if err := r.Client.List(ctx, &pools); err != nil {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list NodeSlicePools")
		return nil
	}
	for i := range pools.Items {
		requests = append(requests, reconcile.Request{NamespacedName: types.NamespacedName{Name: pools.Items[i].Name}})
	}
	return requests
}

// ByClass is the prefix of the annotation key under which a node shows its slice. The class name follows the prefix.
const ByClass = "slices.ipam.carve.dev/"

// publish annotates nodes with their slices, and removes the annotation from nodes without a slice. If another NodeSlicePool with the same class
// selects such a node, publish leaves the annotation.
func (r *Reconciler) publish(ctx context.Context, p *ipam.NodeSlicePool, v *view) error {
	if !r.Publish {
		return nil
	}
	others, err := r.selectedByOthers(ctx, p)
	if err != nil {
		return err
	}
	wanted, key := map[types.UID]bool{}, ByClass+string(p.Spec.ClassName)
	for _, node := range v.wanted {
		wanted[node.UID] = true
	}
	for uid, node := range v.known {
		var block string // none
		if slice := v.slices[uid]; wanted[uid] && slice != nil {
			block = slice.Status.AllocatedCIDR
		}
		if is := node.Annotations[key]; is == block || block == "" && others(node) {
			continue
		}
		node.SetGroupVersionKind(core.SchemeGroupVersion.WithKind("Node"))
		err := patch.Change(ctx, r.Client, node, func() {
			node.Annotations = maps.Clone(node.Annotations)
			if node.Annotations == nil {
				node.Annotations = map[string]string{}
			}
			if node.Annotations[key] = block; block == "" {
				delete(node.Annotations, key)
			}
		})
		if client.IgnoreNotFound(err) != nil {
			return err
		}
	}
	return nil
}

// selectedByOthers returns a function that reports whether another NodeSlicePool with the same class selects a node. An invalid selector selects no
// node.
func (r *Reconciler) selectedByOthers(ctx context.Context, p *ipam.NodeSlicePool) (func(client.Object) bool, error) {
	others, err := r.others(ctx, p)
	return func(node client.Object) bool {
		return slices.ContainsFunc(others, func(other *ipam.NodeSlicePool) bool {
			selector, err := selectorOf(other)
			return err == nil && selector.Matches(labels.Set(node.GetLabels()))
		})
	}, err
}
