package whereabouts_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"sigs.k8s.io/controller-runtime/pkg/envtest"

	"github.com/carve-ipam/carve/controller/internal/cluster"
)

var world *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	c, stop, err := cluster.Start(func(e *envtest.Environment) { e.CRDDirectoryPaths = append(e.CRDDirectoryPaths, "testdata") })
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
	world = c
	return m.Run()
}
