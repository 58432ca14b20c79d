// Package nodes gives each node in the cluster a slice. A slice is a pool that a class creates for one node. The scope of the pool contains the
// node's UID. Carve assigns the slices, and reassigns a slice only when it is empty. Nodes are consumers in Carve under their UIDs, so the controller
// knows which slices belong to its cluster.
package nodes

import (
	"context"
	"errors"
	"fmt"
	"time"

	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/tools/events"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// Reconciler gives slices to nodes. It reconciles one NodeSlicePool at a time.
type Reconciler struct {
	// Client reads from the cache and writes to the API server.
	Client client.Client
	// Live reads from the API server. Only such a read proves that a node is gone.
	Live client.Reader
	// Realm is the realm in which the cluster's nodes are consumers.
	Realm *realm.Realm
	// Events records events for users.
	Events events.EventRecorder
	// Every is the interval between comparisons with Carve.
	Every time.Duration
	// Grace is the time for which a node must be gone before its slice is drained.
	Grace time.Duration
	// Publish annotates each node with its slice.
	Publish bool

	gone map[missed]time.Time // when the controller first missed nodes; a restart clears it, which only causes a delay
	ours map[types.UID]bool   // whether a UID belongs to a node of this cluster, according to Carve
}

// Reconcile brings the slices of one NodeSlicePool closer to their desired state.
func (r *Reconciler) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	var p ipam.NodeSlicePool
	if err := r.Client.Get(ctx, request.NamespacedName, &p); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	if !p.DeletionTimestamp.IsZero() {
		return r.release(ctx, &p)
	}
	if err := r.guard(ctx, &p); err != nil {
		return ctrl.Result{}, err
	}
	next, err := r.follow(ctx, &p)
	if err != nil {
		return ctrl.Result{}, errors.Join(err, r.failed(ctx, &p, err))
	}
	return ctrl.Result{RequeueAfter: next}, nil
}

// follow gives each node a slice and returns the pause before the next reconciliation. If the specification is invalid, or does not fit the class or
// another NodeSlicePool, it reports the reason in the status and changes no slice.
func (r *Reconciler) follow(ctx context.Context, p *ipam.NodeSlicePool) (next time.Duration, err error) {
	selector, err := selectorOf(p)
	if err != nil {
		return r.Every, r.stuck(ctx, p, err.Error())
	}
	if others, err := r.disagreeing(ctx, p); err != nil {
		return r.Every, err
	} else if others != "" {
		return r.Every, r.stuck(ctx, p, others)
	}
	class, err := r.Realm.Carve.GetClass(ctx, r.Realm.Project, string(p.Spec.ClassName))
	if err != nil {
		return r.Every, r.refused(ctx, p, err)
	}
	if wrong := misfit(&p.Spec, &class.Spec); wrong != "" {
		return r.Every, r.stuck(ctx, p, wrong)
	}
	v, err := r.readView(ctx, p, selector)
	if err != nil {
		return r.Every, r.refused(ctx, p, err)
	}
	if err := r.ensureConsumer(ctx, v); err != nil {
		return r.Every, r.refused(ctx, p, err)
	}
	if err := r.ensure(ctx, p, v); err != nil {
		return r.Every, r.refused(ctx, p, err)
	}
	if err := r.drain(ctx, p, v); err != nil {
		return r.Every, r.refused(ctx, p, err)
	}
	if err := r.publish(ctx, p, v); err != nil {
		return r.Every, err
	}
	if v.changed { // the class has other figures now
		if class, err = r.Realm.Carve.GetClass(ctx, r.Realm.Project, string(p.Spec.ClassName)); err != nil {
			return r.Every, r.refused(ctx, p, err)
		}
	}
	return min(r.Every, v.wait), r.show(ctx, p, class, v)
}

// ensure has Carve create a slice for each node that has none. If Carve has no room for a slice, ensure requests no further slices.
func (r *Reconciler) ensure(ctx context.Context, p *ipam.NodeSlicePool, v *view) error {
	for _, node := range v.wanted {
		slice := v.slices[node.UID]
		if slice != nil && slice.Spec.Drain == carve.PoolDrainDelete && slice.Metadata.Annotations[drainedBy] == r.Realm.Name {
			exists, err := r.undrain(ctx, slice)
			if err != nil {
				return err
			}
			if !exists {
				delete(v.slices, node.UID)
				slice, v.changed = nil, true
			}
		}
		switch {
		case slice != nil:
		case v.full != "":
			v.without = append(v.without, node.Name)
		default:
			made, err := r.carve(ctx, p, node.Name, node.UID)
			if carve.IsExhausted(err) {
				problem, _ := carve.AsProblem(err)
				v.full, v.without = problem.Detail, append(v.without, node.Name)
				continue
			}
			if err != nil {
				return fmt.Errorf("claim a slice for node %s: %w", node.Name, err)
			}
			v.slices[node.UID], v.changed = made, true
		}
	}
	return nil
}

// carve has Carve create a node's slice. It first makes the node a consumer, so that every controller can find out to which cluster the slice
// belongs.
func (r *Reconciler) carve(ctx context.Context, p *ipam.NodeSlicePool, name string, uid types.UID) (*carve.IPPool, error) {
	if err := r.ensureConsumers(ctx, name, uid); err != nil {
		return nil, err
	}
	return r.Realm.Carve.PutScopePool(ctx, r.Realm.Project, string(p.Spec.ClassName), scopeOf(&p.Spec, uid))
}

// release drains the slices of a NodeSlicePool that is being deleted, unless another NodeSlicePool has the same slices. Afterwards it removes the
// finalizer.
func (r *Reconciler) release(ctx context.Context, p *ipam.NodeSlicePool) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(p, ipam.Finalizer) {
		return ctrl.Result{}, nil
	}
	shared, err := r.peers(ctx, p)
	if err != nil {
		return ctrl.Result{}, err
	}
	if len(shared) == 0 && p.Annotations[ipam.AbandonRemote] != "true" {
		if err := r.drainAll(ctx, p); err != nil {
			if err := r.refused(ctx, p, err); err != nil {
				return ctrl.Result{}, err
			}
			return ctrl.Result{RequeueAfter: r.Every}, nil
		}
	}
	return ctrl.Result{}, r.free(ctx, p)
}

// drainAll drains all slices of a NodeSlicePool that belong to this cluster and that the controller may drain. Existing claims in them stay.
func (r *Reconciler) drainAll(ctx context.Context, p *ipam.NodeSlicePool) error {
	v, err := r.readView(ctx, p, labels.Nothing())
	if carve.IsNotFound(err) {
		return nil // the class is gone, and its slices with it
	}
	if err != nil {
		return err
	}
	for uid, slice := range v.slices {
		if mine, err := r.isOurs(ctx, uid); err != nil {
			return err
		} else if !mine {
			continue
		}
		if _, err := r.giveUp(ctx, slice); err != nil && !stays(err) {
			return err
		}
	}
	return r.publish(ctx, p, v)
}
