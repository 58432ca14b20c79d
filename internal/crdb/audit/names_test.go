package audit_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/audit"
)

// Each SQL file of the audit is an invariant with the same name. Three files are exceptions: one counts rows, one has findings under another
// invariant's name, and one reads the stored version rows, which Go code compares.
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
