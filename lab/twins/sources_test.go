package twins

import (
	"os"
	"os/exec"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

const checkout = "../.."

func TestPackagesWithTheTwinsCanBeBuilt(t *testing.T) {
	t.Parallel()
	sources, err := Sources(checkout)
	require.NoError(t, err)
	overlay, err := sources.Write(t.TempDir())
	require.NoError(t, err)
	build := exec.CommandContext(t.Context(), "go", "build", "-overlay", overlay, "./internal/alloc", "./internal/crdb")
	build.Dir = checkout
	out, err := build.CombinedOutput()
	require.NoError(t, err, "%s", out)
}

func TestChangedSourceOfATwinIsNamed(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, p := range places {
		text, err := os.ReadFile(filepath.Join(checkout, p.file))
		require.NoError(t, err)
		path := filepath.Join(root, p.file)
		require.NoError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		require.NoError(t, os.WriteFile(path, text, 0o600))
	}
	_, err := Sources(root)
	require.NoError(t, err)
	last := places[len(places)-1]
	require.NoError(t, os.WriteFile(filepath.Join(root, last.file), []byte("package crdb\n"), 0o600))
	_, err = Sources(root)
	require.ErrorContains(t, err, last.file)
	require.ErrorContains(t, err, last.twins[0])
}
