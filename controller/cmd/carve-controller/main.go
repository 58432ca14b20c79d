// Command carve-controller keeps the IPClaims of a Kubernetes cluster in Carve. See --help.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"log/slog"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/pods"
	"github.com/carve-ipam/carve/controller/internal/realm"
	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

// settings has the flags' values.
type settings struct {
	carve, keyFile, caFile, clientCert, clientKey string
	insecure                                      bool
	project, realm, metrics, probes               string
	ttl, renew                                    time.Duration
	workers                                       int
	leader                                        leadership
	pods                                          podSettings
	logLevel, logFormat                           string
	level                                         slog.Level
	objects                                       objects
	clusterAPI                                    clusterAPI
}

// flags declares the flags. The parameter and the package have the same name, so that declarations read as usual.
func (s *settings) flags(flag *flag.FlagSet) {
	s.connected(flag)
	s.observed(flag)
	flag.StringVar(&s.project, "project", "", "Carve project that claims")
	flag.StringVar(&s.realm, "realm", "", "realm of the cluster's pods (default: the UID of the namespace kube-system)")
	flag.DurationVar(&s.ttl, "consumer-ttl", 24*time.Hour, "time for which a pod counts as living without a renewal; at most 168h")
	flag.DurationVar(&s.renew, "renew-interval", 10*time.Minute, "interval between renewals of pods; at most half of --consumer-ttl")
	flag.IntVar(&s.workers, "workers", 4, "number of claims processed at the same time")
	s.leader.flags(flag)
	s.clusterAPI.flags(flag)
	s.pods.flags(flag)
	s.objects.flags(flag)
}

func main() { os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr)) }

// run runs the program and returns its exit code: 0 after a requested stop, 2 for invalid flags or variables, 1 for any other error.
func run(args, environ []string, stdout, stderr io.Writer) int {
	if len(args) > 0 && args[0] == importCommand {
		return importWhereabouts(args[1:], environ, stdout, stderr)
	}
	s, text, err := parse(args, environ)
	switch {
	case errors.Is(err, flag.ErrHelp), errors.Is(err, errVersion):
		_, _ = fmt.Fprint(stdout, text)
		return 0
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "carve-controller: %v\n", err)
		return 2
	}
	log := telemetry.NewLog(stderr, s.level, s.logFormat)
	telemetry.Adopt(log)
	ctx := ctrl.SetupSignalHandler()
	endTraces, err := telemetry.Trace(ctx, version, os.Getenv, stderr, log)
	if err == nil {
		err = control(ctx, s, log)
	}
	const patience = 3 * time.Second // time to send the last traces, as in the server
	last, done := context.WithTimeout(context.Background(), patience)
	defer done()
	if err := errors.Join(err, endTraces(last)); err != nil {
		_, _ = fmt.Fprintf(stderr, "carve-controller: %v\n", err)
		return 1
	}
	return 0
}

// control runs the controller until the context ends.
func control(ctx context.Context, s settings, log *slog.Logger) error {
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), ipam.AddToScheme(scheme)); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	with := ctrl.Options{Scheme: scheme, Cache: cache.Options{ByObject: pods.Remembered()}, Metrics: server.Options{BindAddress: s.metrics}}
	s.leader.apply(&with)
	manager, err := ctrl.NewManager(config, with)
	if err != nil {
		return err
	}
	toCarve, watched, err := s.toCarve()
	if err != nil {
		return err
	}
	cluster, err := realm.NameOf(ctx, manager.GetAPIReader())
	if err != nil {
		return err
	}
	if s.realm == "" {
		s.realm = cluster
	}
	r := &claims.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Judge: s.pods.judge, Between: s.pods.network, Events: manager.GetEventRecorder("carve-controller"),
		Realm: &realm.Realm{Carve: toCarve, Project: s.project, Name: s.realm, Cluster: cluster, TTL: s.ttl},
	}
	if err := r.Confirm(ctx); errors.Is(err, claims.ErrElsewhere) {
		return err // if Carve is unreachable, [claims.Confirmation] asks again
	}
	if err := errors.Join(s.pods.setup(ctx, manager, r, s), s.objects.setup(manager, r.Realm, s.renew),
		s.clusterAPI.setup(manager, r, s.workers), s.observe(manager, watched)); err != nil {
		return err
	}
	log.InfoContext(ctx, "controller started", "version", version, "commit", commit, "carve", s.carve, "project", s.project, "realm", s.realm)
	return manager.Start(ctx)
}
