package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

func TestStaleReads(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 2, 12, 0, 0, 123456000, time.UTC)

	t.Run("AreAskedForByTheContextAlone", func(t *testing.T) {
		t.Parallel()
		require.False(t, storage.IsStale(t.Context()))
		storage.NoteReadAt(t.Context(), noon)
		require.Zero(t, storage.ReadAt(t.Context()))
	})
	t.Run("AreOfNoMomentBeforeTheFirst", func(t *testing.T) {
		t.Parallel()
		ctx := storage.Stale(t.Context())
		require.True(t, storage.IsStale(ctx))
		require.Zero(t, storage.ReadAt(ctx))
	})
	t.Run("AreOfTheEarliestMomentOfSeveral", func(t *testing.T) {
		t.Parallel()
		ctx := storage.Stale(t.Context())
		for _, at := range []time.Time{noon, noon.Add(-time.Second), noon.Add(time.Hour)} {
			storage.NoteReadAt(ctx, at)
		}
		require.Equal(t, noon.Add(-time.Second), storage.ReadAt(ctx))
	})
}
