package e2e

import (
	"bytes"
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// operator runs cmd/ipamctl directly on a database.
type operator struct{ binary, dsn string }

func newOperator(t *testing.T, dsn string) operator {
	t.Helper()
	binary := filepath.Join(t.TempDir(), "ipamctl")
	out, err := exec.CommandContext(t.Context(), "go", "-C", "../..", "build", "-buildvcs=false", "-o", binary, "./cmd/ipamctl").CombinedOutput()
	require.NoError(t, err, string(out))
	return operator{binary, dsn}
}

// run runs a verb on the database and returns its exit code and output.
func (o operator) run(t *testing.T, args ...string) (code int, out, said string) {
	t.Helper()
	var stdout, stderr bytes.Buffer
	cmd := exec.CommandContext(t.Context(), o.binary, append(args, "--database-url="+o.dsn)...)
	cmd.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + t.TempDir(), "CARVE_POSTGRES_BIN=" + os.Getenv("CARVE_POSTGRES_BIN")}
	cmd.Stdout, cmd.Stderr = &stdout, &stderr
	err := cmd.Run()
	require.NotNil(t, cmd.ProcessState, err)
	return cmd.ProcessState.ExitCode(), stdout.String(), stderr.String()
}
