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
	"sigs.k8s.io/controller-runtime/pkg/healthz"
	"sigs.k8s.io/controller-runtime/pkg/log/zap"
	"sigs.k8s.io/controller-runtime/pkg/metrics/server"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
	"github.com/carve-ipam/carve/controller/internal/claims"
	"github.com/carve-ipam/carve/controller/internal/judge"
	"github.com/carve-ipam/carve/controller/internal/realm"
)

// settings are what the flags say.
type settings struct {
	carve, keyFile, project, realm, metrics, probes string
	ttl, renew                                      time.Duration
	workers                                         int
	leaderElect                                     bool
	judge                                           judge.Options
	objects                                         objects
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
	flag.IntVar(&s.workers, "workers", 4, "claims that are worked on at once")
	flag.BoolVar(&s.leaderElect, "leader-elect", true, "let one of several controllers work")
	flag.BoolVar(&s.judge.CleanupTerminating, "cleanup-terminating-pods", false, "release when the deletion of a pod begins")
	flag.BoolVar(&s.judge.CleanupDisrupted, "cleanup-disrupted-pods", true, "release when the taint manager has decided to delete a pod")
	s.objects.flags()
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
	case s.ttl > longest:
		return fmt.Errorf("--consumer-ttl must be %s at most", longest)
	case s.workers < 1:
		return errors.New("--workers must be 1 at least")
	}
	return s.objects.check()
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
		Scheme: scheme, Metrics: server.Options{BindAddress: s.metrics}, HealthProbeBindAddress: s.probes,
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
		Client: manager.GetClient(), Live: manager.GetAPIReader(), Judge: s.judge, Events: manager.GetEventRecorder("carve-controller"),
		Realm: &realm.Realm{Carve: toCarve, Project: s.project, Name: s.realm, TTL: s.ttl},
	}
	if err := errors.Join(r.Setup(ctx, manager, s.workers), manager.Add(&claims.Renewals{Of: r, Every: s.renew}), s.objects.setup(manager, r.Realm, s.renew),
		manager.AddHealthzCheck("ping", healthz.Ping), manager.AddReadyzCheck("ping", healthz.Ping)); err != nil {
		return err
	}
	return manager.Start(ctx)
}
