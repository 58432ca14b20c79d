package acceptance_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// drained returns a configuration with a pool, the pool's drain attributes, and further resources.
func drained(project, drain, rest string) string {
	return head + `resource "carve_pool" "old" {
  project = "` + project + `"
  name    = "old"
  cidr    = "10.30.0.0/16"
` + drain + `}
` + rest
}

func claimOn(project, name string) string {
	return `resource "carve_claim" "` + name + `" {
  project       = "` + project + `"
  name          = "` + name + `"
  pool          = carve_pool.old.name
  prefix_length = 28
}
`
}

func TestDrainedPoolRefusesClaimsUntilTheAttributeIsRemoved(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	f := newFolder(t, world.main, "drain", "")
	f.write("main.tf", drained(project, "", claimOn(project, "first")))
	f.apply()
	f.write("main.tf", drained(project, "  drain = \"Keep\"\n", claimOn(project, "first")))
	require.Contains(t, f.apply(), "0 added, 1 changed, 0 destroyed")
	f.empty()
	f.write("main.tf", drained(project, "  drain = \"Keep\"\n", claimOn(project, "first")+claimOn(project, "second")))
	require.Contains(t, f.fails(), "Code pool_draining")
	f.agrees()

	f.server.send(t, http.MethodPatch, "/v1/projects/"+project+"/pools/old", `{"spec":{"drain":"Delete"}}`)
	require.Equal(t, []string{"update"}, f.changes()["carve_pool.old"].Actions, "another drain is drift")
	f.write("main.tf", drained(project, "", claimOn(project, "first")+claimOn(project, "second")))
	f.apply("-target=carve_pool.old")
	require.Contains(t, f.apply(), "1 added, 0 changed, 0 destroyed")
	f.empty()
	f.destroy()
}

func TestNewPoolIsDrainedFromItsCreationAndFoundAgainAfterALostState(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	f := newFolder(t, world.main, "drain-new", "")
	f.write("main.tf", drained(project, "  drain = \"Keep\"\n", ""))
	f.apply()
	f.empty()
	_, document := f.server.get(t, "/v1/projects/"+project+"/pools/old")
	spec, _ := document["spec"].(map[string]any)
	require.Equal(t, "Keep", spec["drain"])
	uid := f.value("carve_pool.old", "uid")
	f.remove("terraform.tfstate", "terraform.tfstate.backup")
	f.apply()
	f.empty()
	require.Equal(t, uid, f.value("carve_pool.old", "uid"))
	f.destroy()
}

func TestPoolDeletedByItsDrainIsNotCreatedAgain(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	f := newFolder(t, world.main, "drain-delete", "")
	f.write("main.tf", drained(project, "  drain = \"Delete\"\n", ""))
	require.Contains(t, f.fails(), `with drain = "Delete" the server deletes an empty pool`)
	f.write("main.tf", drained(project, "", claimOn(project, "first")))
	f.apply()
	f.write("main.tf", drained(project, "  drain = \"Delete\"\n", claimOn(project, "first")))
	f.apply()
	f.empty()
	f.apply("-target=carve_claim.first", "-destroy")
	require.Eventually(t, func() bool {
		status, _ := f.server.get(t, "/v1/projects/"+project+"/pools/old")
		return status == http.StatusNotFound
	}, time.Minute, 100*time.Millisecond)
	f.write("main.tf", drained(project, "  drain = \"Delete\"\n", ""))
	require.Contains(t, f.fails(), "remove the resource from the configuration")
	f.write("main.tf", head)
	f.apply()
	require.Empty(t, f.state())
}
