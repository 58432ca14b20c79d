package audit_test

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/audit"
)

// What an audit says that it proved is what it looked at: every statement, but the one that counts, the one whose findings bear the
// name of another, and the one that reads the fences with which another's counts are compared.
func TestTheInvariantsOfAnAuditAreNamed(t *testing.T) {
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
