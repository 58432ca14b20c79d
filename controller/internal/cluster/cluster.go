// Package cluster is what the tests of the controller run against: an API server and etcd as Kubernetes has them, and a server of Carve with a database
// of its own, each a process. There is no controller manager, no scheduler and no kubelet: tests play their parts.
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

// Cluster is what runs.
type Cluster struct {
	// Config is for clients of the API server that may do everything.
	Config *rest.Config
	// Client reads the API server itself.
	Client client.Client
	// Carve is a client of the server, as an admin.
	Carve *carve.Carve
	// CarveURL is where the server is.
	CarveURL string

	server    *server
	apiServer apiServer
}

// ErrMissing is a program that is not there.
var ErrMissing = errors.New("is not there; `make controller-test` builds it")

// Start brings up both servers, the one of Kubernetes with what is changed of it. What it answers to stop them is to be called also when it fails.
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

// Root is a path from the root of the checkout, which is the folder above that has the contract.
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
