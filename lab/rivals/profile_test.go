package rivals

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestProfileNamesAreUniqueAndValid(t *testing.T) {
	t.Parallel()
	require.Equal(t, "Carve-batch-of-1-000-8-clients-0-held.pprof", profileName(&result{Contestant: "Carve, batch of 1,000", Clients: 8}))
	require.Equal(t, "Carve-24-in-process-32-clients-50000-held.pprof", profileName(&result{Contestant: "Carve /24, in process", Clients: 32, Held: 50_000}))
	require.Equal(t, "etc-passwd-1-clients-0-held.pprof", profileName(&result{Contestant: "../etc/passwd", Clients: 1}))
	seen := map[string]bool{}
	for _, c := range plan(onPostgreSQL, 0, 0) {
		name := profileName(&result{Contestant: c.contestant.name, Clients: c.clients, Held: c.held})
		require.False(t, seen[name], "%s is overwritten by another cell", name)
		seen[name] = true
	}
}

//nolint:paralleltest // one processor profile at a time is all that a process can take
func TestProfileIsWrittenForTheRun(t *testing.T) {
	r := &result{Contestant: "x", Clients: 1}
	dir := filepath.Join(t.TempDir(), "new")
	ran := 0
	require.NoError(t, profiled(dir, r, func() { ran++ }))
	info, err := os.Stat(filepath.Join(dir, profileName(r)))
	require.NoError(t, err)
	require.Positive(t, info.Size())
	require.NoError(t, profiled("", r, func() { ran++ }), "without a directory there is none")
	require.Equal(t, 2, ran)
	require.Error(t, profiled(filepath.Join(dir, profileName(r)), r, func() { ran++ }), "a file is no directory")
	require.Equal(t, 2, ran)
}
