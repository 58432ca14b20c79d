package main

import (
	"path/filepath"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
)

// What takes no compiler is made twice, and is equal.
func TestChartsAndTheModuleAreTheSameTwice(t *testing.T) {
	t.Parallel()
	dirs := []string{t.TempDir(), t.TempDir()}
	for _, dir := range dirs {
		root, err := filepath.Abs(repo)
		require.NoError(t, err)
		r, err := newRelease(root, dir, "")
		require.NoError(t, err)
		defer r.clean()
		require.NoError(t, r.charts(t.Context()))
		require.NoError(t, r.module(t.Context()))
		require.NoError(t, r.sums())
	}
	require.NoError(t, verify(dirs[0], dirs[1]))
	names, err := filesIn(dirs[0])
	require.NoError(t, err)
	assert.Contains(t, names, "carve-chart-"+released(t)+".tgz")
	assert.Contains(t, names, "goproxy/github.com/carve-ipam/carve/@v/v"+released(t)+".zip")
}

func released(t *testing.T) string {
	t.Helper()
	v, err := version(repo)
	require.NoError(t, err)
	return v
}
