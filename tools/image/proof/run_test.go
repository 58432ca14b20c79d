package proof_test

import (
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/tools/image/recipe"
)

func TestProgramsNeedOnlyTheImagesFiles(t *testing.T) {
	t.Parallel()
	only(t, recipe.Server)
	j := newJail(t)
	t.Run("ServerHelp", func(t *testing.T) {
		t.Parallel()
		code, out, said := j.run(t, nil, "/server", "--help")
		assert.Zero(t, code, said)
		assert.Contains(t, out, "--database-url")
	})
	t.Run("IpamctlVersion", func(t *testing.T) {
		t.Parallel()
		code, out, said := j.run(t, nil, "/ipamctl", "version", "--client", "-q")
		assert.Zero(t, code, said)
		assert.Equal(t, subject.stamp.Version, strings.TrimSpace(out))
	})
	t.Run("RootCannotBeWritten", func(t *testing.T) {
		t.Parallel()
		// Without the read-only root, every user could write to /tmp.
		code, _, said := j.run(t, nil, "/server", "--auth=dev", "--listen=127.0.0.1:0", "--data-dir=/tmp/data")
		assert.Equal(t, 1, code)
		assert.Contains(t, said, "read-only file system")
	})
}

func TestImageHasNoShell(t *testing.T) {
	t.Parallel()
	j := newJail(t)
	for _, shell := range []string{"/bin/sh", "/bin/bash", "/busybox/sh"} {
		code, _, said := j.run(t, nil, shell, "-c", "true")
		assert.Equal(t, notEntered, code, "%s: %s", shell, said)
		assert.Contains(t, said, "no such file or directory")
	}
}

// TestControllerNeedsOnlyTheImagesFiles runs the controller as far as possible without a cluster: its flags, a readable key, and the missing API
// server.
func TestControllerNeedsOnlyTheImagesFiles(t *testing.T) {
	t.Parallel()
	only(t, recipe.Controller)
	j := newJail(t)
	code, out, said := j.run(t, nil, "/carve-controller", "--version")
	assert.Zero(t, code, said)
	assert.Contains(t, out, "carve controller "+subject.stamp.Version)
	code, _, said = j.run(t, nil, "/carve-controller", "--carve=https://carve.example.com")
	assert.Equal(t, 2, code)
	assert.Contains(t, said, "--project is required")
	code, _, said = j.run(t, []string{"KUBERNETES_SERVICE_HOST=127.0.0.1", "KUBERNETES_SERVICE_PORT=1"}, "/carve-controller", "--carve=https://carve.example.com", "--project=a")
	assert.Equal(t, 1, code)
	assert.Contains(t, said, "serviceaccount/token: no such file or directory")
}

// only skips a test that is about another image.
func only(t *testing.T, image recipe.Image) {
	t.Helper()
	if subject.image.Name != image.Name {
		t.Skipf("this is about the image %s", image.Name)
	}
}

// TestAClaimIsMadeFromTheImage makes an installation: migrate, the first key, serve, claim, stop. The database is outside of the image, as in a
// cluster.
func TestAClaimIsMadeFromTheImage(t *testing.T) {
	t.Parallel()
	only(t, recipe.Server)
	j := newJail(t)
	url := startDatabase(t, filepath.Join(j.root, "server"))
	environ := []string{"CARVE_DATABASE_URL=" + url}

	code, out, said := j.run(t, environ, "/ipamctl", "migrate")
	require.Zero(t, code, "%s%s", out, said)
	code, key, said := j.run(t, environ, "/ipamctl", "bootstrap", "-q")
	require.Zero(t, code, said)

	server := startServer(t, j.command(t, environ, "/server", "--auth=keys", "--listen=127.0.0.1:0"))
	assert.Equal(t, http.StatusOK, server.get(t, "/readyz"))
	caller := []string{"CARVE_SERVER=http://" + server.address, "CARVE_API_KEY=" + strings.TrimSpace(key), "CARVE_PROJECT=team-a"}
	for _, args := range [][]string{
		{"/ipamctl", "project", "create", "team-a"},
		{"/ipamctl", "pool", "create", "prod", "--cidr", "10.20.0.0/16"},
	} {
		code, _, said := j.run(t, caller, args...)
		require.Zero(t, code, "%v: %s", args, said)
	}
	code, out, said = j.run(t, caller, "/ipamctl", "claim", "create", "web", "--pool", "prod", "--prefix-length", "24", "-q")
	assert.Zero(t, code, said)
	assert.Equal(t, "10.20.0.0/24", strings.TrimSpace(out))

	status := server.status(t)
	assert.Contains(t, status, "Uid:\t65532\t65532\t65532\t65532")
	assert.Contains(t, status, "Gid:\t65532\t65532\t65532\t65532")
	assert.Contains(t, status, "NoNewPrivs:\t1")
	for _, set := range []string{"CapInh", "CapPrm", "CapEff", "CapBnd", "CapAmb"} {
		assert.Contains(t, status, set+":\t0000000000000000")
	}
	server.stop(t)
}
