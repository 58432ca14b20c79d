package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// ignoring has a resource of each kind that can be changed. For each resource it has an attribute that the resource ignores, an attribute that it
// changes, and a change by another client.
var ignoring = []struct{ kind, path, config, ignored, first, second, patch string }{
	{"project", "/v1/projects/TEAM-ignore", `name = "TEAM-ignore"`, "labels", `description = "a"`, `description = "b"`, `{"metadata":{"labels":{"theirs":"x"}}}`},
	{"space", "/v1/projects/TEAM/spaces/s", `name = "s"`, "annotations", `description = "a"`, `description = "b"`, `{"metadata":{"annotations":{"theirs":"x"}}}`},
	{"class", "/v1/projects/TEAM/classes/c", "name = \"c\"\n  ip_family = \"IPv4\"\n  default_prefix_length = 28", "default_prefix_length",
		`description = "a"`, `description = "b"`, `{"spec":{"defaultPrefixLength":29}}`},
	{"pool", "/v1/projects/TEAM/pools/p", "name = \"p\"\n  cidr = \"10.0.0.0/8\"\n  labels = { cost = \"1\" }\n  classes = [carve_class.theirs.name]", `labels["cost"], classes`,
		`description = "a"`, `description = "b"`, `{"metadata":{"labels":{"cost":"2"}},"spec":{"classNames":[]}}`},
	{"claim", "/v1/projects/TEAM/claims/w", "name = \"w\"\n  pool = carve_pool.prod.id\n  prefix_length = 28\n  reclaim_policy = \"Delete\"", "labels, reclaim_policy",
		`annotations = { a = "a" }`, `annotations = { a = "b" }`, `{"metadata":{"labels":{"theirs":"x"}},"spec":{"reclaimPolicy":"Retain"}}`},
	{"quota", "/v1/projects/TEAM/quotas/q", "name = \"q\"\n  limits = { claims = 500 }", "limits", `description = "a"`, `description = "b"`,
		`{"spec":{"limits":{"claims":5000},"description":"a"}}`},
	{"consumer", "/v1/projects/TEAM/realms/default/consumers/vm", "uid = \"vm\"\n  ttl_seconds = 600", "ttl_seconds", `name = "a"`, `name = "b"`,
		`{"spec":{"ttlSeconds":1200,"name":"a"}}`},
}

// TestIgnoredChangeSurvivesAnotherChange first lets another client change an attribute that the resource ignores. It then changes another attribute
// of the resource. The change by the other client must remain.
func TestIgnoredChangeSurvivesAnotherChange(t *testing.T) {
	t.Parallel()
	name, project := team(t)
	config := func(second bool) string {
		text := head + project + `resource "carve_class" "theirs" {
  project   = carve_project.team.name
  name      = "theirs"
  ip_family = "IPv4"
}
resource "carve_pool" "prod" {
  project = carve_project.team.name
  name    = "prod"
  cidr    = "192.168.0.0/16"
}
`
		for _, c := range ignoring {
			line, in := c.first, "  project = carve_project.team.name\n"
			if second {
				line = c.second
			}
			if c.kind == "project" {
				in = ""
			}
			text += fmt.Sprintf("resource \"carve_%s\" \"it\" {\n%s  %s\n  %s\n  lifecycle {\n    ignore_changes = [%s]\n  }\n}\n",
				c.kind, in, strings.ReplaceAll(c.config, "TEAM", name), line, c.ignored)
		}
		return text
	}
	f := newFolder(t, world.main, "", "")
	f.write("main.tf", config(false))
	f.apply()
	theirs := map[string]map[string]any{}
	for _, c := range ignoring {
		path, method := strings.ReplaceAll(c.path, "TEAM", name), "PATCH"
		if c.kind == "quota" || c.kind == "consumer" {
			method = "PUT"
		}
		theirs[c.kind] = f.server.send(t, method, path, c.patch)
	}
	f.empty()
	f.write("main.tf", config(true))
	require.Contains(t, f.apply(), fmt.Sprintf("0 added, %d changed, 0 destroyed", len(ignoring)))
	f.empty()
	for _, c := range ignoring {
		is := f.server.send(t, "GET", strings.ReplaceAll(c.path, "TEAM", name), "")
		require.Equal(t, metadata(theirs[c.kind], "labels"), metadata(is, "labels"), c.kind)
		for _, attribute := range []string{"defaultPrefixLength", "classNames", "reclaimPolicy", "limits", "ttlSeconds"} {
			require.Equal(t, theirs[c.kind]["spec"].(map[string]any)[attribute], is["spec"].(map[string]any)[attribute], c.kind)
		}
		if c.kind == "space" {
			annotations, _ := metadata(is, "annotations").(map[string]any)
			require.Equal(t, "x", annotations["theirs"])
		}
	}
	f.server.send(t, "PATCH", "/v1/projects/"+name+"/claims/w", `{"spec":{"reclaimPolicy":"Delete"}}`)
	f.destroy()
}

// TestNestedValueInAnotherSpellingIsNoChange writes values inside objects in a different spelling from the server's.
func TestNestedValueInAnotherSpellingIsNoChange(t *testing.T) {
	t.Parallel()
	_, project := team(t)
	config := func(reservations, six, limits, scope, owner string) string {
		return head + project + fmt.Sprintf(`resource "carve_pool" "four" {
  project      = carve_project.team.name
  name         = "four"
  cidr         = "10.0.0.0/8"
  reservations = %s
}
resource "carve_pool" "six" {
  project      = carve_project.team.name
  name         = "six"
  cidr         = "2001:db8::/48"
  reservations = %s
}
resource "carve_quota" "all" {
  project = carve_project.team.name
  name    = "all"
  limits  = %s
  scope   = %s
}
resource "carve_claim" "web" {
  project       = carve_project.team.name
  name          = "web"
  pool          = carve_pool.four.id
  prefix_length = 28
  owner_ref     = %s
}
`, reservations, six, limits, scope, owner)
	}
	server := config("[{ first = 1 }]", `[{ from = "2001:db8::10", to = "2001:db8::20" }, { cidr = "2001:db8:0:1::/64" }]`, `{ addresses = "100" }`, "null", "null")
	other := config(`[{ first = 1, reason = "" }]`, `[{ from = "2001:db8:0:0::10", to = "2001:DB8::20", reason = "" }, { cidr = "2001:DB8:0:1::/64" }]`,
		`{ addresses = "00100" }`, "{}", `{ kind = "" }`)
	f := newFolder(t, world.main, "", "")
	f.write("main.tf", other)
	f.apply()
	f.empty()
	f.agrees()
	uids := map[string]any{}
	for _, r := range f.state() {
		uids[r.address] = r.values["uid"]
	}
	for _, text := range []string{server, other} {
		f.write("main.tf", text)
		require.Contains(t, f.apply(), "0 added, ")
		f.empty()
		for _, r := range f.state() {
			require.Equal(t, uids[r.address], r.values["uid"], r.address)
		}
	}
	f.destroy()
}

// TestGeneratedConfigurationCanBePlanned lets Terraform generate a configuration for every kind of resource.
func TestGeneratedConfigurationCanBePlanned(t *testing.T) {
	t.Parallel()
	f := newFolder(t, world.main, "", "")
	modules(t, f, func(config, _ string) string { return config })
	f.run("get")
	f.apply()
	generated, blocks := newFolder(t, world.main, "", ""), ""
	for i, r := range f.state() {
		blocks += fmt.Sprintf("import {\n  to = carve_%s.it%d\n  id = %q\n}\n", r.kind(), i, r.id)
	}
	generated.write("imports.tf", blocks)
	said := generated.run("plan", "-input=false", "-generate-config-out=generated.tf")
	require.Contains(t, said, fmt.Sprintf("%d to import, 0 to add, 0 to change, 0 to destroy", len(f.state())))
	require.Contains(t, generated.apply(), fmt.Sprintf("%d imported, 0 added, 0 changed, 0 destroyed", len(f.state())))
	generated.remove("imports.tf")
	generated.empty()
	generated.agrees()
	f.destroy()
}

// TestDefaultMovesFromOneClassToAnotherInOneApply moves the default from one class to the other and back. The provider refuses two default classes.
func TestDefaultMovesFromOneClassToAnotherInOneApply(t *testing.T) {
	t.Parallel()
	name, project := team(t)
	config := func(a, b string) string {
		text := head + project
		for local, is := range map[string]string{"a": a, "b": b} {
			text += fmt.Sprintf("resource \"carve_class\" %q {\n  project = carve_project.team.name\n  name = %q\n  ip_family = \"IPv4\"\n  is_default = %s\n}\n", local, local, is)
		}
		return text
	}
	f := newFolder(t, world.main, "", "")
	f.write("main.tf", config("true", "false"))
	f.apply()
	for _, c := range []struct{ a, b string }{{"false", "true"}, {"true", "false"}, {"false", "true"}, {"true", "false"}} {
		f.write("main.tf", config(c.a, c.b))
		said := f.apply()
		require.Contains(t, said, "0 added, 2 changed, 0 destroyed")
		require.NotContains(t, said, "no longer the default")
		f.empty()
		for class, want := range map[string]string{"a": c.a, "b": c.b} {
			is := f.server.send(t, "GET", "/v1/projects/"+name+"/classes/"+class, "")
			spec, _ := is["spec"].(map[string]any)
			require.Equal(t, want == "true", spec["isDefault"] == true, class)
		}
	}
	f.write("main.tf", config("true", "true"))
	require.Contains(t, f.fails(), "Two default classes")
	f.write("main.tf", config("true", "false"))
	f.destroy()
}

// TestDefaultTakenFromAForeignClassIsReported takes the default from a class that Terraform does not manage, with a create and with a change.
func TestDefaultTakenFromAForeignClassIsReported(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	config := func(is bool) string {
		return head + fmt.Sprintf("resource \"carve_class\" \"mine\" {\n  project = %q\n  name = \"mine\"\n  ip_family = \"IPv4\"\n  is_default = %t\n}\n", project, is)
	}
	path := "/v1/projects/" + project + "/classes"
	status, _ := world.main.ask(t, "POST", path, `{"metadata": {"name": "theirs"}, "spec": {"ipFamily": "IPv4", "isDefault": true}}`)
	require.Equal(t, 201, status)
	warning := "Warning: The class " + project + "/theirs is no longer the default"
	f := newFolder(t, world.main, "", "")
	f.write("main.tf", config(true))
	require.Contains(t, flat(f.apply()), warning)
	f.write("main.tf", config(false))
	require.NotContains(t, flat(f.apply()), warning)
	world.main.send(t, "PATCH", path+"/theirs", `{"spec": {"isDefault": true}}`)
	f.write("main.tf", config(true))
	require.Contains(t, flat(f.apply()), warning)
	f.empty()
	f.destroy()
}

func TestPlainHTTPRefusalNamesTheProvidersAttribute(t *testing.T) {
	t.Parallel()
	f := newFolder(t, world.main, "", "data \"carve_project\" \"it\" {\n  name = \"a\"\n}\n")
	f.env = append(f.env, "CARVE_SERVER=http://carve.example.com")
	said, code := f.try("plan")
	require.Equal(t, 1, code)
	require.Contains(t, flat(said), "set insecure_http = true in the provider")
	require.NotContains(t, said, "WithInsecureHTTP")
}
