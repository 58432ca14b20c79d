package crdb

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
)

// A long transaction holds back the position of the feed. The feed is then read from shortly before the start of that transaction, and not from the
// start of the server.
func TestFeedPositionHeldBackLongReadsFromItsTransaction(t *testing.T) {
	t.Parallel()
	begin := time.Date(2026, 11, 27, 0, 0, 0, 0, time.UTC)
	f := &feedClock{}
	var place storage.FeedPosition
	for second := range 300 {
		now := begin.Add(time.Duration(second) * time.Second)
		seen := feedSeen{at: now, oldest: strconv.Itoa(1000 + min(second, 30)), next: strconv.Itoa(1000 + second), checkpoint: "0/1"}
		var lasts bool
		place, lasts = f.observe(postgres{}, seen, storage.FeedPage{Now: storage.FeedState{Secret: "s"}}, now)
		require.True(t, lasts)
	}
	require.Equal(t, "1030", place.Commit)
	require.Equal(t, begin.Add(30*time.Second-storage.LatestRecord), place.Since)
	require.LessOrEqual(t, len(f.seen), feedSeenMax)
}
