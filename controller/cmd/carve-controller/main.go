// Command carve-controller makes IPClaims of a Kubernetes cluster true in Carve.
package main

import (
	"errors"
	"flag"
	"fmt"
	"os"
	"time"

	"k8s.io/apimachinery/pkg/runtime"
	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/judge"
	"github.com/carve-ipam/carve/controller/internal/pods"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// settings are what the flags say.
type settings struct {
	carve, keyFile, project, realm, metrics, probes string
	ttl, renew, sweep, network                      time.Duration
	workers                                         int
	leaderElect                                     bool
	judge                                           judge.Options
}

func main() {
	if err := run(flags()); err != nil {
		fmt.Fprintln(os.Stderr, "carve-controller:", err)
		os.Exit(1)
	}
}

func flags() (s settings) {
	flag.StringVar(&s.carve, "carve", "", "URL of Carve")
	flag.StringVar(&s.keyFile, "carve-key-file", "", "file with the API key; read again for each call")
	flag.StringVar(&s.project, "project", "", "project of Carve that claims")
	flag.StringVar(&s.realm, "realm", "", "realm of the cluster's pods (default: the UID of the namespace kube-system)")
	flag.DurationVar(&s.ttl, "consumer-ttl", 24*time.Hour, "how long a pod is believed to live that nobody renews")
	flag.DurationVar(&s.renew, "renew-interval", 10*time.Minute, "how often pods are renewed; at most half of --consumer-ttl")
	flag.DurationVar(&s.sweep, "sweep-interval", 10*time.Minute, "how often it is looked for what was missed")
	flag.DurationVar(&s.network, "network-status-interval", 30*time.Second, "how long an address is to be missing in the network status of a pod")
	flag.IntVar(&s.workers, "workers", 4, "claims, and pods, that are worked on at once")
	flag.BoolVar(&s.leaderElect, "leader-elect", true, "let one of several controllers work")
	flag.BoolVar(&s.judge.CleanupTerminating, "cleanup-terminating-pods", false, "release when the deletion of a pod begins")
	flag.BoolVar(&s.judge.CleanupDisrupted, "cleanup-disrupted-pods", true, "release when the taint manager has decided to delete a pod")
	flag.BoolVar(&s.judge.VerifyNetworkStatus, "verify-network-status", true, "release a claim that is missing in the network status of its pod")
	flag.StringVar(&s.metrics, "metrics-bind-address", ":8080", "where metrics are served; 0 for nowhere")
	flag.StringVar(&s.probes, "health-probe-bind-address", ":8081", "where /healthz and /readyz are served")
	flag.Parse()
	return s
}

// longest is the longest time to live that Carve gives to a consumer.
const longest = 7 * 24 * time.Hour

func (s settings) check() error {
	switch {
	case flag.NArg() > 0:
		return fmt.Errorf("what is %q?", flag.Arg(0))
	case s.carve == "" || s.project == "":
		return errors.New("--carve and --project are needed")
	case s.renew <= 0 || s.ttl < 2*s.renew:
		return errors.New("--consumer-ttl must be twice --renew-interval at least")
	case s.sweep <= 0 || s.network <= 0:
		return errors.New("--sweep-interval and --network-status-interval must be longer than nothing")
	case s.ttl > longest:
		return fmt.Errorf("--consumer-ttl must be %s at most", longest)
	case s.workers < 1:
		return errors.New("--workers must be 1 at least")
	}
	return nil
}

func run(s settings) error {
	if err := s.check(); err != nil {
		return err
	}
	ctrl.SetLogger(zap.New())
	ctx := ctrl.SetupSignalHandler()
	scheme := runtime.NewScheme()
	if err := errors.Join(clientgoscheme.AddToScheme(scheme), ipam.AddToScheme(scheme)); err != nil {
		return err
	}
	config, err := ctrl.GetConfig()
	if err != nil {
		return err
	}
	manager, err := ctrl.NewManager(config, ctrl.Options{
		Scheme: scheme, Cache: cache.Options{ByObject: pods.Remembered()},
		Metrics: server.Options{BindAddress: s.metrics}, HealthProbeBindAddress: s.probes,
		LeaderElection: s.leaderElect, LeaderElectionID: "carve-controller.ipam.carve.dev", LeaderElectionReleaseOnCancel: true,
	})
	if err != nil {
		return err
	}
	options := []carve.Option{carve.WithUserAgent("carve-controller")}
	if s.keyFile != "" {
		options = append(options, carve.WithTokenSource(keyFrom(s.keyFile)))
	}
	toCarve, err := carve.New(s.carve, options...)
	if err != nil {
		return err
	}
	if s.realm == "" {
		if s.realm, err = realm.NameOf(ctx, manager.GetAPIReader()); err != nil {
			return err
		}
	}
	r := &claims.Reconciler{
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Judge: s.judge, Between: s.network,
		Events: manager.GetEventRecorder("carve-controller"),
		Realm:  &realm.Realm{Carve: toCarve, Project: s.project, Name: s.realm, TTL: s.ttl},
	}
	if err := errors.Join(s.runPods(ctx, manager, r),
		manager.AddHealthzCheck("ping", healthz.Ping), manager.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return err
	}
	return manager.Start(ctx)
}
