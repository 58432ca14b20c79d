package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// each has an example of every resource kind with all its attributes. "TEAM" stands for the project of the test.
var each = []struct{ name, config, changed string }{
	{"project", `resource "carve_project" "it" {
  name         = "TEAM-b"
  display_name = "Team B"
  description  = "Shops"
  labels       = { env = "prod" }
  annotations  = { "example.com/about" = "shops" }
}`, `display_name = "Team C"`},
	{"bare project", `resource "carve_project" "it" {
  name = "TEAM-c"
}`, ""},
	{"space", `resource "carve_space" "it" {
  project     = carve_project.team.name
  name        = "vrf"
  description = "A routing domain"
  labels      = { env = "prod" }
}`, `description = "Another one"`},
	{"pool", `resource "carve_space" "vrf" {
  project = carve_project.team.name
  name    = "vrf"
}
resource "carve_class" "std" {
  project   = carve_project.team.name
  name      = "std"
  ip_family = "IPv4"
}
resource "carve_pool" "root" {
  project      = carve_project.team.name
  name         = "root"
  space        = carve_space.vrf.id
  cidr         = "10.0.0.0/8"
  reuse_after  = "90m"
  visibility   = "shared"
  reservations = [{ first = 4, reason = "gateways" }, { from = "10.0.0.64", to = "10.0.0.70" }, { cidr = "10.0.1.0/24" }, { last = 1 }]
}
resource "carve_pool" "it" {
  project               = carve_project.team.name
  name                  = "child"
  parent                = carve_pool.root.id
  prefix_length         = 16
  description           = "Web"
  strategy              = "FirstFit"
  min_prefix_length     = 20
  max_prefix_length     = 30
  default_prefix_length = 28
  classes               = [carve_class.std.name]
  labels                = { env = "prod" }
  annotations           = { a = "b" }
}
resource "carve_pool" "exact" {
  project = carve_project.team.name
  name    = "exact"
  parent  = "root"
  cidr    = "10.200.0.0/16"
  depends_on = [carve_pool.root]
}
resource "carve_pool" "six" {
  project = carve_project.team.name
  name    = "six"
  cidr    = "2001:DB8:0::/48"
}`, `description = "Web, Europe"`},
	{"class", `resource "carve_class" "it" {
  project               = carve_project.team.name
  name                  = "std"
  ip_family             = "IPv6"
  visibility            = "consumer"
  is_default            = true
  strategy              = "Sparse"
  min_prefix_length     = 48
  max_prefix_length     = 64
  default_prefix_length = 56
  reclaim_policy        = "Retain"
  reuse_after           = "72h"
  reuse_after_lost      = "10m"
  unique_within         = "Class"
  pool_selection        = "LeastUtilized"
  parameters            = { "example.com/tier" = "gold" }
  description           = "Sites"
}
resource "carve_class" "scoped" {
  project            = carve_project.team.name
  name               = "scoped"
  ip_family          = "IPv4"
  pool_per           = ["project", "cluster"]
  pool_prefix_length = 20
}`, `strategy = "FirstFit"`},
	{"claim", `resource "carve_pool" "prod" {
  project = carve_project.team.name
  name    = "prod"
  cidr    = "10.20.0.0/16"
  classes = [carve_class.std.name]
}
resource "carve_class" "std" {
  project    = carve_project.team.name
  name       = "std"
  ip_family  = "IPv4"
  is_default = true
}
resource "carve_claim" "it" {
  project        = carve_project.team.name
  name           = "web"
  class          = carve_class.std.name
  prefix_length  = 28
  reclaim_policy = "Delete"
  max_consumers  = 2
  when_unused    = "Keep"
  owner_ref      = { kind = "Cluster", name = "web" }
  labels         = { env = "prod" }
  depends_on     = [carve_pool.prod]
}
resource "carve_claim" "default" {
  project       = carve_project.team.name
  name          = "default"
  prefix_length = 30
  depends_on    = [carve_pool.prod]
}
resource "carve_claim" "host" {
  project = carve_project.team.name
  name    = "host"
  pool    = carve_pool.prod.id
  address = cidrhost(carve_pool.prod.cidr, 5000)
}
resource "carve_claim" "exact" {
  project = carve_project.team.name
  name    = "exact"
  pool    = carve_pool.prod.name
  cidr    = "10.20.128.0/20"
}`, `labels = { env = "test" }`},
	{"grant", `resource "carve_pool" "shared" {
  project    = carve_project.team.name
  name       = "shared"
  cidr       = "10.30.0.0/16"
  visibility = "shared"
}
resource "carve_grant" "it" {
  project  = carve_project.team.name
  pool     = carve_pool.shared.name
  consumer = "*"
}
resource "carve_space" "vrf" {
  project = carve_project.team.name
  name    = "vrf"
}
resource "carve_grant" "space" {
  project  = carve_project.team.name
  space    = carve_space.vrf.name
  consumer = "another"
}`, ""},
	{"quota", `resource "carve_pool" "shared" {
  project = carve_project.team.name
  name    = "shared"
  cidr    = "10.30.0.0/16"
}
resource "carve_quota" "it" {
  project     = carve_project.team.name
  name        = "all"
  limits      = { addresses = 65536, claims = 100, pools = 0 }
  scope       = { pool = carve_pool.shared.id, ip_family = "IPv4" }
  description = "Enough"
}`, `limits = { claims = 50 }`},
	{"member", `resource "carve_member" "it" {
  project = carve_project.team.name
  subject = "corp:alice@example.com"
  role    = "viewer"
}`, `role = "admin"`},
	{"API key", `resource "carve_api_key" "it" {
  project     = carve_project.team.name
  name        = "pipeline"
  role        = "provider"
  description = "For the pipeline"
  expires_at  = "2100-01-01T01:00:00+01:00"
  labels      = { env = "prod" }
}`, ""},
	{"consumer", `resource "carve_consumer" "it" {
  project     = carve_project.team.name
  uid         = "vm-1"
  kind        = "VM"
  name        = "web-1"
  ttl_seconds = 3600
}`, `ttl_seconds = 7200`},
	{"consumer attachment", `resource "carve_pool" "prod" {
  project = carve_project.team.name
  name    = "prod"
  cidr    = "10.20.0.0/16"
}
resource "carve_claim" "web" {
  project       = carve_project.team.name
  name          = "web"
  pool          = carve_pool.prod.name
  prefix_length = 28
  max_consumers = 2
}
resource "carve_consumer" "vm" {
  project = carve_project.team.name
  realm   = "machines"
  uid     = "vm:1"
}
resource "carve_consumer_attachment" "it" {
  project = carve_project.team.name
  claim   = carve_claim.web.name
  realm   = carve_consumer.vm.realm
  uid     = carve_consumer.vm.uid
}
resource "carve_consumer_attachment" "other" {
  project = carve_project.team.name
  claim   = carve_claim.web.name
  uid     = "vm:1"
}`, ""},
	{"alert rule", `resource "carve_alert_rule" "it" {
  project        = carve_project.team.name
  name           = "nearly-full"
  about          = "Pools"
  percent        = 80
  resource_name  = "prod"
  class_name     = "std"
  label_selector = "env=prod,tier in (web,api)"
  labels         = { env = "prod" }
  annotations    = { a = "b" }
}
resource "carve_alert_rule" "runway" {
  project = carve_project.team.name
  name    = "runway"
  about   = "Pools"
  runway  = "10080m"
}
resource "carve_alert_rule" "quotas" {
  project       = carve_project.team.name
  name          = "quotas"
  about         = "Quotas"
  percent       = 100
  resource_name = "all"
}`, `percent = 90`},
	{"webhook", `resource "carve_webhook" "it" {
  project        = carve_project.team.name
  name           = "inventory"
  url            = "https://inventory.example.com/carve"
  resource_kinds = ["IPPool", "IPClaim"]
  label_selector = "env=prod"
  resource_name  = "web"
  paused         = true
  labels         = { env = "prod" }
  annotations    = { a = "b" }
}
resource "carve_webhook" "all" {
  project = carve_project.team.name
  name    = "all"
  url     = "https://inventory.example.com/all"
}`, `resource_kinds = ["IPAllocation", "IPClaim"]`},
}

// team returns the test project's name and configuration.
func team(t testing.TB) (name, config string) {
	t.Helper()
	name = strings.Trim(strings.ToLower(strings.NewReplacer("/", "-", "_", "-").Replace(t.Name())), "-")
	name = "t" + name[max(0, len(name)-50):]
	return name, "resource \"carve_project\" \"team\" {\n  name = \"" + name + "\"\n}\n"
}

// modules writes each configuration as a module of its own, so that one run of Terraform applies all of them.
func modules(t testing.TB, f *folder, edit func(config, changed string) string) {
	t.Helper()
	name, _ := team(t)
	for i, c := range each {
		project := fmt.Sprintf("%s-%d", name, i)
		config := fmt.Sprintf("resource \"carve_project\" \"team\" {\n  name = %q\n}\n", project) + strings.ReplaceAll(c.config, "TEAM", project)
		f.module(strings.ReplaceAll(c.name, " ", "_"), head+edit(config, c.changed))
	}
}

func TestEveryResourceIsMadeImportedChangedAndDestroyed(t *testing.T) {
	t.Parallel()
	f := newFolder(t, world.main, "", "")
	modules(t, f, func(config, _ string) string { return config })
	f.run("get")
	f.apply()
	f.empty()

	blocks := f.imports()
	f.remove("terraform.tfstate", "terraform.tfstate.backup")
	f.write("imports.tf", blocks)
	require.Contains(t, f.apply(), " 0 added, 0 changed, 0 destroyed")
	f.remove("imports.tf")
	f.empty()

	changed := 0
	modules(t, f, func(config, line string) string {
		if line == "" {
			return config
		}
		changed++
		attribute, _, _ := strings.Cut(line, " ")
		return replaced(t, config, attribute, line)
	})
	require.Contains(t, f.apply(), fmt.Sprintf(" 0 added, %d changed, 0 destroyed", changed))
	f.empty()

	modules(t, f, func(config, line string) string {
		if line == "" {
			return config
		}
		return bare(config)
	})
	said := f.apply()
	require.Contains(t, said, " 0 added, ")
	require.Contains(t, said, " 0 destroyed")
	f.empty()

	things := f.state()
	f.destroy()
	require.Empty(t, f.state())
	gone := 0
	for _, thing := range things {
		if _, name, _ := strings.Cut(thing.address, ".carve_project."); name != "" {
			_, err := world.main.GetProject(t.Context(), thing.id)
			require.True(t, client.IsNotFound(err), "%v", err)
			gone++
		}
	}
	require.Equal(t, len(each)+2, gone, "all projects, and with them what was in them")
}

// replaced replaces the first line of the resource "it" that sets the attribute.
func replaced(t testing.TB, config, attribute, line string) string {
	t.Helper()
	begin := strings.Index(config, `" "it" {`)
	lines := strings.Split(config[begin:], "\n")
	for i, l := range lines {
		if strings.HasPrefix(strings.TrimSpace(l), attribute+" ") {
			lines[i] = "  " + line
			return config[:begin] + strings.Join(lines, "\n")
		}
	}
	require.Fail(t, "no "+attribute)
	return ""
}

// bare removes the optional attributes from the resource "it".
func bare(config string) string {
	begin := strings.Index(config, `" "it" {`)
	var kept []string
	for l := range strings.SplitSeq(config[begin:], "\n") {
		word, _, _ := strings.Cut(strings.TrimSpace(l), " ")
		switch word {
		case "display_name", "description", "labels", "annotations", "strategy", "min_prefix_length", "max_prefix_length", "default_prefix_length",
			"classes", "is_default", "reclaim_policy", "reuse_after_lost", "pool_selection", "parameters", "ttl_seconds", "kind",
			"resource_name", "class_name", "label_selector", "resource_kinds", "paused":
		default:
			kept = append(kept, l)
		}
	}
	return config[:begin] + strings.Join(kept, "\n")
}
