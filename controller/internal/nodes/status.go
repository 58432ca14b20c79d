package nodes

import (
	"context"
	"errors"
	"fmt"
	"math/big"
	"slices"
	"strconv"
	"strings"

	core "k8s.io/api/core/v1"
	conflict "k8s.io/apimachinery/pkg/api/errors"
	api "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/patch"
)

// most limits the assignments in a status.
const most = 100

// show writes the nodes' slices into the status.
func (r *Reconciler) show(ctx context.Context, p *ipam.NodeSlicePool, class *carve.IPClass, v *view) error {
	assignments, missed, draining := assignmentsOf(v)
	return r.update(ctx, p, func(s *ipam.NodeSlicePoolStatus) {
		s.PrefixLength = int32(*class.Spec.PoolPrefixLength) //nolint:gosec // at most 128
		s.Total, s.Free = inSlices(class, class.Status.Capacity.Total), inSlices(class, class.Status.Capacity.Available)
		s.Assigned, s.Draining = strconv.Itoa(len(assignments)-draining), strconv.Itoa(draining)
		s.Assignments = assignments[:min(len(assignments), most)]
		switch generation := p.Generation; {
		case v.full != "":
			conditions.Stuck(&s.Conditions, generation, ipam.ReasonPoolFull,
				fmt.Sprintf("nodes without a slice: %d (%s): %s", len(v.without), some(v.without), v.full))
		case missed > 0:
			message := fmt.Sprintf("slices of deleted nodes: %d; slices that drain until their last block is released: %d", missed, draining)
			if len(v.stays) > 0 {
				message += fmt.Sprintf("; the controller cannot drain %s, which Carve deletes when they have been empty for the class's emptyPoolTTL", some(v.stays))
			}
			conditions.Working(&s.Conditions, generation, ipam.ReasonReconciling, message)
		default:
			conditions.Done(&s.Conditions, generation, ipam.ReasonReconciled, "each node has its slice")
		}
	})
}

// assignmentsOf returns all slices, sorted by node name. Slices without a known node come last. draining is the number of slices that drain now.
// missed also counts the slices that will drain after the grace period.
func assignmentsOf(v *view) (all []ipam.SliceAssignment, missed, draining int) {
	wanted := map[types.UID]bool{}
	for _, node := range v.wanted {
		wanted[node.UID] = true
	}
	for uid, slice := range v.slices {
		one := ipam.SliceAssignment{UID: uid, CIDR: slice.Status.AllocatedCIDR, Pool: slice.Metadata.Project + "/" + slice.Metadata.Name, State: ipam.SliceAssigned}
		if node := v.known[uid]; node != nil {
			one.Node = node.Name
		}
		if slice.Spec.Drain != "" {
			one.State = ipam.SliceDraining
			draining++
		}
		if slice.Spec.Drain != "" || !wanted[uid] {
			missed++
		}
		all = append(all, one)
	}
	slices.SortFunc(all, func(a, b ipam.SliceAssignment) int {
		if (a.Node == "") != (b.Node == "") {
			return strings.Compare(b.Node, a.Node)
		}
		return strings.Compare(a.Node+"/"+string(a.UID), b.Node+"/"+string(b.UID))
	})
	return all, missed, draining
}

// inSlices returns how many whole slices fit into a number of addresses.
func inSlices(class *carve.IPClass, addresses string) string {
	const v4, v6 = 32, 128
	bits := v4
	if class.Spec.IPFamily == carve.IPFamilyIPv6 {
		bits = v6
	}
	n, ok := new(big.Int).SetString(addresses, 10)
	if !ok {
		return ""
	}
	return n.Rsh(n, uint(bits-*class.Spec.PoolPrefixLength)).String()
}

// some returns the first ten names in a list as text.
func some(names []string) string {
	const few = 10
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// refused reports in the status why slices are missing. If Carve refuses a request or does not respond, refused returns no error, because the
// controller retries after the next interval.
func (r *Reconciler) refused(ctx context.Context, p *ipam.NodeSlicePool, err error) error {
	if problem, refusal := carve.AsProblem(err); refusal {
		return r.stuck(ctx, p, fmt.Sprintf("%s (%s)", problem.Detail, problem.Code))
	}
	if _, unanswered := errors.AsType[*carve.Error](err); unanswered {
		ctrl.LoggerFrom(ctx).Error(err, "cannot list slices in Carve")
		return r.update(ctx, p, func(s *ipam.NodeSlicePoolStatus) {
			conditions.Working(&s.Conditions, p.Generation, ipam.ReasonReconciling, "Carve does not respond")
		})
	}
	return err
}

// failed reports an error in the status, but only once for each generation. Ready therefore never refers to an older specification.
func (r *Reconciler) failed(ctx context.Context, p *ipam.NodeSlicePool, err error) error {
	if p.Status.ObservedGeneration == p.Generation || conflict.IsConflict(err) {
		return nil
	}
	return r.update(ctx, p, func(s *ipam.NodeSlicePoolStatus) {
		conditions.Working(&s.Conditions, p.Generation, ipam.ReasonReconciling, "retrying: "+err.Error())
	})
}

// stuck reports an error that only a person can correct.
func (r *Reconciler) stuck(ctx context.Context, p *ipam.NodeSlicePool, message string) error {
	return r.update(ctx, p, func(s *ipam.NodeSlicePoolStatus) {
		conditions.Stuck(&s.Conditions, p.Generation, ipam.ReasonError, message)
	})
}

// update applies a step to the status and writes it. It records an event if the reason or the message has changed.
func (r *Reconciler) update(ctx context.Context, p *ipam.NodeSlicePool, step func(*ipam.NodeSlicePoolStatus)) error {
	was := ready(p)
	err := patch.Change(ctx, r.Client, p, func() {
		p.Status.ObservedGeneration = p.Generation
		step(&p.Status)
	})
	if err != nil {
		return client.IgnoreNotFound(err)
	}
	if is := ready(p); was.Reason != is.Reason || was.Message != is.Message {
		kind := core.EventTypeNormal
		if is.Status == meta.ConditionFalse {
			kind = core.EventTypeWarning
		}
		r.Events.Eventf(p, nil, kind, is.Reason, "Slice", "%s", is.Message)
	}
	return nil
}

func ready(p *ipam.NodeSlicePool) meta.Condition {
	if c := api.FindStatusCondition(p.Status.Conditions, conditions.Ready); c != nil {
		return *c
	}
	return meta.Condition{}
}

// guard adds the finalizer to an object. The controller requests slices only afterwards, so that it can drain them when a user deletes the object.
func (r *Reconciler) guard(ctx context.Context, p *ipam.NodeSlicePool) error {
	return patch.Change(ctx, r.Client, p, func() { controllerutil.AddFinalizer(p, ipam.Finalizer) })
}

// free removes the finalizer.
func (r *Reconciler) free(ctx context.Context, p *ipam.NodeSlicePool) error {
	return client.IgnoreNotFound(patch.Change(ctx, r.Client, p, func() { controllerutil.RemoveFinalizer(p, ipam.Finalizer) }))
}
