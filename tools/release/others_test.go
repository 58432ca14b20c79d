package main

import (
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/tools/image/licences"
	"github.com/carve-ipam/carve/tools/image/recipe"
)

// Two builds of the parts that need no compiler are equal.
func TestTwoBuildsOfChartsAndModuleAreEqual(t *testing.T) {
	t.Parallel()
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		root, err := filepath.Abs(repo)
		require.NoError(t, err)
		r, err := newRelease(root, dir, "")
		require.NoError(t, err)
		t.Cleanup(r.clean)
		require.NoError(t, r.charts(t.Context()))
		require.NoError(t, r.module(t.Context()))
		require.NoError(t, r.sums())
	}
	require.NoError(t, verify(dirs[0], dirs[1]))
	names, err := filesIn(dirs[0])
	require.NoError(t, err)
	assert.Contains(t, names, "carve-chart-"+released(t)+".tgz")
	assert.Contains(t, names, "goproxy/github.com/carve-ipam/carve/@v/v"+released(t)+".zip")
}

// Terraform installs the provider from the directory of a release, and the provider reports its version.
func TestTerraformFindsTheProvider(t *testing.T) {
	t.Parallel()
	terraform, err := exec.LookPath("terraform")
	if err != nil {
		t.Skip("there is no terraform")
	}
	root, err := filepath.Abs(repo)
	require.NoError(t, err)
	out, work := t.TempDir(), t.TempDir()
	r, err := newRelease(root, out, "")
	require.NoError(t, err)
	defer r.clean()
	r.components, err = licences.Scan(t.Context(), root)
	require.NoError(t, err)
	require.NoError(t, r.provider(t.Context(), recipe.Here()))
	rc := fmt.Sprintf("disable_checkpoint = true\nprovider_installation {\n  filesystem_mirror {\n    path = %q\n  }\n}\n", filepath.Join(out, "terraform"))
	require.NoError(t, os.WriteFile(filepath.Join(work, "rc"), []byte(rc), 0o600))
	main := fmt.Sprintf("terraform {\n  required_providers {\n    carve = {\n      source  = \"carve-ipam/carve\"\n      version = %q\n    }\n  }\n}\n", r.version)
	require.NoError(t, os.WriteFile(filepath.Join(work, "main.tf"), []byte(main), 0o600))
	for _, c := range []struct{ asked, want string }{{"init", "Installed carve-ipam/carve v" + r.version}, {"providers schema -json", `"carve_claim"`}} {
		cmd := exec.CommandContext(t.Context(), terraform, strings.Fields(c.asked)...)
		cmd.Dir, cmd.Env = work, append(os.Environ(), "TF_CLI_CONFIG_FILE="+filepath.Join(work, "rc"))
		said, err := cmd.CombinedOutput()
		require.NoError(t, err, string(said))
		assert.Contains(t, string(said), c.want)
	}
}

func released(t *testing.T) string {
	t.Helper()
	v, err := version(repo)
	require.NoError(t, err)
	return v
}
