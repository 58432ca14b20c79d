package acceptance_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestDestroyDeletesThePoolsOfScopes destroys a class whose claims are in pools that were carved for scopes. The server itself would delete an empty
// pool only after a day.
func TestDestroyDeletesThePoolsOfScopes(t *testing.T) {
	for name, listed := range map[string]string{"pool first": "carve_class.std.name", "class first": `"std"`} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			_, project := team(t)
			scope := strings.ReplaceAll(project+`resource "carve_class" "std" {
  project            = carve_project.team.name
  name               = "std"
  ip_family          = "IPv4"
  pool_per           = ["project", "cluster"]
  pool_prefix_length = 20
}
resource "carve_pool" "prod" {
  project = carve_project.team.name
  name    = "prod"
  cidr    = "10.0.0.0/8"
  classes = [LISTED]
  depends_on = [carve_class.std]
}
resource "carve_claim" "web" {
  for_each      = toset(["blue", "green"])
  depends_on    = [carve_pool.prod]
  project       = carve_project.team.name
  name          = each.key
  class         = carve_class.std.name
  scope         = { cluster = each.key }
  prefix_length = 28
}
`, "LISTED", listed)
			f := newFolder(t, world.main, "", scope)
			f.apply()
			f.empty()
			f.destroy()
			require.Empty(t, f.state())
		})
	}
}

// TestDestroyWaitsForBlocksThatCoolDown checks that a destroy waits until blocks have cooled down. If the resource's timeout ends earlier, the
// destroy must fail at once, and the error has the end of the cool-down.
func TestDestroyWaitsForBlocksThatCoolDown(t *testing.T) {
	t.Parallel()
	_, project := team(t)
	config := func(reuse, timeouts string) string {
		return head + project + strings.Replace(web, "  cidr    = \"10.20.0.0/16\"\n", "  cidr    = \"10.20.0.0/16\"\n  reuse_after = \""+reuse+"\"\n"+timeouts, 1)
	}
	f := newFolder(t, world.main, "", "")
	f.write("main.tf", config("5s", ""))
	f.apply()
	f.destroy()
	require.Empty(t, f.state())

	f.write("main.tf", config("1h", ""))
	f.apply()
	said, code := f.try("destroy", "-auto-approve")
	require.Equal(t, 1, code)
	require.Contains(t, flat(said), "Blocks cool down")
	require.Contains(t, flat(said), `timeouts = { delete = "1h1m0s" }`)
	require.Len(t, f.state(), 2, "the claim is released, the pool stays")
}

// TestReplacedPoolThatHoldsSomethingIsRefusedByThePlan changes an attribute that forces a new pool. The pool has claims, child pools or grants.
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
