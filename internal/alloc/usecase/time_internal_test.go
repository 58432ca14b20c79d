package usecase

import (
	"bytes"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

func TestEventIDsOfAProjectAreConsecutiveInOrder(t *testing.T) {
	t.Parallel()
	blue, red := ipam.ID{1}, ipam.ID{2}
	begun := time.Date(2026, 11, 23, 8, 0, 0, 0, time.UTC)
	made := make([]ipam.Event, 140_000) // more events than the counter in an id can count
	for i := range made {
		made[i] = ipam.Event{ID: ipam.NewTimeID(begun), ProjectID: blue}
		if i%3 == 1 {
			made[i].ProjectID = red
		}
	}
	first, again := slices.Clone(made), slices.Clone(made)
	at := begun.Add(1234 * time.Microsecond)
	record(first, at)
	record(again, at)
	require.Equal(t, first, again, "a transaction that runs again writes the same")
	last, seen := map[ipam.ID]ipam.ID{}, map[ipam.ID]bool{}
	runs := 0
	for i := range first {
		e := &first[i]
		require.Equal(t, at, e.At)
		require.Equal(t, at, e.ID.Time())
		require.Equal(t, byte(0x70), e.ID[6]&0xf0, "version 7")
		require.Equal(t, byte(0x80), e.ID[8]&0xc0)
		require.False(t, seen[e.ID])
		seen[e.ID] = true
		if was := last[e.ProjectID]; was.Next() != e.ID || bytes.Compare(was[:], e.ID[:]) > 0 {
			runs++
		}
		last[e.ProjectID] = e.ID
	}
	require.Equal(t, 3, runs, "two of 93,333 events and one of 46,667")
}
