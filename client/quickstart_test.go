package client_test

import (
	"bytes"
	"os"
	"os/exec"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// docs/clients.md shows exactly the lines of the program that the tests run.
func TestThePageShowsTheQuickStart(t *testing.T) {
	t.Parallel()
	page, program := read(t, "../docs/clients.md"), read(t, "../examples/clients/go/main.go")
	_, rest, found := strings.Cut(page, "Its core:\n\n```go\n")
	require.True(t, found)
	shown, _, _ := strings.Cut(rest, "\n```")
	require.Contains(t, program, "\t"+strings.ReplaceAll(shown, "\n", "\n\t")+"\n")
}

func TestQuickStartPrintsTheOutputOnItsPage(t *testing.T) {
	t.Parallel()
	_, rest, found := strings.Cut(read(t, "../docs/clients.md"), "$ go run ./examples/clients/go\n")
	require.True(t, found)
	want, _, _ := strings.Cut(rest, "```")
	url, _ := serve(t, dbtest.New(t))
	cmd := exec.CommandContext(t.Context(), "go", "run", "./examples/clients/go")
	cmd.Dir = ".."
	cmd.Env = append(os.Environ(), "CARVE_SERVER="+url)
	var said bytes.Buffer
	cmd.Stderr = &said
	out, err := cmd.Output()
	require.NoError(t, err, said.String())
	require.Equal(t, want, string(out))
}

func read(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	require.NoError(t, err)
	return string(text)
}
