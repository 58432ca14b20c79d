package cli_test

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestUtilizationIsDrawnWithItsForecast(t *testing.T) {
	t.Parallel()
	filled := ok(example(t, "PoolUtilization"))
	d := answering(t, filled, filled, filled, filled)
	r := d.run("pool", "utilization", "prod-eu", "-o", "wide")
	requireGolden(t, "pool-utilization", r.out)
	require.Contains(t, r.err, "full in ")
	require.Contains(t, r.err, "at 2026-04-11T16:00:00Z, if it grows as in the last 14 days: 1.84% a day")
	require.Equal(t, "22.80%\n24.10%\n25.41%\n", d.run("pool", "utilization", "prod-eu", "-q").out)
	require.JSONEq(t, string(filled.body), d.run("pool", "utilization", "prod-eu", "-o", "json").out)
	d.done("pool", "utilization", "prod-eu", "--since", "2026-03-01T00:00:00Z", "--until", "2026-03-02T00:00:00Z", "--points", "2")
	all := d.requests()
	require.Equal(t, "/v1/projects/team-a/pools/prod-eu/utilization?since=2026-03-01T00%3A00%3A00Z&until=2026-03-02T00%3A00%3A00Z&points=2", all[3].uri)
	require.Equal(t, 2, d.run("pool", "utilization", "prod-eu", "--since", "yesterday").code)
}
