package main

import (
	"context"
	"errors"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/pods"
)

// runPods has a manager give pods their claims, renew them, and look for what was missed.
func (s settings) runPods(ctx context.Context, manager ctrl.Manager, r *claims.Reconciler) error {
	p := &pods.Reconciler{Client: r.Client, Live: r.Live, Judge: r.Judge, Events: r.Events}
	return errors.Join(r.Setup(ctx, manager, s.workers), p.Setup(ctx, manager, s.workers),
		manager.Add(&claims.Renewals{Of: r, Every: s.renew}), manager.Add(&claims.Sweep{Of: r, Every: s.sweep}))
}
