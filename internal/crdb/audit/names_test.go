package audit_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/audit"
)

// The invariants that an audit reports equal its statements, except for three: the row counts, a statement with findings under another name, and the
// stored fences, which are compared in Go.
func TestAuditInvariantsMatchTheirStatements(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("*.sql")
	require.NoError(t, err)
	var named []string
	for _, i := range audit.Invariants() {
		named = append(named, i.Name+".sql")
		require.NotEmpty(t, i.Holds)
		require.NotContains(t, i.Holds, "--")
	}
	require.ElementsMatch(t, files, append(named, "counts.sql", "scopes.sql", "fences_stored.sql"))
	require.IsIncreasing(t, named)
}
