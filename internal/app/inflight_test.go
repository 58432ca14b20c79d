package app

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

func TestMetricsReportTheLoad(t *testing.T) {
	t.Parallel()
	a, _ := launch(t, "--auth=dev", "--database-url="+dbtest.New(t), "--max-in-flight=7")
	lines := strings.Split(figures(t, a), "\n")
	for _, line := range []string{
		`carve_requests_in_flight 0`, // the request for metrics itself needs no slot
		`carve_requests_in_flight_max 7`,
		`carve_queue_waiting 0`,
		`carve_queue_longest 0`,
		`carve_requests_shed_total{reason="in_flight"} 0`,
		`carve_requests_shed_total{reason="caller"} 0`,
		`carve_requests_shed_total{reason="pool"} 0`,
	} {
		require.Contains(t, lines, line)
	}
}

func TestInFlightFlagsAreValidated(t *testing.T) {
	t.Parallel()
	for flag, wrong := range map[string]string{
		"--max-in-flight=0": "", "--max-in-flight=1": "", "--max-in-flight=100000": "",
		"--max-waiting=0": "", "--max-waiting=1": "", "--max-waiting=-1": "--max-waiting", "--max-waiting=100001": "--max-waiting",
		"--max-in-flight=-1": "--max-in-flight", "--max-in-flight=100001": "--max-in-flight",
	} {
		_, _, err := ParseConfig([]string{"--auth=dev", flag}, nil)
		if wrong == "" {
			require.NoError(t, err, flag)
		} else {
			require.ErrorContains(t, err, wrong)
		}
	}
	c, _, err := ParseConfig([]string{"--auth=dev"}, nil)
	require.NoError(t, err)
	require.Positive(t, c.MaxInFlight, "bounded unless somebody says otherwise")
	require.Equal(t, c.MaxInFlight, maxWaiting(c))
	c.MaxWaiting = 5
	require.Equal(t, 5, maxWaiting(c))
}
