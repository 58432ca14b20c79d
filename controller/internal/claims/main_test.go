package claims_test

import (
	"os"
	"testing"

	"github.com/carve-ipam/carve/controller/internal/cluster"
)

var world *cluster.Cluster

func TestMain(m *testing.M) {
	os.Exit(cluster.Main(m, func(c *cluster.Cluster) { world = c }))
}
