package acceptance_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// folder is a directory with a configuration and its state.
type folder struct {
	t      testing.TB
	dir    string
	server *server
	env    []string
}

const head = `terraform {
  required_providers {
    carve = { source = "carve-ipam/carve" }
  }
}
`

// newFolder writes a configuration for a server. owner is the provider's owner setting and may be empty.
func newFolder(t testing.TB, s *server, owner, config string) *folder {
	t.Helper()
	f := &folder{t: t, dir: t.TempDir(), server: s, env: []string{"CARVE_SERVER=" + s.url, "CARVE_API_KEY=" + s.key, "CARVE_OWNER=" + owner}}
	f.write("main.tf", head+config)
	return f
}

func (f *folder) write(name, text string) {
	f.t.Helper()
	require.NoError(f.t, os.WriteFile(filepath.Join(f.dir, name), []byte(text), 0o600))
}

// module writes a configuration as a module that the folder's own configuration can use.
func (f *folder) module(name, config string) {
	f.t.Helper()
	require.NoError(f.t, os.MkdirAll(filepath.Join(f.dir, name), 0o700))
	f.write(filepath.Join(name, "main.tf"), config)
	f.write("module_"+name+".tf", fmt.Sprintf("module %q {\n  source = %q\n}\n", name, "./"+name))
}

func (f *folder) remove(names ...string) {
	f.t.Helper()
	for _, name := range names {
		require.NoError(f.t, os.RemoveAll(filepath.Join(f.dir, name)))
	}
}

// command returns a command that runs Terraform in the folder. The command has its own process group, because Terraform starts the provider as
// another process.
func (f *folder) command(ctx context.Context, args ...string) *exec.Cmd {
	cmd := exec.CommandContext(ctx, world.terraform, append(args, "-no-color")...)
	cmd.Dir = f.dir
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	cmd.Env = append([]string{
		"PATH=" + os.Getenv("PATH"), "HOME=" + f.dir, "TF_CLI_CONFIG_FILE=" + filepath.Join(world.dir, "rc"), "CHECKPOINT_DISABLE=1", "TF_IN_AUTOMATION=1",
	}, f.env...)
	return cmd
}

// try runs Terraform and returns its output and its exit code.
func (f *folder) try(args ...string) (string, int) {
	f.t.Helper()
	said, err := f.command(f.t.Context(), args...).CombinedOutput()
	if exit, ok := errors.AsType[*exec.ExitError](err); ok {
		return string(said), exit.ExitCode()
	}
	require.NoError(f.t, err)
	return string(said), 0
}

func (f *folder) run(args ...string) string {
	f.t.Helper()
	said, code := f.try(args...)
	require.Zero(f.t, code, "%v: %s", args, said)
	return said
}

func (f *folder) apply(args ...string) string {
	f.t.Helper()
	return f.run(append([]string{"apply", "-auto-approve", "-input=false"}, args...)...)
}

// fails runs an apply that must fail. It returns the output as one line, because Terraform wraps lines.
func (f *folder) fails(args ...string) string {
	f.t.Helper()
	said, code := f.try(append([]string{"apply", "-auto-approve", "-input=false"}, args...)...)
	require.Equal(f.t, 1, code, said)
	return flat(said)
}

func flat(said string) string {
	return strings.Join(strings.Fields(strings.NewReplacer("│", " ", "╷", " ", "╵", " ").Replace(said)), " ")
}

// plan runs a plan. It returns the output and reports whether the plan has changes.
func (f *folder) plan() (said string, changes bool) {
	f.t.Helper()
	said, code := f.try("plan", "-detailed-exitcode", "-input=false")
	require.NotEqual(f.t, 1, code, said)
	return said, code == 2
}

func (f *folder) empty() {
	f.t.Helper()
	said, changes := f.plan()
	require.False(f.t, changes, said)
}

func (f *folder) destroy() {
	f.t.Helper()
	f.run("destroy", "-auto-approve", "-input=false")
}

// thing is a resource in the state of Terraform.
type thing struct {
	address, id string
	values      map[string]any
}

// state returns the managed resources in the state.
func (f *folder) state() (things []thing) {
	f.t.Helper()
	text, err := os.ReadFile(filepath.Join(f.dir, "terraform.tfstate"))
	if errors.Is(err, os.ErrNotExist) {
		return nil
	}
	require.NoError(f.t, err)
	var s struct {
		Resources []struct {
			Module, Mode, Type, Name string
			Instances                []struct {
				Key        any `json:"index_key"`
				Attributes map[string]any
			}
		}
	}
	require.NoError(f.t, json.Unmarshal(text, &s))
	for _, r := range s.Resources {
		for _, i := range r.Instances {
			if r.Mode != "managed" {
				continue
			}
			id, _ := i.Attributes["id"].(string)
			address := strings.TrimPrefix(r.Module+"."+r.Type+"."+r.Name, ".")
			if i.Key != nil {
				key, err := json.Marshal(i.Key)
				require.NoError(f.t, err)
				address += "[" + string(key) + "]"
			}
			things = append(things, thing{address, id, i.Attributes})
		}
	}
	return things
}

func (f *folder) value(address, attribute string) any {
	f.t.Helper()
	for _, t := range f.state() {
		if t.address == address {
			return t.values[attribute]
		}
	}
	require.Fail(f.t, "no "+address)
	return nil
}

// imports returns import blocks for all managed resources.
func (f *folder) imports() string {
	text := ""
	for _, t := range f.state() {
		text += "import {\n  to = " + t.address + "\n  id = \"" + t.id + "\"\n}\n"
	}
	return text
}

// change is a planned change of a resource.
type change struct {
	Actions       []string
	Before, After map[string]any
}

// changes returns the planned changes by the address of the resource.
func (f *folder) changes() map[string]change {
	f.t.Helper()
	f.run("plan", "-input=false", "-out=planned")
	var plan struct {
		Changes []struct {
			Address string
			Change  change
		} `json:"resource_changes"`
	}
	require.NoError(f.t, json.Unmarshal([]byte(f.run("show", "-json", "planned")), &plan))
	all := map[string]change{}
	for _, c := range plan.Changes {
		all[c.Address] = c.Change
	}
	return all
}
