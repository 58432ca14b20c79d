package audit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// testdata contains the statements that only CockroachDB runs. tools/sqlcheck parses these statements with CockroachDB's grammar.
func TestCockroachStatementsAreRecorded(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "cockroach.txt"))
	require.NoError(t, err)
	require.Equal(t, begin+";\n", string(text))
}
