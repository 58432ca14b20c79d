package mirror

import (
	"context"
	"fmt"
	"math/big"
	"strings"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	api "k8s.io/apimachinery/pkg/api/meta"
	meta "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/conditions"
	"github.com/carve-ipam/carve/controller/patch"
)

// ready returns the condition Ready, or an empty condition if the status has none.
func ready(m *ipam.Mirrored) meta.Condition {
	if c := api.FindStatusCondition(m.Conditions, conditions.Ready); c != nil {
		return *c
	}
	return meta.Condition{}
}

// lasting returns the reason for the condition Ready of a reconciled object. The reason is the last step that changed the object.
func lasting(m *ipam.Mirrored, done string) string {
	if done != "" {
		return done
	}
	switch was := ready(m).Reason; was {
	case ipam.ReasonPoolCreated, ipam.ReasonPoolUpdated, ipam.ReasonValidated:
		return was
	default:
		return ipam.ReasonReconciled
	}
}

func changed(fields []string) string {
	return "changed in Carve, and not reverted: " + strings.Join(fields, ", ") + "; make the object's spec match, or change the spec to apply it again"
}

// used returns total minus free. All figures are exact.
func used(total, free string) string {
	all, ok := new(big.Int).SetString(total, 10)
	left, also := new(big.Int).SetString(free, 10)
	if !ok || !also {
		return ""
	}
	return all.Sub(all, left).String()
}

func percent(share float64) string { return fmt.Sprintf("%.2f%%", share) }

// guard adds the finalizer to an object. The controller creates an object in Carve only afterwards, so that it can delete that object again.
func (r *Reconciler[O, R]) guard(ctx context.Context, o O) error {
	return patch.Change(ctx, r.Client, o, func() { controllerutil.AddFinalizer(o, ipam.Finalizer) })
}

// free removes an object's finalizer.
func (r *Reconciler[O, R]) free(ctx context.Context, o O) error {
	return client.IgnoreNotFound(patch.Change(ctx, r.Client, o, func() { controllerutil.RemoveFinalizer(o, ipam.Finalizer) }))
}

// settle writes the object's state in Carve into the status.
func (r *Reconciler[O, R]) settle(ctx context.Context, o O, remote *R, reason string) error {
	var fields []string
	if o.Shows() == "" {
		var err error
		if fields, err = r.differences(o, remote); err != nil {
			return err
		}
	}
	return r.change(ctx, o, func(m *ipam.Mirrored) {
		meta := r.kind.meta(remote)
		m.Remote = &ipam.Remote{Project: meta.Project, Name: meta.Name, UID: meta.UID, Generation: meta.Generation}
		if o.Shows() == "" {
			m.Remote.AppliedGeneration = o.GetGeneration()
		}
		full := r.kind.show(o, remote)
		switch {
		case len(fields) > 0:
			conditions.Stuck(&m.Conditions, o.GetGeneration(), ipam.ReasonError, changed(fields))
		case full != "":
			conditions.Done(&m.Conditions, o.GetGeneration(), ipam.ReasonPoolFull, full)
		default:
			conditions.Done(&m.Conditions, o.GetGeneration(), lasting(m, reason), fmt.Sprintf("the %s in Carve matches the spec", r.kind.what))
		}
	})
}

// change applies a step to the status and writes it. It records an event if the reason or the message has changed.
func (r *Reconciler[O, R]) change(ctx context.Context, o O, step func(*ipam.Mirrored)) error {
	was, hadRemote := ready(o.Mirror()), o.Mirror().Remote != nil
	err := patch.Change(ctx, r.Client, o, func() {
		o.Mirror().ObservedGeneration = o.GetGeneration()
		step(o.Mirror())
	}, patch.While("status", "remote", "uid"))
	switch {
	case apierrors.IsNotFound(err) && !hadRemote:
		return r.drop(ctx, o)
	case err != nil:
		return client.IgnoreNotFound(err)
	}
	if is := ready(o.Mirror()); was.Reason != is.Reason || was.Message != is.Message {
		r.note(o, is.Reason, is.Message)
	}
	return nil
}

func (r *Reconciler[O, R]) stuck(ctx context.Context, o O, reason, message string) error {
	return r.change(ctx, o, func(m *ipam.Mirrored) { conditions.Stuck(&m.Conditions, o.GetGeneration(), reason, message) })
}

func (r *Reconciler[O, R]) working(ctx context.Context, o O, message string) error {
	return r.change(ctx, o, func(m *ipam.Mirrored) {
		conditions.Working(&m.Conditions, o.GetGeneration(), ipam.ReasonReconciling, message)
	})
}
