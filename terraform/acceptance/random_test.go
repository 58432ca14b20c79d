package acceptance_test

import (
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// hook is the URL of a webhook, with a token that no export may contain.
const (
	token = "t0k3n"
	hook  = "https://inventory.example.com/carve/" + token + "?a=%20b"
)

// exports are the kinds of resources that ipamctl exports.
var exports = []string{"carve_space", "carve_class", "carve_pool", "carve_claim", "carve_alert_rule", "carve_webhook", "carve_consumer_attachment"}

// dice generates valid random configurations: each resource has its dependencies, and no blocks overlap.
type dice struct {
	*rand.Rand
	text    strings.Builder
	project string
}

func (d *dice) likely() bool { return d.IntN(3) > 0 }

func one[T any](d *dice, of ...T) T { return of[d.IntN(len(of))] }

// resource writes a resource with its required attributes and some optional ones.
func (d *dice) resource(kind, name string, must []string, may ...string) {
	fmt.Fprintf(&d.text, "resource %q %q {\n", "carve_"+kind, name)
	for _, line := range must {
		d.text.WriteString("  " + line + "\n")
	}
	for _, line := range may {
		if d.likely() {
			d.text.WriteString("  " + line + "\n")
		}
	}
	d.text.WriteString("}\n")
}

// words returns a plausible text that a wrong encoding would change.
func (d *dice) words() string {
	return one(d, `"plain"`, `"Zürich – 東京"`, `"\"quoted\" \\ $${not} %%{a template}"`, `" blanks "`, `"null"`, `"<b>&amp;</b>"`, `"12"`)
}

func (d *dice) labels() string {
	return "labels = " + one(d, `{}`, `{ env = "prod" }`, `{ "example.com/team" = "a_B.c", empty = "" }`)
}

func (d *dice) annotations() string {
	return "annotations = { a = " + d.words() + `, "example.com/b" = ` + d.words() + " }"
}

func (d *dice) description() string { return "description = " + d.words() }
func (d *dice) span() string        { return `"` + one(d, "90s", "90m", "1h30m", "72h", "0s") + `"` }

// configuration generates resources of each kind.
func (d *dice) configuration() string {
	d.resource("project", "team", []string{fmt.Sprintf("name = %q", d.project)}, "display_name = "+d.words(), d.description(), d.labels(), d.annotations(),
		"deletion_protection = false", `timeouts = { create = "2m" }`)
	in := "project = carve_project.team.name"
	spaces := []string{`"default"`}
	for i := range d.IntN(3) {
		name := fmt.Sprintf("s%d", i)
		d.resource("space", name, []string{in, fmt.Sprintf("name = %q", name)}, d.description(), d.labels(), d.annotations())
		spaces = append(spaces, "carve_space."+name+one(d, ".id", ".name"))
	}
	var classes []string
	for i := range 1 + d.IntN(3) {
		name := fmt.Sprintf("c%d", i)
		classes = append(classes, "carve_class."+name+".name")
		d.resource("class", name, []string{in, fmt.Sprintf("name = %q", name), `ip_family = "IPv4"`},
			"is_default = "+strconv.FormatBool(i == 0), `strategy = "`+one(d, "FirstFit", "BestFit", "Random", "Sparse")+`"`, "min_prefix_length = 20",
			"max_prefix_length = 31", "default_prefix_length = 28", "reuse_after_lost = "+d.span(), `pool_selection = "LeastUtilized"`,
			"parameters = { tier = "+d.words()+" }", d.description(), d.labels(), d.annotations())
	}
	d.resource("class", "six", []string{in, `name = "six"`, `ip_family = "IPv6"`}, `unique_within = "Class"`, `visibility = "consumer"`, "default_prefix_length = 64")
	roots := 1 + d.IntN(3)
	var pools []string
	for i := range roots {
		pools = append(pools, d.pools(i, in, spaces, classes)...)
	}
	for i := range roots {
		d.claims(i, in, pools, classes)
	}
	d.rest(in)
	return d.text.String()
}

// pools writes a root pool and its child.
func (d *dice) pools(i int, in string, spaces, classes []string) (addresses []string) {
	root, child := fmt.Sprintf("r%d", i), fmt.Sprintf("k%d", i)
	d.resource("pool", root, []string{
		in, fmt.Sprintf("name = %q", root), fmt.Sprintf(`cidr = "10.%d.0.0/16"`, i), `visibility = "shared"`, "classes = [" + strings.Join(classes, ", ") + "]",
	}, "space = "+one(d, spaces...), `strategy = "`+one(d, "FirstFit", "BestFit", "Random", "Sparse")+`"`, "default_prefix_length = 29",
		"reservations = "+one(d, "[]", `[{ first = 3, reason = "gateways" }, { last = 1 }]`, fmt.Sprintf(`[{ from = "10.%d.9.3", to = "10.%d.9.20" }]`, i, i)),
		d.description(), d.labels(), d.annotations(), "deletion_protection = false")
	d.resource("pool", child, []string{
		in, fmt.Sprintf("name = %q", child), "parent = carve_pool." + root + one(d, ".id", ".name"),
		one(d, "prefix_length = 20", fmt.Sprintf(`cidr = "10.%d.128.0/20"`, i)),
	}, d.description(), d.labels(), "max_prefix_length = 32")
	return []string{"carve_pool." + root, "carve_pool." + child}
}

// claims writes claims that are served from a root pool, from its child, or by a class. They depend on all pools. Otherwise a claim could take the
// block of a child pool.
func (d *dice) claims(i int, in string, pools, classes []string) {
	root, child := pools[2*i], pools[2*i+1]
	before := "depends_on = [" + strings.Join(pools, ", ") + "]"
	for j := range 1 + d.IntN(4) {
		name := fmt.Sprintf("q%d-%d", i, j)
		d.resource("claim", name, []string{
			in, fmt.Sprintf("name = %q", name), before, "prefix_length = " + one(d, "28", "30", "31"),
			one(d, "pool = "+root+".id", "pool = "+root+".name", "pool = "+child+".id", "class = "+one(d, classes...)),
		}, d.labels(), d.annotations(), `reclaim_policy = "Delete"`, "max_consumers = 3", `when_unused = "Keep"`,
			`owner_ref = { kind = "Cluster", name = `+d.words()+" }", "deletion_protection = false")
	}
	exact := fmt.Sprintf("x%d", i) // the other claims of the child are at its beginning
	d.resource("claim", exact, []string{
		in, fmt.Sprintf("name = %q", exact), "pool = " + child + ".id",
		one(d, "address = cidrhost("+child+".cidr, 4000)", "cidr = cidrsubnet("+child+".cidr, 12, 4000)"),
	}, d.labels())
	name := fmt.Sprintf("r%d", i)
	d.resource("quota", name, []string{
		in, fmt.Sprintf("name = %q", name), "limits = " + one(d, `{ addresses = "340282366920938463463374607431768211456" }`, "{ claims = 100, pools = 50 }"),
	}, "scope = { pool = "+root+".id }", d.description())
	d.resource("grant", name, []string{in, "pool = " + root + ".name", "consumer = " + one(d, `"*"`, `"nobody"`)})
}

// rest writes resources that no other resource depends on.
func (d *dice) rest(in string) {
	d.resource("pool", "six", []string{in, `name = "six"`, "cidr = " + one(d, `"2001:DB8::/48"`, `"2001:db8:0:0::/48"`)}, "classes = [carve_class.six.name]", `drain = "Keep"`, "reuse_after = "+d.span())
	d.resource("member", "alice", []string{in, `subject = "corp:alice@example.com"`, `role = "` + one(d, "viewer", "consumer", "provider", "admin") + `"`})
	d.resource("api_key", "key", []string{in, `name = "key"`, `role = "viewer"`}, d.description(), d.labels(), d.annotations(),
		"expires_at = "+one(d, `"2100-01-01T01:00:00+01:00"`, `"2100-01-01T00:00:00Z"`))
	d.resource("consumer", "vm", []string{in, `uid = "vm-1"`}, "kind = "+d.words(), "name = "+d.words(), "ttl_seconds = 3600", `realm = "machines"`)
	attached := one(d, "x0", "q0-0")
	d.resource("consumer_attachment", "vm", []string{in, "claim = carve_claim." + attached + ".name", "uid = carve_consumer.vm.uid", "realm = carve_consumer.vm.realm"})
	selector := "label_selector = " + one(d, `"env=prod"`, `"tier in (web, api), !old"`)
	d.resource("alert_rule", "full", []string{in, `name = "full"`, `about = "Pools"`, one(d, "percent = 80", `runway = "168h"`, `runway = "90m"`)},
		`class_name = "c0"`, selector, d.labels(), d.annotations())
	d.resource("alert_rule", "quotas", []string{in, `name = "quotas"`, `about = "Quotas"`, "percent = 1"}, `resource_name = "r0"`, d.labels())
	d.resource("webhook", "all", []string{in, `name = "all"`, "url = " + strconv.Quote(hook)},
		"resource_kinds = "+one(d, `["IPClaim"]`, `["Quota", "Alert", "IPPool"]`), selector, `resource_name = "vms/vm-1"`, "paused = "+one(d, "true", "false"),
		d.labels(), d.annotations())
}

// TestRandomConfigurationHasAnEmptyPlanAfterApply applies generated configurations. It imports their objects with import blocks and with ipamctl's
// export, and destroys them. RANDOM_ROUNDS sets the number of rounds, and RANDOM_SEED sets the seed.
func TestRandomConfigurationHasAnEmptyPlanAfterApply(t *testing.T) {
	rounds := 2
	if s := os.Getenv("RANDOM_ROUNDS"); s != "" {
		var err error
		rounds, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	for round := range rounds {
		seed := rand.Uint64()
		if s := os.Getenv("RANDOM_SEED"); s != "" {
			var err error
			seed, err = strconv.ParseUint(s, 10, 64)
			require.NoError(t, err)
		}
		t.Run(strconv.Itoa(round), func(t *testing.T) {
			t.Parallel()
			name, _ := team(t)
			d := &dice{Rand: rand.New(rand.NewPCG(seed, 0)), project: name}
			f := newFolder(t, world.main, "", d.configuration())
			defer func() {
				if t.Failed() {
					t.Logf("RANDOM_SEED=%d\n%s", seed, d.text.String())
				}
			}()
			f.apply()
			f.empty()

			blocks, state := f.imports(), filepath.Join(f.dir, "terraform.tfstate")
			kept, err := os.ReadFile(state)
			require.NoError(t, err)
			f.remove("terraform.tfstate", "terraform.tfstate.backup")
			f.write("imports.tf", blocks)
			// After an import, empty attributes are null, and Terraform's own settings are not set.
			f.write("main.tf", head+strings.NewReplacer("labels = {}", "", "reservations = []", "", `timeouts = { create = "2m" }`, "").Replace(d.text.String()))
			said := f.apply()
			require.Contains(t, said, " 0 added, 0 changed, 0 destroyed", said)
			f.remove("imports.tf")
			f.empty()

			exported := newFolder(t, world.main, "", "")
			text := export(t, f.server, name)
			require.NotContains(t, text, token)
			exported.write("main.tf", text)
			exported.env = append(exported.env, "TF_VAR_webhook_all_url="+hook)
			said, _ = exported.plan()
			taken := 0
			for _, thing := range f.state() {
				if kind, _, _ := strings.Cut(thing.address, "."); slices.Contains(exports, kind) {
					taken++
					require.Contains(t, text, fmt.Sprintf("  to = %s.", kind))
					require.Contains(t, text, fmt.Sprintf("  id = %q\n", thing.id))
				}
			}
			require.Contains(t, said, fmt.Sprintf("Plan: %d to import, 0 to add, 0 to change, 0 to destroy", taken), said)

			require.NoError(t, os.WriteFile(state, kept, 0o600))
			f.destroy()
			require.Empty(t, f.state())
			_, err = world.main.GetProject(t.Context(), name)
			require.True(t, client.IsNotFound(err), "%v", err)
		})
	}
}

// export returns ipamctl's Terraform export for a project.
func export(t testing.TB, s *server, project string) string {
	t.Helper()
	program, err := filepath.Abs(root("bin/ipamctl"))
	require.NoError(t, err)
	cmd := exec.CommandContext(t.Context(), program, "export", "-o", "terraform", "-p", project)
	cmd.Env = append(os.Environ(), "CARVE_SERVER="+s.url, "CARVE_API_KEY="+s.key, "HOME="+t.TempDir())
	text, err := cmd.CombinedOutput()
	require.NoError(t, err, string(text))
	return string(text)
}
