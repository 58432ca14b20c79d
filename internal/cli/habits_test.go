package cli_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Each line of the table also appears in the blocks below the table. docs-check runs these blocks.
func TestKubectlTableLinesAreExecutedBelowIt(t *testing.T) {
	t.Parallel()
	page, err := os.ReadFile("../../docs/kubectl.md")
	require.NoError(t, err)
	table, run, found := strings.Cut(string(page), "This session runs each of these commands:")
	require.True(t, found)
	rows := regexp.MustCompile("(?m)^\\| [^|]*\\| `(ipamctl [^`]+)` \\|").FindAllStringSubmatch(table, -1)
	require.Greater(t, len(rows), 25)
	for _, row := range rows {
		require.Regexp(t, `(?m)^\$ (timeout [^\n]*)?`+regexp.QuoteMeta(row[1])+`( |$)`, run)
	}
}
