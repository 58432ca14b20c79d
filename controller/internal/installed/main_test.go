// Package installed compares the program with its chart. It runs the program as a process, with the chart's ServiceAccount and rights, against an API
// server with an audit log. It has only tests.
package installed_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/carve-ipam/carve/controller/internal/cluster"
)

// world has the servers, the program's path and the audit log's path.
var world struct {
	*cluster.Cluster
	program, asked string
}

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	dir, err := os.MkdirTemp("", "carve-installed-")
	if err != nil {
		fmt.Println(err)
		return 1
	}
	defer func() { _ = os.RemoveAll(dir) }()
	world.program, world.asked = filepath.Join(dir, "carve-controller"), filepath.Join(dir, "asked")
	policy := filepath.Join(dir, "policy.yaml")
	err = os.WriteFile(policy, []byte("apiVersion: audit.k8s.io/v1\nkind: Policy\nrules: [{level: Metadata}]\nomitStages: [RequestReceived]\n"), 0o600)
	c, stop, started := cluster.Start(func(env *envtest.Environment) {
		env.CRDDirectoryPaths = append(env.CRDDirectoryPaths, cluster.Root("controller/internal/capi/testdata")) // Cluster API's kinds
		env.ControlPlane.GetAPIServer().Configure().Set("audit-policy-file", policy).Set("audit-log-path", world.asked).
			Set("enable-admission-plugins", "OwnerReferencesPermissionEnforcement") // as in OpenShift: owner references that block a deletion need a right
	})
	defer func() {
		if err := stop(); err != nil {
			fmt.Println("ending the cluster:", err)
			code = 1
		}
	}()
	if errors.Is(started, cluster.ErrMissing) {
		fmt.Println("skipped:", started)
		return 0
	}
	world.Cluster = c
	if err := errors.Join(err, started, build()); err != nil {
		fmt.Println("starting a cluster:", err)
		return 1
	}
	return m.Run()
}

func build() error {
	cmd := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags=-X main.version=v1.2.3", "-o", world.program, "./cmd/carve-controller")
	cmd.Dir, cmd.Env = cluster.Root("controller"), append(os.Environ(), "CGO_ENABLED=0")
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("%w: %s", err, said)
	}
	return nil
}
