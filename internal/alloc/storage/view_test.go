package storage_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

func TestMomentIsTheEarliestOfSeveralReads(t *testing.T) {
	t.Parallel()
	noon := time.Date(2026, 3, 2, 12, 0, 0, 123456000, time.UTC)
	var m storage.Moment
	require.Zero(t, m.At(), "nothing was read")
	for _, at := range []time.Time{noon, noon.Add(-time.Second), noon.Add(time.Hour)} {
		m.Note(at)
	}
	require.Equal(t, noon.Add(-time.Second), m.At())
}
