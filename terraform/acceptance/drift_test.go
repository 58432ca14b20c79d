package acceptance_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// drifting has every attribute that can be changed, with the request by which another client changes it.
var drifting = []struct {
	address, path, config string
	set, patch            string // configured attributes; the other client's request body
}{
	{
		address: "carve_project.it", path: "/v1/projects/TEAM-drift", config: `name = "TEAM-drift"`,
		set: `display_name = "Team"
description = "Shops"
labels = { env = "prod" }
annotations = { a = "b" }`,
		patch: `{"metadata":{"labels":{"env":"x","y":"z"},"annotations":{"a":null,"c":"d"}},"spec":{"displayName":"x","description":"x"}}`,
	},
	{
		address: "carve_space.it", path: "/v1/projects/TEAM/spaces/drift", config: `name = "drift"`,
		set: `description = "A routing domain"
labels = { env = "prod" }
annotations = { a = "b" }`,
		patch: `{"metadata":{"labels":{"env":"x"},"annotations":{"c":"d"}},"spec":{"description":"x"}}`,
	},
	{
		address: "carve_pool.it", path: "/v1/projects/TEAM/pools/drift", config: `name = "drift"
cidr = "10.0.0.0/8"
depends_on = [carve_class.other]`,
		set: `description = "Web"
visibility = "consumer"
strategy = "FirstFit"
min_prefix_length = 10
max_prefix_length = 31
default_prefix_length = 28
reservations = [{ first = 4, reason = "gateways" }]
classes = ["std"]
reuse_after = "90m"
regions = ["local"]
labels = { env = "prod" }
annotations = { a = "b" }`,
		patch: `{"metadata":{"labels":{"env":"x"},"annotations":{"c":"d"}},"spec":{"description":"x","visibility":"shared","allocation":{"strategy":"Sparse",
			"minPrefixLength":12,"maxPrefixLength":30,"defaultPrefixLength":27},"reservations":[{"last":2}],"classNames":["other"],"reuseAfter":"5s"}}`,
	},
	{
		address: "carve_class.it", path: "/v1/projects/TEAM/classes/drift", config: `name = "drift"
ip_family = "IPv4"
pool_per = ["project"]
pool_prefix_length = 20`,
		set: `visibility = "consumer"
is_default = false
strategy = "Random"
min_prefix_length = 24
max_prefix_length = 30
default_prefix_length = 28
reclaim_policy = "Delete"
reuse_after = "72h"
reuse_after_lost = "10m"
pool_selection = "FirstFit"
empty_pool_ttl = "48h"
parameters = { tier = "gold" }
description = "Sites"
labels = { env = "prod" }
annotations = { a = "b" }`,
		patch: `{"metadata":{"labels":{"env":"x"},"annotations":{"c":"d"}},"spec":{"isDefault":true,"strategy":"BestFit",
			"allowedPrefixLengths":{"min":23,"max":29},"defaultPrefixLength":27,"reclaimPolicy":"Retain","reuseAfter":"1h","reuseAfterLost":"2h",
			"poolSelection":"LeastUtilized","emptyPoolTTL":"3h","parameters":{"tier":"iron"},"description":"x"}}`,
	},
	{
		address: "carve_claim.it", path: "/v1/projects/TEAM/claims/drift", config: `name = "drift"
pool = carve_pool.prod.id
prefix_length = 28`,
		set: `reclaim_policy = "Delete"
labels = { env = "prod" }
annotations = { a = "b" }`,
		patch: `{"metadata":{"labels":{"env":"x"},"annotations":{"c":"d"}},"spec":{"reclaimPolicy":"Retain"}}`,
	},
	{
		address: "carve_quota.it", path: "/v1/projects/TEAM/quotas/drift", config: `name = "drift"
limits = { addresses = 65536, claims = 100 }`,
		set:   `description = "Enough"`,
		patch: `{"spec":{"limits":{"addresses":"1000000","pools":9},"description":"x"}}`,
	},
	{
		address: "carve_member.it", path: "/v1/projects/TEAM/members/corp:drift", config: `subject = "corp:drift"
role = "viewer"`,
		patch: `{"spec":{"role":"consumer"}}`,
	},
	{
		address: "carve_consumer.it", path: "/v1/projects/TEAM/realms/default/consumers/drift", config: `uid = "drift"`,
		set: `kind = "VM"
name = "web-1"
ttl_seconds = 3600`,
		patch: `{"spec":{"kind":"x","name":"x","ttlSeconds":600}}`,
	},
	{
		address: "carve_alert_rule.it", path: "/v1/projects/TEAM/alert-rules/drift", config: `name = "drift"
about = "Pools"
percent = 80`,
		set: `resource_name = "prod"
class_name = "std"
label_selector = "env=prod"
labels = { env = "prod" }
annotations = { a = "b" }`,
		patch: `{"metadata":{"labels":{"env":"x"},"annotations":{"c":"d"}},"spec":{"percent":null,"runway":"168h","resourceName":"x","className":"x","labelSelector":"x"}}`,
	},
	{
		address: "carve_webhook.it", path: "/v1/projects/TEAM/webhooks/drift", config: `name = "drift"
url = "https://inventory.example.com/carve"`,
		set: `resource_kinds = ["IPClaim"]
resource_name = "web"
label_selector = "env=prod"
paused = false
labels = { env = "prod" }
annotations = { a = "b" }`,
		patch: `{"metadata":{"labels":{"env":"x"},"annotations":{"c":"d"}},"spec":{"url":"https://inventory.example.com/x","resourceKinds":["IPPool"],
			"resourceName":"x","labelSelector":"x","paused":true}}`,
	},
}

// around has the resources that the resources in drifting need.
const around = `resource "carve_class" "std" {
  project   = carve_project.team.name
  name      = "std"
  ip_family = "IPv4"
}
resource "carve_class" "other" {
  project    = carve_project.team.name
  name       = "other"
  ip_family  = "IPv4"
  depends_on = [carve_class.std]
}
resource "carve_pool" "prod" {
  project = carve_project.team.name
  name    = "prod"
  cidr    = "192.168.0.0/16"
}
`

func TestDriftOfEveryAttributeIsPlannedAndReverted(t *testing.T) {
	for _, full := range []bool{true, false} {
		t.Run(map[bool]string{true: "set attributes", false: "unset attributes"}[full], func(t *testing.T) {
			t.Parallel()
			name, project := team(t)
			config := project + around
			for _, d := range drifting {
				kind, local, _ := strings.Cut(d.address, ".")
				config += "resource \"" + kind + "\" \"" + local + "\" {\n"
				if kind != "carve_project" {
					config += "  project = carve_project.team.name\n"
				}
				config += strings.ReplaceAll(d.config, "TEAM", name) + "\n"
				if full {
					config += d.set + "\n"
				}
				config += "}\n"
			}
			f := newFolder(t, world.main, "", config)
			f.apply()
			f.empty()
			was := map[string]map[string]any{}
			for _, d := range drifting {
				path := strings.ReplaceAll(d.path, "TEAM", name)
				was[d.address] = f.server.send(t, "GET", path, "")
				if !full { // the server may keep its own value, and a retained block would prevent the deletion of the project
					d.patch = strings.Replace(d.patch, `,"spec":{"reclaimPolicy":"Retain"}`, "", 1)
				}
				if strings.Contains(d.path, "/quotas/") || strings.Contains(d.path, "/members/") || strings.Contains(d.path, "/consumers/") {
					f.server.send(t, "PUT", path, d.patch)
				} else {
					f.server.send(t, "PATCH", path, d.patch)
				}
			}

			changes := f.changes()
			for _, d := range drifting {
				require.Equal(t, []string{"update"}, changes[d.address].Actions, d.address)
				before, after := changes[d.address].Before, changes[d.address].After
				kind, _, _ := strings.Cut(d.address, ".")
				for _, attribute := range mutable(t, kind) {
					if still[kind+"."+attribute] || attribute == "deletion_protection" || !full && serverSays[kind+"."+attribute] {
						continue
					}
					require.NotEqual(t, before[attribute], after[attribute], "%s of %s", attribute, d.address)
				}
			}
			require.Contains(t, f.apply(), fmt.Sprintf("0 added, %d changed, 0 destroyed", len(drifting)))
			f.empty()
			for _, d := range drifting {
				is := f.server.send(t, "GET", strings.ReplaceAll(d.path, "TEAM", name), "")
				if full {
					require.Equal(t, was[d.address]["spec"], is["spec"], d.address)
				}
				for _, of := range []string{"labels", "annotations"} {
					require.Equal(t, metadata(was[d.address], of), metadata(is, of), d.address)
				}
			}
			f.destroy()
		})
	}
}

// still lists attributes that this test does not change. The server has only one region, and only the platform's classes can be shared.
// TestPoolThatIsDrained... covers drain.
var still = map[string]bool{"carve_pool.regions": true, "carve_class.visibility": true, "carve_pool.drain": true}

// serverSays lists the attributes that the server sets if the configuration does not set them.
var serverSays = map[string]bool{"carve_claim.reclaim_policy": true, "carve_class.empty_pool_ttl": true}

func metadata(d map[string]any, of string) any {
	all, _ := d["metadata"].(map[string]any)
	return all[of]
}

// mutable returns the attributes of a resource that a configuration can set and change without a new resource. It reads them from the descriptions in
// the schema.
func mutable(t testing.TB, kind string) []string {
	t.Helper()
	f := newFolder(t, world.main, "", "")
	var all struct {
		Schemas map[string]struct {
			Resources map[string]struct {
				Block struct {
					Attributes map[string]struct {
						Required, Optional bool
						Description        string
					}
				}
			} `json:"resource_schemas"`
		} `json:"provider_schemas"`
	}
	require.NoError(t, json.Unmarshal([]byte(f.run("providers", "schema", "-json")), &all))
	var names []string
	for _, of := range all.Schemas {
		attributes := of.Resources[kind].Block.Attributes
		for _, name := range slices.Sorted(maps.Keys(attributes)) {
			a := attributes[name]
			if (a.Required || a.Optional) && !strings.Contains(a.Description, forces) && name != "timeouts" {
				names = append(names, name)
			}
		}
	}
	return names
}

// forces is the last sentence in the description of an attribute that cannot be changed.
const forces = "Changing it forces a new resource."
