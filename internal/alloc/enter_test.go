package alloc_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// A caller's roles belong to a project, not to a project's name. usecase/enter.go compares the project ids. If a use case did not use it, a key of a
// deleted project might work in a new project with the same name.
func TestUseCasesResolveTheirProjectInEnter(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	function := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)`)
	asks := map[string]string{} // the file of each function that authorizes its caller without usecase/enter.go
	for _, file := range files {
		if strings.HasSuffix(file, "_test.go") || file == "usecase/enter.go" {
			continue
		}
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		starts := function.FindAllSubmatchIndex(text, -1)
		for i, at := range starts {
			end := len(text)
			if i+1 < len(starts) {
				end = starts[i+1][0]
			}
			name, body := string(text[at[2]:at[3]]), string(text[at[0]:end])
			if strings.Contains(body, "tenancy.Authorize(") && !strings.Contains(body, "EnterBy(") {
				asks[name] = file
			}
		}
	}
	require.Equal(t, map[string]string{
		"Admit":         "trail/admit.go",       // runs before any read, and the use case authorizes again
		"CreateProject": "access/projects.go",   // the project does not exist yet
		"ListProjects":  "access/projects.go",   // listNamed checks each project
		"Whoami":        "access/whoami.go",     // checks each project itself
		"ListRegions":   "regions/regions.go",   // needs no project
		"Search":        "search/search.go",     // scope checks each project
		"CheckAccess":   "feed/follower.go",     // repeats the check of Follow, for the project that Follow found
		"concealURL":    "webhooks/webhooks.go", // compares the webhook's own project
	}, asks)
}
