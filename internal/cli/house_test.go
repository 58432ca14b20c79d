package cli_test

import (
	"go/parser"
	"go/token"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// floors lists the packages of the command line from the lowest layer up.
var floors = []string{"exit", "packed", "show", "session", "verbs", "converge", "plan", "kinds", "source", "rules", "export", "transfer", "operate"}

func TestPackagesImportOnlyLowerLayers(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob(filepath.Join("*", "*.go"))
	require.NoError(t, err)
	for _, path := range files {
		floor := slices.Index(floors, filepath.Dir(path))
		require.NotEqual(t, -1, floor, "%s has no floor", path)
		file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
		require.NoError(t, err)
		for _, i := range file.Imports {
			name, err := strconv.Unquote(i.Path.Value)
			require.NoError(t, err)
			if room, inside := strings.CutPrefix(name, "github.com/carve-ipam/carve/internal/cli/"); inside && room != filepath.Dir(path) { // the condition is for external tests
				require.Less(t, slices.Index(floors, room), floor, "%s imports %s, which is not below it", path, room)
			}
		}
	}
}
