package audit

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

// What is said to CockroachDB alone is kept in a file, which tools/sqlcheck reads with CockroachDB's grammar.
func TestWhatIsSaidToCockroachIsWrittenDown(t *testing.T) {
	t.Parallel()
	text, err := os.ReadFile(filepath.Join("testdata", "cockroach.txt"))
	require.NoError(t, err)
	require.Equal(t, begin+";\n", string(text))
}
