package main

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/stretchr/testify/require"
)

func TestProgramsAndLargeFilesAreRefused(t *testing.T) {
	t.Parallel()
	text := func(n int) *fstest.MapFile { return &fstest.MapFile{Data: []byte(strings.Repeat("a", n))} }
	files := fstest.MapFS{
		"main.go":   text(100),
		"program":   {Data: []byte("\x7fELF\x02\x01\x01\x00\x00")},
		"large.txt": text(largest + 1),
		"just.txt":  text(largest),
		"logo.png":  {Data: []byte("\x89PNG\x00")},
	}
	names := []string{"main.go", "program", "large.txt", "just.txt", "logo.png", "deleted.go"}
	findings, err := check(files, names, map[string]string{"logo.png": "a picture"})
	require.NoError(t, err)
	require.Equal(t, []string{"program is binary", "large.txt has 1.0 MB"}, findings)
}

func TestNeedlessListEntryIsRefused(t *testing.T) {
	t.Parallel()
	findings, err := check(fstest.MapFS{"small.go": {Data: []byte("package small")}}, []string{"small.go"}, map[string]string{"small.go": "it was large"})
	require.NoError(t, err)
	require.Equal(t, []string{"small.go is on the list and need not be"}, findings)
}

func TestStagedFileIsChecked(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	git := func(args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "git", args...)
		cmd.Dir = dir
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
	}
	git("init", "-q")
	require.NoError(t, os.WriteFile(filepath.Join(dir, "built"), []byte("\x7fELF\x00"), 0o600))
	git("add", "built")
	require.ErrorContains(t, run(t.Context(), dir, io.Discard), "built is binary")
}
