package chart

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"
)

const (
	guide      = "../../docs/kubernetes.md"
	tableBegin = "<!-- values: made by `cd tools/chart && go test . -update` from helm/carve/values.yaml -->\n"
	tableEnd   = "<!-- /values -->\n"
)

// rows are a line for each value that has a comment beginning with "--"; a mapping without one is gone into.
func rows(t *testing.T, node *yaml.Node, prefix string) []string {
	t.Helper()
	var all []string
	for i := 0; i+1 < len(node.Content); i += 2 {
		key, value := node.Content[i], node.Content[i+1]
		name := prefix + key.Value
		said := ""
		for line := range strings.SplitSeq(key.HeadComment, "\n") {
			if after, ok := strings.CutPrefix(line, "# -- "); ok {
				said = after
			}
		}
		if said == "" {
			require.Equal(t, yaml.MappingNode, value.Kind, "%s has no comment that begins with --", name)
			require.NotEmpty(t, value.Content, "%s has no comment that begins with --", name)
			all = append(all, rows(t, value, name+".")...)
			continue
		}
		all = append(all, fmt.Sprintf("| `%s` | `%s` | %s |", name, shown(t, value), strings.ReplaceAll(said, "|", `\|`)))
	}
	return all
}

// shown is a value in one line, as in JSON.
func shown(t *testing.T, node *yaml.Node) string {
	t.Helper()
	if node.Kind == yaml.ScalarNode && (node.Style&(yaml.DoubleQuotedStyle|yaml.SingleQuotedStyle)) != 0 {
		return `"` + node.Value + `"`
	}
	flow := *node
	var toFlow func(n *yaml.Node)
	toFlow = func(n *yaml.Node) {
		n.HeadComment, n.LineComment, n.FootComment = "", "", ""
		if n.Kind != yaml.ScalarNode {
			n.Style = yaml.FlowStyle
		}
		for _, c := range n.Content {
			toFlow(c)
		}
	}
	toFlow(&flow)
	out, err := yaml.Marshal(&flow)
	require.NoError(t, err)
	return strings.Join(strings.Fields(string(out)), " ")
}

func TestTheTableOfValuesIsTheirFile(t *testing.T) {
	t.Parallel()
	file, err := os.ReadFile(source + "/values.yaml")
	require.NoError(t, err)
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(file, &doc))
	table := "\n| value | default | what |\n|---|---|---|\n" + strings.Join(rows(t, doc.Content[0], ""), "\n") + "\n\n"
	text, err := os.ReadFile(guide)
	require.NoError(t, err)
	before, rest, begins := strings.Cut(string(text), tableBegin)
	was, after, ends := strings.Cut(rest, tableEnd)
	require.True(t, begins && ends, "%s has the table between two comments", guide)
	if *update {
		require.NoError(t, os.WriteFile(guide, []byte(before+tableBegin+table+tableEnd+after), 0o600))
		return
	}
	assert.Equal(t, table, was, "cd tools/chart && go test . -update")
}
