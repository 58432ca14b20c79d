package main

import (
	"context"
	"errors"
	"flag"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"

	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/pods"
	"github.com/carve-ipam/carve/controller/internal/podstate"
)

// podSettings has the settings for claims that pods use.
type podSettings struct {
	judge          podstate.Options
	sweep, network time.Duration
}

func (p *podSettings) flags(flag *flag.FlagSet) {
	flag.BoolVar(&p.judge.CleanupTerminating, "cleanup-terminating-pods", false, "release when the deletion of a pod begins")
	flag.BoolVar(&p.judge.CleanupDisrupted, "cleanup-disrupted-pods", true, "release when the taint manager has decided to delete a pod")
	flag.BoolVar(&p.judge.VerifyNetworkStatus, "verify-network-status", true, "release a pod's block that is missing from its network status twice in a row")
	flag.DurationVar(&p.network, "network-status-interval", 30*time.Second, "time between the first and the second check of a network status that lacks an address")
	flag.DurationVar(&p.sweep, "sweep-interval", 10*time.Minute, "interval between sweeps for missed changes; one more runs at the start")
}

func (p *podSettings) check() error {
	if p.sweep < time.Second {
		return errors.New("--sweep-interval must be at least 1s")
	}
	if p.network <= 0 {
		return errors.New("--network-status-interval must be greater than 0")
	}
	return nil
}

// setup adds the reconcilers of claims and pods, the renewals and the sweep to a manager.
func (p *podSettings) setup(ctx context.Context, manager ctrl.Manager, of *claims.Reconciler, s settings) error {
	asked := &pods.Reconciler{Client: of.Client, Live: of.Live, Judge: p.judge, Events: of.Events}
	return errors.Join(of.Setup(ctx, manager, s.workers), asked.Setup(ctx, manager, s.workers),
		manager.Add(&claims.Confirmation{Of: of}), manager.Add(&claims.Renewals{Of: of, Every: s.renew}), manager.Add(&claims.Sweep{Of: of, Every: p.sweep}))
}
