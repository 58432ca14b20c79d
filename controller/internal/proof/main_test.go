// Package proof tests the controller as a program. It kills the controllers and the servers while pods start, move and end.
package proof_test

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/go-logr/logr"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/carve-ipam/carve/controller/internal/cluster"
)

var (
	servers *cluster.Cluster
	// programs is the directory of the controllers that the tests build: the product, and its faulty twins.
	programs string
)

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	c, stop, err := cluster.Start(func(e *envtest.Environment) {
		e.CRDDirectoryPaths = append(e.CRDDirectoryPaths, cluster.Root("controller/internal/capi/testdata"))
	})
	defer func() {
		if err := stop(); err != nil {
			fmt.Println("ending the cluster:", err)
			code = 1
		}
	}()
	switch {
	case errors.Is(err, cluster.ErrMissing):
		fmt.Println("skipped:", err)
		return 0
	case err != nil:
		fmt.Println("starting a cluster:", err)
		return 1
	}
	if programs, err = os.MkdirTemp("", "carve-controllers-"); err == nil {
		defer func() { _ = os.RemoveAll(programs) }()
		err = build("carve-controller")
	}
	if err != nil {
		fmt.Println("building the controller:", err)
		return 1
	}
	ctrl.SetLogger(logr.Discard()) // these tests end watches on purpose, which the libraries would log
	servers = c
	return m.Run()
}

// build builds the controller under a name.
func build(name string, flags ...string) error {
	arguments := append([]string{"build", "-trimpath", "-o", filepath.Join(programs, name)}, flags...)
	cmd := exec.Command("go", append(arguments, "./cmd/carve-controller")...)
	cmd.Dir = cluster.Root("controller")
	text, err := cmd.CombinedOutput()
	if err != nil {
		return fmt.Errorf("%w: %s", err, text)
	}
	return nil
}
