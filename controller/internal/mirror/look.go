package mirror

import (
	"context"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/builder"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller"
	"sigs.k8s.io/controller-runtime/pkg/event"
	"sigs.k8s.io/controller-runtime/pkg/handler"
	"sigs.k8s.io/controller-runtime/pkg/predicate"
	"sigs.k8s.io/controller-runtime/pkg/source"

	api "k8s.io/apimachinery/pkg/api/errors"

	carve "github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// Setup adds the reconciler to a manager. A deletion and a change to the specification start a reconciliation. A change to the status does not.
func (r *Reconciler[O, R]) Setup(manager ctrl.Manager) error {
	err := ctrl.NewControllerManagedBy(manager).Named(r.kind.what).
		For(r.kind.new(), builder.WithPredicates(predicate.GenerationChangedPredicate{})).
		WatchesRawSource(source.Channel(r.wake, &handler.EnqueueRequestForObject{})).
		WithOptions(controller.Options{MaxConcurrentReconciles: 1}).Complete(telemetry.Traced("mirror", r))
	if err != nil {
		return err
	}
	return manager.Add(r)
}

// Start compares the objects with Carve at intervals, until the context ends. The manager runs it on the leader.
func (r *Reconciler[O, R]) Start(ctx context.Context) error {
	tick := time.NewTicker(r.Every)
	defer tick.Stop()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-tick.C:
		}
		if err := r.look(ctx); err != nil && ctx.Err() == nil {
			ctrl.LoggerFrom(ctx).Error(err, "cannot list objects in Carve", "kind", r.kind.what)
		}
	}
}

// look compares all objects with one list from Carve. If there are no objects, it makes no call.
func (r *Reconciler[O, R]) look(ctx context.Context) error {
	objects, err := r.kind.objects(ctx, r.Client)
	if err != nil || len(objects) == 0 {
		return err
	}
	remotes := map[string]*R{}
	for remote, err := range r.kind.list(ctx) {
		if err != nil {
			return r.unknown(ctx, objects, err)
		}
		remotes[r.kind.meta(&remote).Name] = &remote
	}
	for _, o := range objects {
		if !o.GetDeletionTimestamp().IsZero() {
			continue // its own reconciliation handles it
		}
		if err := r.compare(ctx, o, remotes[o.Called()]); err != nil && !api.IsConflict(err) {
			return err
		}
	}
	return nil
}

// compare updates an object's status from a list. If the object needs more than a new status, compare has it reconciled. If the list is older than
// the status, compare ignores the list.
func (r *Reconciler[O, R]) compare(ctx context.Context, o O, remote *R) error {
	known := o.Mirror().Remote
	switch {
	case known == nil, remote == nil, known.UID != r.kind.meta(remote).UID, o.Shows() == "" && known.AppliedGeneration != o.GetGeneration():
		select {
		case r.wake <- event.GenericEvent{Object: o}:
		case <-ctx.Done():
		}
		return nil
	case known.Generation > r.kind.meta(remote).Generation:
		return nil
	}
	return r.settle(ctx, o, remote, "")
}

// unknown reports in the status of each object that the controller could not read from Carve.
func (r *Reconciler[O, R]) unknown(ctx context.Context, objects []O, err error) error {
	for _, o := range objects {
		if !o.GetDeletionTimestamp().IsZero() {
			continue
		}
		if told := r.outcome(ctx, o, nil, "", err); told != nil && !r.absent(told) && !api.IsConflict(told) {
			return told
		}
	}
	if _, refused := carve.AsProblem(err); refused {
		return nil
	}
	return err
}

// listed returns all objects in a list.
func listed[L client.ObjectList, T any](ctx context.Context, reader client.Reader, list L, items func(L) []T) ([]*T, error) {
	if err := reader.List(ctx, list); err != nil {
		return nil, err
	}
	var all []*T
	for i := range items(list) {
		all = append(all, &items(list)[i])
	}
	return all, nil
}
