package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
)

func TestStaleReads(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 2, 12, 0, 0, 123456000, time.UTC)

	t.Run("AreAskedForByTheContextAlone", func(t *testing.T) {
		t.Parallel()
		require.False(t, alloc.IsStale(t.Context()))
		alloc.NoteReadAt(t.Context(), noon)
		require.Zero(t, alloc.ReadAt(t.Context()))
	})
	t.Run("AreOfNoMomentBeforeTheFirst", func(t *testing.T) {
		t.Parallel()
		ctx := alloc.Stale(t.Context())
		require.True(t, alloc.IsStale(ctx))
		require.Zero(t, alloc.ReadAt(ctx))
	})
	t.Run("AreOfTheEarliestMomentOfSeveral", func(t *testing.T) {
		t.Parallel()
		ctx := alloc.Stale(t.Context())
		for _, at := range []time.Time{noon, noon.Add(-time.Second), noon.Add(time.Hour)} {
			alloc.NoteReadAt(ctx, at)
		}
		require.Equal(t, noon.Add(-time.Second), alloc.ReadAt(ctx))
	})
}
