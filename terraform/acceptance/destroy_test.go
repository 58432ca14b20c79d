package acceptance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestReplacedPoolThatHoldsSomethingIsRefusedByThePlan changes what a pool cannot change, while claims, children and grants are in it.
func TestReplacedPoolThatHoldsSomethingIsRefusedByThePlan(t *testing.T) {
	t.Parallel()
	name, project := team(t)
	full := project + web + `resource "carve_pool" "child" {
  project       = carve_project.team.name
  name          = "child"
  parent        = carve_pool.prod.id
  prefix_length = 20
}
resource "carve_pool" "granted" {
  project    = carve_project.team.name
  name       = "granted"
  cidr       = "10.30.0.0/16"
  visibility = "shared"
}
resource "carve_grant" "all" {
  project  = carve_project.team.name
  pool     = carve_pool.granted.name
  consumer = "*"
}
`
	f := newFolder(t, world.main, "", full)
	f.apply()
	before := f.state()
	f.write("main.tf", head+strings.Replace(full, "10.20.0.0/16", "10.21.0.0/16", 1))
	require.Contains(t, f.fails(), "It cannot be replaced while it is in use")
	f.write("main.tf", head+strings.Replace(full, "10.30.0.0/16", "10.31.0.0/16", 1))
	require.Contains(t, f.fails(), "Its container is destroyed")
	f.write("main.tf", head+full)
	require.Contains(t, f.fails("-replace=carve_pool.prod"), "It cannot be replaced while it is in use")
	require.Contains(t, f.fails("-replace=carve_pool.granted"), "Its container is destroyed")
	f.run("taint", "carve_pool.granted")
	require.Contains(t, f.fails(), "Its container is destroyed")
	f.run("untaint", "carve_pool.granted")
	f.empty()
	require.Equal(t, before, f.state(), "nothing was destroyed")

	f.write("main.tf", head+strings.Replace(full, "10.20.0.0/16", "10.21.0.0/16", 1))
	f.run("destroy", "-auto-approve", "-refresh=false", "-target=carve_pool.prod")
	f.apply()
	f.empty()
	f.agrees()
	require.Equal(t, "10.21.0.0/16", f.server.send(t, "GET", "/v1/projects/"+name+"/pools/prod", "")["status"].(map[string]any)["allocatedCIDR"])
	f.destroy()
}
