package alloc_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// The roles of a caller are in one project and not in whichever has its name. What compares the two is in usecase/enter.go: a use case that
// authorises its caller without it would let the keys of a deleted project into the next one of the name.
func TestUseCasesResolveTheirProjectInEnter(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*/*.go")
	require.NoError(t, err)
	function := regexp.MustCompile(`(?m)^func (?:\([^)]*\) )?(\w+)`)
	asks := map[string]string{} // what else a function asks that authorises without enter
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
		"Admit":         "trail/admit.go",       // before anything is read; the use case asks again
		"CreateProject": "access/projects.go",   // there is no project yet
		"ListProjects":  "access/projects.go",   // listNamed looks at each
		"Whoami":        "access/whoami.go",     // looks at each itself
		"ListRegions":   "regions/regions.go",   // of no project
		"Search":        "search/search.go",     // scope looks at each
		"May":           "feed/follower.go",     // of the project that Follow has found, again
		"shown":         "webhooks/webhooks.go", // compares the project of the webhook itself
	}, asks)
}
