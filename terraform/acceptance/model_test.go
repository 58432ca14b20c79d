package acceptance_test

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// group is a resource block of the model. It has one object, or several objects through count or for_each.
type group struct {
	kind, local string
	form        string // "", "count" or "for_each"
	base        string // the objects have the names base-0, base-1, ...
	n           int
	length      int
	label       string
	before      bool // create_before_destroy
}

// modelled lists the kinds of the groups. Claims are as frequent as in real configurations.
var modelled = []string{"claim", "claim", "claim", "pool", "quota", "member", "space", "alert_rule", "webhook", "consumer_attachment"}

// model is a configuration to which the test makes random changes.
type model struct {
	*rand.Rand
	project string
	groups  []group
	moved   string // moved and import blocks
	next    int
}

// text returns the configuration.
func (m *model) text() string {
	var b strings.Builder
	b.WriteString(head)
	for _, g := range m.groups {
		fmt.Fprintf(&b, "resource \"carve_%s\" %q {\n  project = %q\n", g.kind, g.local, m.project)
		name := `"` + g.base + `-0"`
		switch g.form {
		case "count":
			fmt.Fprintf(&b, "  count = %d\n", g.n)
			name = `"` + g.base + `-${count.index}"`
		case "for_each":
			fmt.Fprintf(&b, "  for_each = toset([for i in range(%d) : tostring(i)])\n", g.n)
			name = `"` + g.base + `-${each.key}"`
		}
		switch g.kind {
		case "claim":
			fmt.Fprintf(&b, "  name = %s\n  pool = \"prod\"\n  prefix_length = %d\n  labels = { env = %q }\n", name, g.length, g.label)
		case "pool":
			fmt.Fprintf(&b, "  name = %s\n  parent = \"prod\"\n  prefix_length = %d\n  labels = { env = %q }\n", name, g.length, g.label)
			if g.label != "a" {
				b.WriteString("  drain = \"Keep\"\n")
			}
		case "quota":
			fmt.Fprintf(&b, "  name = %s\n  limits = { claims = 1000 }\n  description = %q\n", name, g.label)
		case "member":
			fmt.Fprintf(&b, "  subject = %s\n  role = \"viewer\"\n", strings.Replace(name, `"`, `"corp:`, 1))
		case "consumer_attachment":
			fmt.Fprintf(&b, "  claim = \"shared\"\n  uid = %s\n", name)
		case "alert_rule":
			fmt.Fprintf(&b, "  name = %s\n  about = \"Pools\"\n  percent = %d\n  labels = { env = %q }\n", name, 50+g.length, g.label)
		case "webhook":
			fmt.Fprintf(&b, "  name = %s\n  url = \"https://inventory.example.com/%s\"\n  paused = true\n", name, g.label)
		default:
			fmt.Fprintf(&b, "  name = %s\n  description = %q\n", name, g.label)
		}
		if g.before {
			b.WriteString("  lifecycle {\n    create_before_destroy = true\n  }\n")
		}
		b.WriteString("}\n")
	}
	b.WriteString(m.moved)
	return b.String()
}

// keys returns the instance keys of a group as Terraform's addresses spell them.
func (g group) keys() []string {
	if g.form == "" {
		return []string{""}
	}
	var keys []string
	for i := range g.n {
		key := strconv.Itoa(i)
		if g.form == "for_each" {
			key = strconv.Quote(key)
		}
		keys = append(keys, "["+key+"]")
	}
	return keys
}

// move adds the moved blocks for the change of a group from one form to another.
func (m *model) move(from, to group) {
	keys := to.keys()
	for i, key := range from.keys() {
		if i < len(keys) {
			m.moved += fmt.Sprintf("moved {\n  from = carve_%s.%s%s\n  to   = carve_%s.%s%s\n}\n", from.kind, from.local, key, to.kind, to.local, keys[i])
		}
	}
}

// imports adds import blocks for the objects of a group. After a rename, another resource of the state usually has these objects.
func (m *model) imports(g group) {
	for i, key := range g.keys() {
		name := fmt.Sprintf("%s-%d", g.base, i)
		switch g.kind {
		case "member":
			name = "corp:" + name
		case "consumer_attachment":
			name = "shared/default/" + name
		}
		m.moved += fmt.Sprintf("import {\n  to = carve_%s.%s%s\n  id = \"%s/%s\"\n}\n", g.kind, g.local, key, m.project, name)
	}
}

func (m *model) fresh(of string) string { m.next++; return of + strconv.Itoa(m.next) }

// change changes one group and returns a description of the change.
func (m *model) change() string {
	m.moved = ""
	if len(m.groups) < 3 || len(m.groups) < 8 && m.IntN(4) == 0 {
		g := group{
			kind: modelled[m.IntN(len(modelled))], local: m.fresh("r"), base: m.fresh("o"),
			form: []string{"", "count", "for_each"}[m.IntN(3)], n: 1 + m.IntN(3), length: 27 + m.IntN(2), label: "a", before: m.IntN(4) == 0,
		}
		if g.form == "" {
			g.n = 1
		}
		m.groups = append(m.groups, g)
		return "add " + g.kind
	}
	i := m.IntN(len(m.groups))
	g := &m.groups[i]
	was := *g
	switch m.IntN(9) {
	case 0:
		m.groups = slices.Delete(m.groups, i, i+1)
		return "remove " + was.kind
	case 1, 2:
		g.local = m.fresh("r")
		switch m.IntN(4) {
		case 0, 1:
			m.move(was, *g)
			return "move " + was.kind
		case 2:
			m.imports(*g)
			return "rename with imports of " + was.kind
		}
		return "rename " + was.kind
	case 3:
		g.form = map[string]string{"": "for_each", "count": "for_each", "for_each": "count"}[g.form]
		if m.IntN(2) == 0 {
			m.move(was, *g)
			return was.form + " to " + g.form + " with moved"
		}
		return was.form + " to " + g.form
	case 4:
		g.length = 55 - g.length
		return "other length of " + g.kind
	case 5:
		g.label = m.fresh("l")
		return "other label of " + g.kind
	case 6:
		g.before = !g.before
		return "other order for " + g.kind
	case 7:
		twin := *g
		twin.local = m.fresh("r")
		m.groups = append(m.groups, twin)
		if m.IntN(2) == 0 {
			m.imports(twin)
			return "twin with imports of " + twin.kind
		}
		return "twin of " + twin.kind
	default:
		if g.form != "" {
			g.n = 1 + m.IntN(4)
		}
		return "other number of " + g.kind
	}
}

// refusals lists the errors with which an apply of the model may end.
var refusals = []string{
	"Another resource of this configuration has the", "The resource already exists", "It cannot be replaced while it is in use", "Its container is destroyed",
	"Cannot import non-existent remote object",
}

// TestModelOfStatesPlansAndServers makes random changes to a configuration, kills Terraform, loses the state and replaces objects. After each
// successful apply, the state, a new plan and the server must agree. No two resources may have the same object or block. MODEL_SEED sets the seed,
// and MODEL_STEPS sets the number of steps.
func TestModelOfStatesPlansAndServers(t *testing.T) {
	t.Parallel()
	seed, steps := uint64(7), 24
	if testing.Short() {
		steps = 8
	}
	if s := os.Getenv("MODEL_SEED"); s != "" {
		var err error
		seed, err = strconv.ParseUint(s, 10, 64)
		require.NoError(t, err)
	}
	if s := os.Getenv("MODEL_STEPS"); s != "" {
		var err error
		steps, err = strconv.Atoi(s)
		require.NoError(t, err)
	}
	m := &model{Rand: rand.New(rand.NewPCG(seed, 1)), project: prepared(t, world.main)}
	_, err := world.main.Claim(t.Context(), m.project, "shared", client.IPClaimSpec{PoolRef: &client.Ref{Name: "prod"}, PrefixLength: 30, MaxConsumers: 256})
	require.NoError(t, err)
	f := newFolder(t, world.main, "model", "")
	good := []group{}
	for step := range steps {
		done := m.change()
		if step == 0 {
			for len(m.groups) < 4 {
				m.change()
			}
		}
		f.write("main.tf", m.text())
		flags := []string{"apply", "-auto-approve", "-input=false"}
		switch m.IntN(5) {
		case 0:
			done += ", killed"
			f.killed(1 + m.IntN(3))
		case 1:
			done += ", lost state"
			f.remove("terraform.tfstate", "terraform.tfstate.backup")
		case 2:
			if things := f.state(); len(things) > 0 {
				address := things[m.IntN(len(things))].address
				done += ", replace " + address
				flags = append(flags, "-replace="+address)
			}
		}
		said, code := f.try(flags...)
		t.Logf("step %d: %s: exit %d", step, done, code)
		if code != 0 {
			require.True(t, slices.ContainsFunc(refusals, func(r string) bool { return strings.Contains(flat(said), r) }), "MODEL_SEED=%d step %d: %s", seed, step, said)
			m.groups, m.moved = slices.Clone(good), ""
			f.write("main.tf", m.text())
			f.clear(m.project)
			said, code = f.try("apply", "-auto-approve", "-input=false")
			require.Zero(t, code, "MODEL_SEED=%d step %d, back to what was there: %s", seed, step, said)
		}
		good = slices.Clone(m.groups)
		f.agrees()
		said, changes := f.plan()
		require.False(t, changes, "MODEL_SEED=%d step %d: %s: %s", seed, step, done, said)
	}
	f.destroy()
}

// killed starts an apply and kills Terraform and the provider after some changes.
func (f *folder) killed(after int) {
	f.t.Helper()
	cmd := f.command(f.t.Context(), "apply", "-auto-approve", "-input=false", "-parallelism=2")
	said, err := cmd.StdoutPipe()
	require.NoError(f.t, err)
	require.NoError(f.t, cmd.Start())
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if strings.Contains(lines.Text(), " complete after ") || strings.Contains(lines.Text(), ": Creating...") {
			if after--; after == 0 {
				_ = syscall.Kill(-cmd.Process.Pid, syscall.SIGKILL)
			}
		}
	}
	if err := cmd.Wait(); err != nil {
		_, ended := errors.AsType[*exec.ExitError](err)
		require.True(f.t, ended, err)
	}
	f.remove(".terraform.tfstate.lock.info")
	path := filepath.Join(f.dir, "terraform.tfstate")
	if text, err := os.ReadFile(path); err == nil && !json.Valid(text) {
		f.remove("terraform.tfstate") // Terraform was killed during the write of the state
	}
}

// clear deletes the objects of a project that no state contains. After a kill, a person would delete them before the next apply.
func (f *folder) clear(project string) {
	f.t.Helper()
	known := map[string]bool{"/v1/projects/" + project + "/pools/prod": true, "/v1/projects/" + project + "/spaces/default": true, "/v1/projects/" + project + "/claims/shared": true}
	for _, r := range f.state() {
		known[pathOf(f.t, r)] = true
	}
	for _, collection := range []string{"claims", "pools", "quotas", "members", "spaces", "alert-rules", "webhooks", "claims/shared/consumers"} {
		_, list := f.server.get(f.t, "/v1/projects/"+project+"/"+collection)
		items, _ := list["items"].([]any)
		for _, item := range items {
			object, _ := item.(map[string]any)
			about, _ := object["metadata"].(map[string]any)
			path := fmt.Sprintf("/v1/projects/%s/%s/%v", project, collection, about["name"])
			if uid, is := object["uid"]; is {
				path = fmt.Sprintf("/v1/projects/%s/%s/%v?realm=%v", project, collection, uid, object["realm"])
			}
			if !known[path] {
				f.server.remove(f.t, path)
			}
		}
	}
}
