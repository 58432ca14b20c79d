package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// TestListOfSeveralPagesIsCompleteOrRefused lists more claims than fit on one page of the API. If the list is longer than max_items, the provider
// refuses it.
func TestListOfSeveralPagesIsCompleteOrRefused(t *testing.T) {
	t.Parallel()
	const batches, size = 3, 400
	project := prepared(t, world.main)
	for batch := range batches {
		var body client.ClaimBatchCreate
		for i := range size {
			body.Claims = append(body.Claims, client.IPClaimCreate{
				Metadata: client.CreateMetadata{Name: fmt.Sprintf("c%d-%d", batch, i), Labels: client.Labels{"batch": fmt.Sprint(batch)}},
				Spec:     client.IPClaimSpec{PoolRef: &client.Ref{Name: "prod"}, PrefixLength: 32},
			})
		}
		_, err := world.main.CreateClaimBatch(t.Context(), project, body)
		require.NoError(t, err)
	}
	config := func(most int) string {
		return head + fmt.Sprintf(`provider "carve" {
  project = %q
}
data "carve_claims" "all" {
  max_items = %d
}
data "carve_claims" "one" {
  label_selector = "batch=1"
}
output "numbers" {
  value = format("%%d claims, %%d blocks, %%d of one", length(data.carve_claims.all.claims), length(toset(data.carve_claims.all.claims[*].cidr)),
    length(data.carve_claims.one.claims))
}
`, project, most)
	}
	f := newFolder(t, world.main, "", "")
	f.write("main.tf", config(batches*size))
	require.Contains(t, f.apply(), fmt.Sprintf("%d claims, %d blocks, %d of one", batches*size, batches*size, size))
	f.empty()
	f.write("main.tf", config(batches*size-1))
	said := f.fails()
	require.Contains(t, said, "The list is too long")
	require.Contains(t, said, "More than 1199 claims match")
	require.Contains(t, said, "label_selector")
}

// TestListsReadEveryKindByTheirFilters creates one or two objects of each kind and lists them with every API filter.
func TestListsReadEveryKindByTheirFilters(t *testing.T) {
	t.Parallel()
	name, project := team(t)
	f := newFolder(t, world.main, "", strings.Replace(project, "\n}", "\n  labels = { list = \""+name+"\" }\n}", 1)+`resource "carve_class" "std" {
  project   = carve_project.team.name
  name      = "std"
  ip_family = "IPv4"
  labels    = { env = "prod" }
}
resource "carve_pool" "prod" {
  project    = carve_project.team.name
  name       = "prod"
  cidr       = "10.20.0.0/16"
  classes    = [carve_class.std.name]
  visibility = "shared"
  labels     = { env = "prod" }
}
resource "carve_pool" "child" {
  project       = carve_project.team.name
  name          = "child"
  parent        = carve_pool.prod.name
  prefix_length = 24
}
resource "carve_claim" "web" {
  project       = carve_project.team.name
  name          = "web"
  class         = carve_class.std.name
  prefix_length = 28
  owner_ref     = { kind = "Cluster", name = "web" }
  labels        = { env = "prod" }
  depends_on    = [carve_pool.child]
}
resource "carve_claim" "db" {
  project        = carve_project.team.name
  name           = "db"
  pool           = carve_pool.child.name
  prefix_length  = 28
  max_consumers  = 2
  reclaim_policy = "Delete"
}
resource "carve_grant" "all" {
  project  = carve_project.team.name
  pool     = carve_pool.prod.name
  consumer = "*"
}
resource "carve_grant" "space" {
  project  = carve_project.team.name
  space    = "default"
  consumer = "another"
}
resource "carve_quota" "all" {
  project = carve_project.team.name
  name    = "all"
  limits  = { claims = 30 }
}
resource "carve_member" "alice" {
  project = carve_project.team.name
  subject = "corp:alice"
  role    = "viewer"
}
resource "carve_api_key" "key" {
  project = carve_project.team.name
  name    = "key"
  role    = "viewer"
}
resource "carve_consumer" "vm" {
  project = carve_project.team.name
  realm   = "machines"
  uid     = "vm:1"
}
resource "carve_consumer_attachment" "vm" {
  project = carve_project.team.name
  claim   = carve_claim.db.name
  realm   = carve_consumer.vm.realm
  uid     = carve_consumer.vm.uid
}
resource "carve_consumer_attachment" "other" {
  project = carve_project.team.name
  claim   = carve_claim.db.name
  uid     = "vm-9"
}
resource "carve_alert_rule" "full" {
  project = carve_project.team.name
  name    = "full"
  about   = "Pools"
  percent = 80
}
resource "carve_webhook" "all" {
  project = carve_project.team.name
  name    = "all"
  url     = "https://inventory.example.com/carve"
  paused  = true
}
`)
	f.apply()
	lists, want := "", ""
	for i, c := range []struct{ kind, config, value, want string }{
		{"projects", `label_selector = "list=` + name + `"`, "id", name},
		{"spaces", "", "id", name + "/default"},
		{"spaces", `label_selector = "env"`, "id", ""},
		{"pools", "", "name", "child,prod"},
		{"pools", "roots = true\nspace = \"default\"\nip_family = \"IPv4\"\nlabel_selector = \"env=prod\"\nvisibility = \"shared\"\nclass = \"std\"", "cidr", "10.20.0.0/16"},
		{"pools", "parent = \"" + name + "/prod\"\nphase = \"Ready\"\nwithin = \"10.20.0.0/16\"", "parent", name + "/prod"},
		{"pools", `contains = "10.20.0.7"`, "capacity.total", "256,65536"},
		{"classes", "ip_family = \"IPv4\"\nlabel_selector = \"env=prod\"", "id", name + "/std"},
		{"classes", `ip_family = "IPv6"`, "id", ""},
		{"claims", "owner = \"Cluster/web\"\nphase = \"Bound\"\nclass = \"std\"\nlabel_selector = \"env=prod\"\nip_family = \"IPv4\"", "prefix_length", "28"},
		{"claims", "pool = \"child\"\nwithin = \"10.20.0.0/24\"\ncontains = \"10.20.0.3\"", "name", "db"},
		{"claims", "consumer = \"vm:1\"\nrealm = \"machines\"", "name", "db"},
		{"claims", `consumer = "vm:1"`, "name", ""},
		{"grants", `pool = "prod"`, "id", name + "/pools/prod/*"},
		{"grants", `space = "default"`, "consumer", "another"},
		{"quotas", "", "limits.claims", "30"},
		{"members", "", "subject", "corp:alice"},
		{"api_keys", "", "role", "viewer"},
		{"consumers", "realm = \"machines\"\nphase = \"Live\"", "id", name + "/machines/vm:1"},
		{"consumers", "", "id", name + "/default/vm-9"},
		{"consumer_attachments", `claim = "db"`, "id", name + "/db/default/vm-9," + name + "/db/machines/vm:1"},
		{"alert_rules", "", "percent", "80"},
		{"webhooks", "", "state", "Paused"},
		{"allocations", "", "purpose", "ChildPool,Claim,Claim"},
		{"allocations", "purpose = \"Claim\"\nphase = \"Bound\"\nclass = \"std\"\nip_family = \"IPv4\"\npool = \"prod\"", "claim", name + "/web"},
		{"allocations", "holder = \"self\"\nwithin = \"10.20.0.0/24\"\ncontains = \"10.20.0.1\"", "claim", name + "/db"},
	} {
		in := "project = \"" + name + "\"\n"
		if c.kind == "projects" {
			in = ""
		}
		lists += fmt.Sprintf("data \"carve_%s\" \"l%d\" {\n%s%s\n}\noutput \"l%02d\" {\n  value = join(\",\", sort([for o in data.carve_%s.l%d.%s : o.%s]))\n}\n",
			c.kind, i, in, c.config, i, c.kind, i, c.kind, c.value)
		want += fmt.Sprintf("l%02d = %q\n", i, c.want)
	}
	f.write("lists.tf", lists)
	f.apply()
	require.Equal(t, want, f.run("output"))
	f.empty()
	f.remove("lists.tf")
	f.destroy()
}

func TestListWithAWrongFilterIsRefusedByThePlan(t *testing.T) {
	t.Parallel()
	wrong := []struct{ kind, config, says string }{
		{"grants", "", "One of pool, space must be set"},
		{"pools", `within = "10.0.0.1/8"`, "the block is 10.0.0.0/8"},
		{"claims", `phase = "Gone"`, "must be one of Pending, Bound, Releasing, Error"},
		{"allocations", `holder = "others"`, "must be one of self"},
		{"members", "max_items = 0", "must be 1 to 100000, not 0"},
		{"consumers", "max_items = 2.5", "must be a whole number, not 2.5"},
	}
	config := ""
	for i, c := range wrong {
		config += fmt.Sprintf("data \"carve_%s\" \"x%d\" {\nproject = \"a\"\n%s\n}\n", c.kind, i, c.config)
	}
	f := newFolder(t, world.main, "", config)
	said, code := f.try("plan")
	require.Equal(t, 1, code)
	for _, c := range wrong {
		require.Contains(t, flat(said), c.says)
	}
}
