package main

import (
	"context"
	"net/http"
	"runtime"
	"time"

	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/manager"
	"sigs.k8s.io/controller-runtime/pkg/metrics"

	"github.com/carve-ipam/carve/controller/internal/health"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// observe adds the probes and the count of claims to a manager.
func (s *settings) observe(m ctrl.Manager, watched *telemetry.Carve) error {
	telemetry.Built(version, commit, runtime.Version())
	if err := metrics.Registry.Register(&telemetry.Claims{Cache: m.GetCache(), Leads: m.Elected()}); err != nil {
		return err
	}
	started := make(chan struct{})
	if err := m.Add(standby(func(ctx context.Context) error {
		close(started) // the manager calls this function when its cache is filled
		<-ctx.Done()
		return nil
	})); err != nil || s.probes == "0" {
		return err
	}
	checks := health.Checks{Started: started, Leads: m.Elected(), Carve: watched.Reach}
	const patience = 10 * time.Second
	return m.Add(&manager.Server{Name: "health probe", Server: &http.Server{Addr: s.probes, Handler: checks.Handler(), ReadHeaderTimeout: patience}})
}

// standby is a runnable that every replica runs, not only the leader.
type standby func(context.Context) error

// Start implements manager.Runnable.
func (s standby) Start(ctx context.Context) error { return s(ctx) }

// NeedLeaderElection implements manager.LeaderElectionRunnable.
func (standby) NeedLeaderElection() bool { return false }
