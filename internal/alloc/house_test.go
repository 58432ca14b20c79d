package alloc_test

import (
	"go/parser"
	"go/token"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// floors lists the packages in this directory, the lowest layer first. doc.go describes each package.
var floors = []string{
	"freespace", "storage", "locks", "paging", "usecase", "carve", "trail", "attach", "kind", "quota", "access", "regions", "refusals", "pools", "utilization", "resolve", "allocations", "search", "claims", "consumers",
	"releases", "alerts", "feed", "webhooks",
}

const house = "github.com/carve-ipam/carve/internal/alloc/"

func TestPackagesImportOnlyLowerLayers(t *testing.T) {
	t.Parallel()
	entries, err := os.ReadDir(".")
	require.NoError(t, err)
	for _, e := range entries {
		if !e.IsDir() {
			continue
		}
		floor := slices.Index(floors, e.Name())
		require.NotEqual(t, -1, floor, "room %s has no floor", e.Name())
		files, err := filepath.Glob(filepath.Join(e.Name(), "*.go"))
		require.NoError(t, err)
		for _, path := range files {
			if strings.HasSuffix(path, "_test.go") {
				continue
			}
			file, err := parser.ParseFile(token.NewFileSet(), path, nil, parser.ImportsOnly)
			require.NoError(t, err)
			for _, i := range file.Imports {
				name, err := strconv.Unquote(i.Path.Value)
				require.NoError(t, err)
				if room, inside := strings.CutPrefix(name, house); inside {
					require.Less(t, slices.Index(floors, room), floor, "%s imports %s, which is above it", path, room)
				}
			}
		}
	}
}
