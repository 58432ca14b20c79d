package acceptance_test

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// TestRenamedResourceWithoutMovedIsRefusedByThePlan renames a resource of every kind. Without a moved block, Terraform would destroy and create the
// same object at the same time.
func TestRenamedResourceWithoutMovedIsRefusedByThePlan(t *testing.T) {
	for _, owner := range []string{"", "rename"} {
		t.Run("owner "+owner, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, world.main, owner, "")
			modules(t, f, func(config, _ string) string { return config })
			f.run("get")
			f.apply()
			modules(t, f, func(config, _ string) string { return strings.Replace(config, `" "it" {`, `" "renamed" {`, 1) })
			said, code := f.try("apply", "-auto-approve", "-input=false")
			require.Equal(t, 1, code, said)
			require.Equal(t, len(each), strings.Count(flat(said), "Error: Another resource of this configuration has the"), said)
			require.Contains(t, flat(said), "moved {")
			f.agrees()

			modules(t, f, func(config, _ string) string {
				begin := strings.Index(config, `" "it" {`)
				kind := config[strings.LastIndex(config[:begin], `"`)+1 : begin]
				return strings.Replace(config, `" "it" {`, `" "renamed" {`, 1) + "\nmoved {\n  from = " + kind + ".it\n  to   = " + kind + ".renamed\n}\n"
			})
			require.Contains(t, f.apply(), " 0 added, 0 changed, 0 destroyed")
			f.empty()
			f.agrees()
			f.destroy()
		})
	}
}

func TestCountThatBecomesForEachIsRefusedByThePlan(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	f := newFolder(t, world.main, "count", `resource "carve_claim" "web" {
  count         = 3
  project       = "`+project+`"
  name          = "web-${count.index}"
  pool          = "prod"
  prefix_length = 28
}
`)
	f.apply()
	f.agrees()
	f.write("main.tf", head+strings.Replace(many(project, 3, "web-"), `"many"`, `"web"`, 1))
	said := f.fails()
	require.Equal(t, 3, strings.Count(said, "Error: Another resource of this configuration has the claim"), said)
	f.agrees()
	require.Len(t, f.state(), 3)
	f.write("moved.tf", `moved {
  from = carve_claim.web[0]
  to   = carve_claim.web["0"]
}
moved {
  from = carve_claim.web[1]
  to   = carve_claim.web["1"]
}
moved {
  from = carve_claim.web[2]
  to   = carve_claim.web["2"]
}
`)
	require.Contains(t, f.apply(), "0 added, 0 changed, 0 destroyed")
	f.agrees()
	f.destroy()
}

// TestReplacedClaimIsHeldByItsState replaces a claim in both orders of creation and destruction. After a successful apply, the server has the claim
// that is in the state, and no other claim has its block.
func TestReplacedClaimIsHeldByItsState(t *testing.T) {
	lifecycle := "  lifecycle {\n    create_before_destroy = true\n  }\n}\n"
	for name, c := range map[string]struct {
		before, after, length string
		flags                 []string
	}{
		"changed length":                   {"}\n", "}\n", "27", nil},
		"changed length create before":     {lifecycle, lifecycle, "27", nil},
		"replace flag":                     {"}\n", "}\n", "28", []string{"-replace=carve_claim.web"}},
		"replace flag create before":       {lifecycle, lifecycle, "28", []string{"-replace=carve_claim.web"}},
		"replace flag create before added": {"}\n", lifecycle, "28", []string{"-replace=carve_claim.web"}},
	} {
		for _, owner := range []string{"", "replaced"} {
			t.Run(name+" owner "+owner, func(t *testing.T) {
				t.Parallel()
				project := prepared(t, world.main)
				config := func(length, rest string) string {
					return head + "resource \"carve_claim\" \"web\" {\n  project = \"" + project + "\"\n  name = \"web\"\n  pool = \"prod\"\n  prefix_length = " + length + "\n" + rest
				}
				f := newFolder(t, world.main, owner, "")
				f.write("main.tf", config("28", c.before))
				f.apply()
				f.write("main.tf", config(c.length, c.after))
				said, code := f.try(append([]string{"apply", "-auto-approve", "-input=false"}, c.flags...)...)
				f.agrees()
				if c.after != lifecycle {
					require.Zero(t, code, said)
				}
				if code != 0 {
					require.Contains(t, flat(said), "create_before_destroy")
				} else {
					f.empty()
				}
				require.Len(t, claims(t, world.main, project), 1)
				f.write("main.tf", config("28", c.before))
				f.destroy()
				require.Empty(t, claims(t, world.main, project))
			})
		}
	}
}

// TestTwoResourcesOfOneNameAreRefused has two modules whose lists contain the same name.
func TestTwoResourcesOfOneNameAreRefused(t *testing.T) {
	for _, owner := range []string{"", "twice"} {
		t.Run("owner "+owner, func(t *testing.T) {
			t.Parallel()
			project := prepared(t, world.main)
			f := newFolder(t, world.main, owner, "")
			list := func(module string, names string) {
				f.module(module, head+`resource "carve_claim" "vm" {
  for_each      = toset(`+names+`)
  project       = "`+project+`"
  name          = each.key
  pool          = "prod"
  prefix_length = 32
}
resource "carve_member" "vm" {
  for_each = toset(`+names+`)
  project  = "`+project+`"
  subject  = "corp:${each.key}"
  role     = "viewer"
}
`)
			}
			list("east", `["vm-1", "vm-2"]`)
			list("west", `["vm-2", "vm-3"]`)
			f.run("get")
			require.Contains(t, f.fails(), "Another resource of this configuration has the claim")
			f.agrees()

			list("west", `["vm-3"]`)
			f.apply()
			f.agrees()
			list("west", `["vm-2", "vm-3"]`)
			require.Contains(t, f.fails(), "Another resource of this configuration has the claim")
			f.agrees()

			f.remove("west", "module_west.tf")
			f.apply()
			f.empty()
			f.agrees()
			require.Len(t, claims(t, world.main, project), 2)
			f.destroy()
		})
	}
}

// TestClaimThatAnotherResourceTookOverIsLeftAlone hides the resource that manages the claim from Terraform with -target. The claim goes to another
// resource once. After that, only that resource can release the claim.
func TestClaimThatAnotherResourceTookOverIsLeftAlone(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	one := func(local string) string { return strings.Replace(many(project, 1, "c"), `"many"`, `"`+local+`"`, 1) }
	f := newFolder(t, world.main, "target", one("first"))
	f.apply()
	f.write("main.tf", head+one("first")+one("second"))
	f.apply("-target=carve_claim.second")
	require.Contains(t, f.fails(), "Another resource of this configuration has the claim")

	said := f.run("destroy", "-auto-approve", "-refresh=false", "-target=carve_claim.first")
	require.Contains(t, flat(said), "Another resource has the claim")
	f.agrees()
	require.Len(t, f.state(), 1)
	f.write("main.tf", head+one("second"))
	f.empty()
	require.Len(t, claims(t, world.main, project), 1)
	f.destroy()
	require.Empty(t, claims(t, world.main, project))
}

// TestApplyAfterALostStateAdoptsTheObjects loses the state of every kind of resource. API keys and webhooks are exceptions, because the server
// returns their secrets only once.
func TestApplyAfterALostStateAdoptsTheObjects(t *testing.T) {
	t.Parallel()
	f := newFolder(t, world.main, "lost", "")
	modules(t, f, func(config, _ string) string {
		if strings.Contains(config, "carve_api_key") || strings.Contains(config, "carve_webhook") {
			return ""
		}
		return config
	})
	f.run("get")
	f.apply()
	f.agrees()
	before := map[string]any{}
	for _, r := range f.state() {
		before[r.address] = r.values["uid"]
	}
	f.remove("terraform.tfstate", "terraform.tfstate.backup")
	said := flat(f.apply())
	f.empty()
	f.agrees()
	for _, r := range f.state() {
		require.Equal(t, before[r.address], r.values["uid"], r.address)
		unmarked := slices.Contains([]string{"grant", "quota", "member", "consumer", "consumer_attachment"}, r.kind())
		warned := strings.Contains(said, "Warning: Took over the existing "+strings.ReplaceAll(r.kind(), "_", " ")+" "+r.id)
		require.Equal(t, unmarked, warned, "%s: %s", r.address, said)
	}
	require.Len(t, f.state(), len(before))
	f.destroy()
}

// TestUnmarkedObjectIsTakenOverOnlyWithEqualValues lets two states with one credential create the same object. Its kind has no annotations, so the
// provider cannot know which state has it.
func TestUnmarkedObjectIsTakenOverOnlyWithEqualValues(t *testing.T) {
	for name, c := range map[string]struct{ keys, theirs, other, more string }{
		"member":   {`subject = "corp:alice"`, `role = "viewer"`, `role = "admin"`, ""},
		"quota":    {`name = "all"`, `limits = { claims = 5, addresses = "64" }`, `limits = { claims = 6, addresses = "64" }`, `description = "mine"`},
		"consumer": {`uid = "vm-1"`, `kind = "VM"`, `kind = "Pod"`, `ttl_seconds = 3600`},
		"grant":    {`pool = "prod"`, `consumer = "*"`, "", ""},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			project := prepared(t, world.main)
			config := func(rest ...string) string {
				return fmt.Sprintf("%sresource \"carve_%s\" \"it\" {\n  project = %q\n  %s\n  %s\n}\n", head, name, project, c.keys, strings.Join(rest, "\n  "))
			}
			one, two := newFolder(t, world.main, "one", ""), newFolder(t, world.main, "two", "")
			one.write("main.tf", config(c.theirs))
			one.apply()
			for _, rest := range [][]string{{c.other}, {c.theirs, c.more}} {
				if rest[len(rest)-1] == "" {
					continue
				}
				two.write("main.tf", config(rest...))
				said := two.fails()
				require.Contains(t, said, "Error: The resource already exists")
				require.Contains(t, said, "import {")
				require.Empty(t, two.state())
				one.empty()
			}
			two.write("main.tf", config(c.theirs))
			said := flat(two.apply())
			require.Contains(t, said, "Warning: Took over the existing "+name+" "+project+"/")
			one.empty()
			one.destroy()
			two.destroy()
		})
	}
}

// TestWebhookWhoseStateWasLostIsRefusedWithARemedy loses the state that has the secret of a webhook. The error must contain a remedy. An import
// cannot return the secret.
func TestWebhookWhoseStateWasLostIsRefusedWithARemedy(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	f := newFolder(t, world.main, "secret", `resource "carve_webhook" "it" {
  project = "`+project+`"
  name    = "inventory"
  url     = "https://inventory.example.com/carve"
  paused  = true
}
`)
	f.apply()
	require.NotEmpty(t, f.value("carve_webhook.it", "secret"))
	f.remove("terraform.tfstate", "terraform.tfstate.backup")
	require.Contains(t, f.fails(), "Delete it (ipamctl webhook delete inventory) and apply again, or import it")

	f.write("imports.tf", "import {\n  to = carve_webhook.it\n  id = \""+project+"/inventory\"\n}\n")
	require.Contains(t, f.apply(), "1 imported, 0 added, 0 changed, 0 destroyed")
	f.remove("imports.tf")
	f.empty()
	require.Nil(t, f.value("carve_webhook.it", "secret"))
	f.apply("-replace=carve_webhook.it")
	require.NotEmpty(t, f.value("carve_webhook.it", "secret"))
	f.empty()
	f.agrees()
	f.destroy()
}

// TestClaimOfTwoResourcesIsDroppedByTheFirstHolder gives one claim to two resources and lets Terraform read both. The resource that took the claim
// over last keeps it.
func TestClaimOfTwoResourcesIsDroppedByTheFirstHolder(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	one := func(local string) string { return strings.Replace(many(project, 1, "c"), `"many"`, `"`+local+`"`, 1) }
	f := newFolder(t, world.main, "read", one("first"))
	f.apply()
	f.write("main.tf", head+one("first")+one("second"))
	f.apply("-target=carve_claim.second")
	f.write("main.tf", head+one("second"))
	require.Contains(t, f.apply(), "Another resource has the claim")
	f.agrees()
	require.Len(t, f.state(), 1)
	f.empty()
	f.destroy()
}
