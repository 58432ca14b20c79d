package mirror

import (
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	conflict "k8s.io/apimachinery/pkg/api/errors"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// Reconcile brings one object closer to its desired state. If Carve refuses a request, Reconcile reports the refusal in the status and returns no
// error. The next comparison follows after the interval.
func (r *Reconciler[O, R]) Reconcile(ctx context.Context, request ctrl.Request) (ctrl.Result, error) {
	o := r.kind.new()
	if err := r.Client.Get(ctx, request.NamespacedName, o); err != nil {
		return ctrl.Result{}, client.IgnoreNotFound(err)
	}
	switch {
	case !o.GetDeletionTimestamp().IsZero():
		return r.release(ctx, o)
	case o.Shows() != "":
		remote, err := r.find(ctx, o.Called())
		if err == nil && remote == nil {
			return ctrl.Result{}, r.stuck(ctx, o, ipam.ReasonError, fmt.Sprintf("there is no %s %s in Carve", r.kind.what, o.Called()))
		}
		return ctrl.Result{}, r.outcome(ctx, o, remote, ipam.ReasonValidated, err)
	}
	if err := r.guard(ctx, o); err != nil {
		return ctrl.Result{}, err
	}
	remote, reason, err := r.have(ctx, o)
	return ctrl.Result{}, r.outcome(ctx, o, remote, reason, err)
}

// errForeign reports that an object in Carve has this name and belongs to another owner.
var errForeign = errors.New("exists in Carve and was not created for this object: to show it, name it in spec.existing; otherwise choose another name")

// errGone reports that an object in Carve has disappeared.
var errGone = errors.New("was deleted in Carve, or replaced by another one with its name; delete this object and create another one")

// outcome writes a reconciliation's result into the status.
func (r *Reconciler[O, R]) outcome(ctx context.Context, o O, remote *R, reason string, err error) error {
	problem, refused := carve.AsProblem(err)
	switch {
	case err == nil:
		return r.settle(ctx, o, remote, reason)
	case errors.Is(err, errForeign), errors.Is(err, errGone):
		return r.stuck(ctx, o, ipam.ReasonError, fmt.Sprintf("the %s %s %s", r.kind.what, o.Called(), err))
	case carve.IsExhausted(err):
		return r.stuck(ctx, o, ipam.ReasonPoolFull, problem.Detail)
	case refused:
		return r.stuck(ctx, o, ipam.ReasonError, fmt.Sprintf("%s (%s)", problem.Detail, problem.Code))
	case r.absent(err):
		return errors.Join(r.working(ctx, o, "Carve does not respond"), err)
	case o.Mirror().ObservedGeneration != o.GetGeneration() && !conflict.IsConflict(err):
		return errors.Join(r.working(ctx, o, "retrying: "+err.Error()), err) // only once for each generation, so that Ready never refers to an older specification
	default:
		return err
	}
}

// absent reports whether an error means that Carve does not respond.
func (r *Reconciler[O, R]) absent(err error) bool {
	_, ok := errors.AsType[*carve.Error](err)
	return ok
}

// find returns the object with a name in Carve, or nil.
func (r *Reconciler[O, R]) find(ctx context.Context, name string) (*R, error) {
	remote, err := r.kind.resource(name).Get(ctx)
	if carve.IsNotFound(err) {
		return nil, nil //nolint:nilnil // there is none
	}
	return remote, err
}

// have returns the object in Carve. If necessary, it creates the object or applies the specification. It applies each generation of a specification
// only once, so it does not revert later changes in Carve.
func (r *Reconciler[O, R]) have(ctx context.Context, o O) (remote *R, reason string, err error) {
	if remote, err = r.find(ctx, o.Called()); err != nil {
		return nil, "", err
	}
	switch {
	case remote == nil && o.Mirror().Remote != nil:
		return nil, "", errGone
	case remote == nil:
		if remote, err = r.kind.create(ctx, o, r.metadata(o)); err != nil {
			return nil, "", err
		}
		reason = r.kind.created
	case r.owns(o, remote) && o.Mirror().Remote == nil: // the status update after the creation was lost
		reason = r.kind.created
	case !r.owns(o, remote) && o.Mirror().Remote != nil:
		return nil, "", errGone
	case !r.owns(o, remote) && r.inherits(o, remote):
		if remote, err = r.takeOver(ctx, o); err != nil {
			return nil, "", err
		}
	case !r.owns(o, remote):
		return nil, "", errForeign
	}
	if known := o.Mirror().Remote; known != nil && known.AppliedGeneration == o.GetGeneration() {
		return remote, reason, nil
	}
	fields, err := r.differences(o, remote)
	if err != nil || len(fields) == 0 {
		return remote, reason, err
	}
	uid := r.kind.meta(remote).UID
	remote, err = r.kind.resource(o.Called()).Change(ctx, func(remote *R) error {
		if r.kind.meta(remote).UID != uid {
			return errGone
		}
		return r.kind.apply(o, remote)
	})
	if reason == "" {
		reason = r.kind.updated
	}
	return remote, reason, err
}

// takeOver makes o own an object in Carve that belonged to an earlier object with the same name.
func (r *Reconciler[O, R]) takeOver(ctx context.Context, o O) (*R, error) {
	return r.kind.resource(o.Called()).Change(ctx, func(remote *R) error {
		if !r.inherits(o, remote) {
			return errForeign
		}
		r.kind.meta(remote).Annotations[uidAnnotation] = string(o.GetUID())
		return nil
	})
}

// drop deletes the object that the controller has just created in Carve for o. The API server has deleted o meanwhile, although it had accepted the
// finalizer.
func (r *Reconciler[O, R]) drop(ctx context.Context, o O) error {
	remote, err := r.find(ctx, o.Called())
	if err != nil || remote == nil || o.Shows() != "" || r.kind.meta(remote).Annotations[uidAnnotation] != string(o.GetUID()) {
		return err
	}
	err = r.kind.remove(ctx, o.Called(), strconv.Quote(r.kind.meta(remote).Revision))
	if carve.IsNotFound(err) || errors.Is(err, carve.ProblemCodeInUse) {
		return nil
	}
	return err
}

// release deletes the object in Carve, and removes the finalizer afterwards. While the object in Carve is in use, both objects stay. Meanwhile, Carve
// allocates no new block from a pool.
func (r *Reconciler[O, R]) release(ctx context.Context, o O) (ctrl.Result, error) {
	if !controllerutil.ContainsFinalizer(o, ipam.Finalizer) {
		return ctrl.Result{}, nil
	}
	if o.GetAnnotations()[ipam.AbandonRemote] == "true" {
		return ctrl.Result{}, r.free(ctx, o)
	}
	remote, err := r.find(ctx, o.Called())
	if err != nil {
		return r.later(ctx, o, err)
	}
	if remote == nil || !r.owns(o, remote) {
		return ctrl.Result{}, r.free(ctx, o)
	}
	err = r.kind.remove(ctx, o.Called(), strconv.Quote(r.kind.meta(remote).Revision))
	problem, _ := carve.AsProblem(err)
	switch {
	case err == nil || carve.IsNotFound(err):
		return ctrl.Result{}, r.free(ctx, o)
	case carve.IsConflict(err):
		return ctrl.Result{RequeueAfter: time.Second}, nil
	case errors.Is(err, carve.ProblemCodeInUse), errors.Is(err, carve.ProblemCodeAllocationRetained):
		if err := r.empty(ctx, o, r.kind.meta(remote).UID); err != nil {
			return r.later(ctx, o, err)
		}
		if err := r.working(ctx, o, fmt.Sprintf("%s The object is deleted when it is empty.", problem.Detail)); err != nil {
			return ctrl.Result{}, err
		}
		return ctrl.Result{RequeueAfter: r.Every}, nil
	}
	return r.later(ctx, o, err)
}

// later reports in the status why an object cannot be deleted yet, and schedules a retry.
func (r *Reconciler[O, R]) later(ctx context.Context, o O, err error) (ctrl.Result, error) {
	if err := r.outcome(ctx, o, nil, "", err); err != nil && !r.absent(err) {
		return ctrl.Result{}, err
	}
	return ctrl.Result{RequeueAfter: r.Every}, nil // the same pause, however long Carve was unreachable
}

// empty stops new allocations from a pool that is being deleted. For a class it does nothing.
func (r *Reconciler[O, R]) empty(ctx context.Context, o O, uid string) error {
	if r.kind.drain == nil {
		return nil
	}
	_, err := r.kind.resource(o.Called()).Change(ctx, func(remote *R) error {
		if r.kind.meta(remote).UID == uid {
			r.kind.drain(remote)
		}
		return nil
	})
	if carve.IsNotFound(err) {
		return nil
	}
	return err
}
