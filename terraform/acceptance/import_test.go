package acceptance_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// it returns the blocks of the resource "it" in a configuration, and its kind with the prefix "carve_".
func it(t testing.TB, config string) (text, kind string) {
	t.Helper()
	begin := strings.LastIndex(config[:strings.Index(config, `" "it" {`)], "resource ")
	text, _, found := strings.Cut(config[begin:], "\n}")
	require.True(t, found, config)
	return text + "\n}\n", strings.Split(text, `"`)[1]
}

// importing returns import blocks that import the object of each resource "it" into the resource with another local name.
func importing(f *folder, local string) (blocks string, addresses []string) {
	for _, r := range f.state() {
		if of, is := strings.CutSuffix(r.address, ".it"); is {
			addresses = append(addresses, of+"."+local)
			blocks += fmt.Sprintf("import {\n  to = %s.%s\n  id = %q\n}\n", of, local, r.id)
		}
	}
	return blocks, addresses
}

// TestImportOfAnotherResourcesObjectIsRefused imports an object of every kind that another resource of the configuration has. The plan must fail
// while both resources want the object, and nothing may release it.
func TestImportOfAnotherResourcesObjectIsRefused(t *testing.T) {
	for _, owner := range []string{"", "import"} {
		t.Run("owner "+owner, func(t *testing.T) {
			t.Parallel()
			f := newFolder(t, world.main, owner, "")
			same := func(config, _ string) string { return config }
			twins := func(config, _ string) string {
				text, _ := it(t, config)
				return config + "\n" + strings.Replace(text, `"it"`, `"twin"`, 1)
			}
			refused := func(what string) {
				t.Helper()
				said, code := f.try("apply", "-auto-approve", "-input=false")
				require.Equal(t, 1, code, "%s: %s", what, said)
				require.Equal(t, len(each), strings.Count(flat(said), "Error: Another resource of this configuration has the"), "%s: %s", what, said)
				require.Contains(t, flat(said), "moved {")
				require.Contains(t, flat(said), "terraform state rm")
			}
			modules(t, f, same)
			f.run("get")
			f.apply()
			blocks, _ := importing(f, "renamed")
			modules(t, f, func(config, _ string) string { return strings.Replace(config, `" "it" {`, `" "renamed" {`, 1) })
			f.write("imports.tf", blocks)
			refused("rename with an import")
			f.agrees()

			blocks, addresses := importing(f, "twin")
			modules(t, f, twins)
			f.write("imports.tf", blocks)
			refused("a second resource with an import")
			f.agrees()

			// With -target, the provider does not see the first resource.
			targets := []string{}
			for _, a := range addresses {
				targets = append(targets, "-target="+a)
			}
			require.Contains(t, f.apply(targets...), fmt.Sprintf("%d imported, 0 added, 0 changed, 0 destroyed", len(each)))
			f.remove("imports.tf")
			refused("two resources in the state")
			modules(t, f, same)
			refused("removal of the second resource")

			f.run(append([]string{"state", "rm"}, addresses...)...)
			f.empty()
			f.agrees()
			f.destroy()
		})
	}
}

// TestImportMovesAnObjectThatTheStateForgets renames a resource with a removed block and an import block.
func TestImportMovesAnObjectThatTheStateForgets(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	one := func(local string) string {
		return head + fmt.Sprintf("resource \"carve_claim\" %q {\n  project = %q\n  name = \"web\"\n  pool = \"prod\"\n  prefix_length = 28\n}\n", local, project)
	}
	f := newFolder(t, world.main, "forgets", "")
	f.write("main.tf", one("web"))
	f.apply()
	f.write("main.tf", one("site"))
	f.write("imports.tf", "import {\n  to = carve_claim.site\n  id = \""+project+"/web\"\n}\nremoved {\n  from = carve_claim.web\n  lifecycle {\n    destroy = false\n  }\n}\n")
	require.Contains(t, f.apply(), "1 imported, 0 added, 0 changed, 0 destroyed")
	f.remove("imports.tf")
	f.empty()
	f.agrees()
	f.destroy()
	require.Empty(t, claims(t, world.main, project))
}

// TestCommandImportOfAnotherResourcesObjectIsRefusedByTheNextPlan imports with `terraform import`, which reads no other resource.
func TestCommandImportOfAnotherResourcesObjectIsRefusedByTheNextPlan(t *testing.T) {
	t.Parallel()
	project := prepared(t, world.main)
	one := func(local string) string { return strings.Replace(many(project, 1, "c"), `"many"`, `"`+local+`"`, 1) }
	f := newFolder(t, world.main, "", one("first"))
	f.apply()
	f.write("main.tf", head+one("first")+one("second"))
	f.run("import", "-input=false", `carve_claim.second["0"]`, project+"/c0")
	require.Contains(t, f.fails(), "Another resource of this configuration has the claim")
	for _, stays := range []string{"first", "second"} {
		f.write("main.tf", head+one(stays))
		require.Contains(t, f.fails(), "Another resource of this configuration has the claim", stays)
		require.Contains(t, f.fails("-refresh=false"), "Another resource of this configuration has the claim", stays)
	}
	require.Len(t, claims(t, world.main, project), 1)
	f.run("state", "rm", "carve_claim.first")
	f.empty()
	f.agrees()
	f.destroy()
	require.Empty(t, claims(t, world.main, project))
}
