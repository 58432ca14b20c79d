// Package cluster starts the servers for the controller's tests: etcd, the Kubernetes API server, and a Carve server with its own database. Each is a
// process. No controller manager, scheduler or kubelet runs; the tests imitate them.
package cluster

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	clientgoscheme "k8s.io/client-go/kubernetes/scheme"
	"k8s.io/client-go/rest"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	carve "github.com/carve-ipam/carve/client"
	ipam "github.com/carve-ipam/carve/controller/api/v1alpha1"
)

// Cluster has the running servers.
type Cluster struct {
	// Config gives clients of the API server all permissions.
	Config *rest.Config
	// Client reads from the API server, without a cache.
	Client client.Client
	// Carve is an admin's client for the Carve server.
	Carve *carve.Carve
	// CarveURL is the Carve server's URL.
	CarveURL string

	server    *server
	apiServer apiServer
}

// ErrMissing reports that a program has not been built.
var ErrMissing = errors.New("is not there; `make controller-test` builds it")

// Start starts all servers. The changes apply to the environment of the API server. Call the returned function to stop the servers, even after an
// error.
func Start(changes ...func(*envtest.Environment)) (*Cluster, func() error, error) {
	for _, program := range []string{assets("etcd"), assets("kube-apiserver"), serverProgram()} {
		if _, err := os.Stat(program); err != nil {
			return nil, func() error { return nil }, fmt.Errorf("%s %w", program, ErrMissing)
		}
	}
	env := &envtest.Environment{
		BinaryAssetsDirectory: assets(""), CRDDirectoryPaths: []string{Root("controller/config/crd")}, ErrorIfCRDPathMissing: true,
		ControlPlaneStartTimeout: 10 * time.Minute, ControlPlaneStopTimeout: 5 * time.Minute,
		CRDInstallOptions: envtest.CRDInstallOptions{MaxTime: 5 * time.Minute},
	}
	for _, change := range changes {
		change(env)
	}
	c := &Cluster{server: &server{}}
	stop := func() error { return errors.Join(c.server.stop(), c.apiServer.stop(), env.Stop()) }
	config, err := env.Start()
	if err != nil {
		return nil, stop, err
	}
	config.QPS, config.Burst = 1000, 1000
	if err := errors.Join(ipam.AddToScheme(clientgoscheme.Scheme), c.server.start()); err != nil {
		return nil, stop, err
	}
	c.Config, c.CarveURL = config, "http://"+c.server.address
	if c.Carve, err = carve.New(c.CarveURL); err != nil {
		return nil, stop, err
	}
	c.Client, err = client.New(config, client.Options{})
	return c, stop, err
}

// Root returns a path relative to the root of the checkout: the nearest parent directory with openapi.yaml.
func Root(path string) string {
	above := ".."
	for range 8 {
		if _, err := os.Stat(filepath.Join(above, "openapi.yaml")); err == nil {
			break
		}
		above = filepath.Join(above, "..")
	}
	return filepath.Join(above, path)
}

func assets(program string) string { return Root(filepath.Join("bin", "kubeapi", program)) }

func serverProgram() string { return Root("bin/server") }
