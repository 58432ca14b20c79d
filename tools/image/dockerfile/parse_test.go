package dockerfile_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/moby/buildkit/frontend/dockerfile/parser"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/tools/image/programs"
	"github.com/carve-ipam/carve/tools/image/recipe"
)

// stage is the part of a Dockerfile after a FROM.
type stage struct {
	from  string
	steps []*parser.Node
}

// read returns the checkout's root, and the stages of an image's Dockerfile as BuildKit's own parser reads them.
func read(t *testing.T, image recipe.Image) (repo string, stages []stage) {
	t.Helper()
	repo, err := programs.Repository(".")
	require.NoError(t, err)
	f, err := os.Open(filepath.Join(repo, image.Dockerfile))
	require.NoError(t, err)
	t.Cleanup(func() { _ = f.Close() })
	parsed, err := parser.Parse(f)
	require.NoError(t, err)
	require.Empty(t, parsed.Warnings)
	for _, step := range parsed.AST.Children {
		if strings.EqualFold(step.Value, "from") {
			stages = append(stages, stage{from: step.Next.Value})
			continue
		}
		require.NotEmpty(t, stages, step.Original)
		last := &stages[len(stages)-1]
		last.steps = append(last.steps, step)
	}
	require.Len(t, stages, 2, "one to build, one that is the image")
	return repo, stages
}

// words returns the words in every step of a kind, step by step.
func (s stage) words(kind string) [][]string {
	var all [][]string
	for _, step := range s.steps {
		if !strings.EqualFold(step.Value, kind) {
			continue
		}
		var words []string
		for n := step.Next; n != nil; n = n.Next {
			words = append(words, n.Value)
		}
		all = append(all, words)
	}
	return all
}
