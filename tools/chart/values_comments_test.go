package chart

import (
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

// uncommented returns the values without a comment that begins with "--". For a mapping without one, it checks the members.
func uncommented(node *yaml.Node, prefix string) (names []string) {
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		name := prefix + key.Value
		switch {
		case strings.HasPrefix(key.HeadComment, "# -- ") || strings.Contains(key.HeadComment, "\n# -- "):
		case value.Kind == yaml.MappingNode && len(value.Content) > 0:
			names = append(names, uncommented(value, name+".")...)
		default:
			names = append(names, name)
		}
	}
	return names
}

func TestEveryChartValueHasAComment(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(source + "/values.yaml")
	require.NoError(t, err)
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(file, &doc))
	assert.Empty(t, uncommented(doc.Content[0], ""), "these have no comment that begins with --")
}

func TestAValueWithoutACommentIsFound(t *testing.T) {
	t.Parallel()
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal([]byte("a:\n  # -- What it is.\n  b: 1\n  c: 2\n# Something else.\nd: {}\n"), &doc))
	assert.Equal(t, []string{"a.c", "d"}, uncommented(doc.Content[0], ""))
}
