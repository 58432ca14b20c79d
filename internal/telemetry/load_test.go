package telemetry

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestLoadIsReadAtScrapeTime(t *testing.T) {
	t.Parallel()
	m, read := measured(t)
	now := Load{InFlight: 3, MaxInFlight: 8, Waiting: 2, Longest: 1, Followers: 7, Followed: 4, Shed: map[string]int64{"pool": 5, "caller": 0}}
	require.NoError(t, m.WatchLoad(func() Load { return now }))
	require.Equal(t, map[string]int64{"reason=pool": 5, "reason=caller": 0}, values(t, read("carve.requests.shed")))
	now.Shed["pool"] = 6
	require.EqualValues(t, 6, values(t, read("carve.requests.shed"))["reason=pool"])
	require.NoError(t, m.Shutdown(t.Context()))

	m, err := New(t.Context(), Options{Env: environment("", "")})
	require.NoError(t, err)
	require.NoError(t, m.WatchLoad(func() Load { return now }))
	text := scrape(t, m)
	for _, line := range []string{
		`carve_requests_in_flight 3`, `carve_requests_in_flight_max 8`, `carve_queue_waiting 2`, `carve_queue_longest 1`, `carve_feed_followers 7`, `carve_feed_projects 4`,
		`carve_requests_shed_total{reason="pool"} 6`, `carve_requests_shed_total{reason="caller"} 0`,
	} {
		require.Contains(t, text, "\n"+line+"\n")
	}
	require.NoError(t, m.Shutdown(t.Context()))
}
