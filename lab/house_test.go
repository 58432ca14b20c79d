package lab_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestREADMENamesEveryPackage(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("README.md")
	require.NoError(t, err)
	require.NoError(t, filepath.WalkDir(".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() || path == "." {
			return err
		}
		if entry.Name() == "testdata" {
			return fs.SkipDir
		}
		if files, err := filepath.Glob(filepath.Join(path, "*.go")); err != nil || len(files) == 0 {
			return err
		}
		name := "`" + filepath.ToSlash(path) + "`"
		require.Contains(t, string(page), name, "lab/README.md does not say what %s is", name)
		return nil
	}))
}

// The laboratory's own dependencies must not change the versions of the product's dependencies.
func TestLabHasTheProductsModuleVersions(t *testing.T) {
	t.Parallel()
	product, lab := required(t, "../go.mod"), required(t, "go.mod")
	require.Greater(t, len(product), 20)
	for module, version := range product {
		if here, there := lab[module]; there {
			require.Equal(t, version, here, module)
		}
	}
}

// required returns the versions that a module requires.
func required(t *testing.T, file string) map[string]string {
	t.Helper()
	text, err := os.ReadFile(file)
	require.NoError(t, err)
	versions := map[string]string{}
	for line := range strings.Lines(string(text)) {
		if words := strings.Fields(line); len(words) > 1 && strings.HasPrefix(line, "\t") {
			versions[words[0]] = words[1]
		}
	}
	return versions
}
