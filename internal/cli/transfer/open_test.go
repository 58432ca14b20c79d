package transfer

import (
	"io"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/session"
)

const table = "cidr\n10.0.0.0/8\n"

// readWith reads files and a standard input that calls during when the import reads it.
func readWith(t *testing.T, during func(), paths ...string) error {
	t.Helper()
	text := strings.NewReader(table)
	in := io.TeeReader(text, called(during))
	m := input{of: "csv", p: &session.Program{In: in}}
	_, err := m.records(t.Context(), rules.Preset("csv"), append(paths, "-"))
	require.Zero(t, text.Len(), "the import reads the whole standard input")
	return err
}

// called is a writer that calls a function for each write.
type called func()

func (c called) Write(p []byte) (int, error) {
	c()
	return len(p), nil
}

func TestFileThatChangesDuringTheImportIsRefused(t *testing.T) {
	t.Parallel()
	path := filepath.Join(t.TempDir(), "growing.csv")
	require.NoError(t, os.WriteFile(path, []byte(table), 0o600))
	require.NoError(t, readWith(t, func() {}, path))
	err := readWith(t, func() { require.NoError(t, os.WriteFile(path, []byte(table+"11.0.0.0/8\n"), 0o600)) }, path)
	require.ErrorContains(t, err, "growing.csv changed during the import: import it when it is complete")
}

// An import that a signal ends cannot remove its copy of the standard input, so the copy has no name while the import reads it.
func TestCopyOfStandardInputHasNoNameDuringTheImport(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("Windows does not remove an open file")
	}
	dir := t.TempDir()
	t.Setenv("TMPDIR", dir)
	reads := 0
	require.NoError(t, readWith(t, func() {
		reads++
		names, err := os.ReadDir(dir)
		require.NoError(t, err)
		require.Empty(t, names)
	}))
	require.Positive(t, reads)
}
