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

// most is how many assignments a status has at most.
const most = 100

// show writes into the status what nodes have.
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
				fmt.Sprintf("%d nodes have no slice (%s): %s", len(v.without), some(v.without), v.full))
		case missed > 0:
			message := fmt.Sprintf("%d slices are of nodes that are gone: %d of them drain until nothing in them is held", missed, draining)
			if len(v.stays) > 0 {
				message += fmt.Sprintf("; %s cannot be drained here, and go back when they have been empty for the class's emptyPoolTTL", some(v.stays))
			}
			conditions.Working(&s.Conditions, generation, ipam.ReasonReconciling, message)
		default:
			conditions.Done(&s.Conditions, generation, ipam.ReasonReconciled, "each node has its slice")
		}
	})
}

// assignmentsOf are all slices, those of nodes first, by name; how many of them drain, or will when their nodes have been gone for long enough; and how
// many do already.
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

// inSlices is how many slices are in so many addresses, rounded down.
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

// some are the first of many names.
func some(names []string) string {
	const few = 10
	if len(names) > few {
		return strings.Join(names[:few], ", ") + ", ..."
	}
	return strings.Join(names, ", ")
}

// refused shows why there are no slices. What Carve refuses, or does not answer, is tried again in time, and so it is no error.
func (r *Reconciler) refused(ctx context.Context, p *ipam.NodeSlicePool, err error) error {
	if problem, refusal := carve.AsProblem(err); refusal {
		return r.stuck(ctx, p, fmt.Sprintf("%s (%s)", problem.Detail, problem.Code))
	}
	if _, unanswered := errors.AsType[*carve.Error](err); unanswered {
		ctrl.LoggerFrom(ctx).Error(err, "asking Carve for slices")
		return r.update(ctx, p, func(s *ipam.NodeSlicePoolStatus) {
			conditions.Working(&s.Conditions, p.Generation, ipam.ReasonReconciling, "Carve does not answer")
		})
	}
	return err
}

// failed shows an error that nothing else has shown, once for each generation, so that Ready is never about an older spec.
func (r *Reconciler) failed(ctx context.Context, p *ipam.NodeSlicePool, err error) error {
	if p.Status.ObservedGeneration == p.Generation || conflict.IsConflict(err) {
		return nil
	}
	return r.update(ctx, p, func(s *ipam.NodeSlicePoolStatus) {
		conditions.Working(&s.Conditions, p.Generation, ipam.ReasonReconciling, "tried again: "+err.Error())
	})
}

// stuck writes an error into the status that only a person can correct.
func (r *Reconciler) stuck(ctx context.Context, p *ipam.NodeSlicePool, message string) error {
	return r.update(ctx, p, func(s *ipam.NodeSlicePoolStatus) {
		conditions.Stuck(&s.Conditions, p.Generation, ipam.ReasonError, message)
	})
}

// update writes the changes that a step makes to the status, and records an event if the reason or the message is another one.
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

// guard puts the finalizer on an object before anything is carved for it.
func (r *Reconciler) guard(ctx context.Context, p *ipam.NodeSlicePool) error {
	return patch.Change(ctx, r.Client, p, func() { controllerutil.AddFinalizer(p, ipam.Finalizer) })
}

// free takes the finalizer off.
func (r *Reconciler) free(ctx context.Context, p *ipam.NodeSlicePool) error {
	return client.IgnoreNotFound(patch.Change(ctx, r.Client, p, func() { controllerutil.RemoveFinalizer(p, ipam.Finalizer) }))
}
