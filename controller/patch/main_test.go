package patch_test

import (
	"errors"
	"fmt"
	"os"
	"testing"

	"github.com/carve-ipam/carve/controller/internal/cluster"
)

var world *cluster.Cluster

func TestMain(m *testing.M) { os.Exit(run(m)) }

func run(m *testing.M) (code int) {
	c, stop, err := cluster.Start()
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
