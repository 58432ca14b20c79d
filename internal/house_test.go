package internal_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestEveryPackageIsInTheArchitecturePage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile(filepath.Join("..", "docs", "architecture.md"))
	require.NoError(t, err)
	err = filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == "." {
			return err
		}
		if entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if files, err := filepath.Glob(filepath.Join(path, "*.go")); err != nil || len(files) == 0 {
			return err
		}
		name := "`internal/" + filepath.ToSlash(path) + "`"
		require.Contains(t, string(page), name, "docs/architecture.md does not say what %s is", name)
		return nil
	})
	require.NoError(t, err)
}
