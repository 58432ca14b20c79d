package telemetry

import (
	"fmt"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.opentelemetry.io/otel/attribute"
	sdk "go.opentelemetry.io/otel/sdk/metric"
	"go.opentelemetry.io/otel/sdk/metric/metricdata"

	"github.com/carve-ipam/carve/internal/ipam"
)

// measured returns metrics, and a function that reads one of them.
func measured(t *testing.T, options ...sdk.Option) (m *Metrics, read func(name string) metricdata.Metrics) {
	t.Helper()
	reader := sdk.NewManualReader()
	m, err := newMetrics(sdk.NewMeterProvider(append(options, sdk.WithReader(reader))...))
	require.NoError(t, err)
	return m, func(name string) metricdata.Metrics {
		t.Helper()
		var all metricdata.ResourceMetrics
		require.NoError(t, reader.Collect(t.Context(), &all))
		for _, s := range all.ScopeMetrics {
			for _, got := range s.Metrics {
				if got.Name == name {
					return got
				}
			}
		}
		require.Failf(t, "not measured", "%s in %v", name, all)
		return metricdata.Metrics{}
	}
}

// values returns the points of a sum, by their labels as text.
func values(t *testing.T, m metricdata.Metrics) map[string]int64 {
	t.Helper()
	sum, ok := m.Data.(metricdata.Sum[int64])
	require.True(t, ok)
	out := map[string]int64{}
	for _, p := range sum.DataPoints {
		out[p.Attributes.Encoded(attribute.DefaultEncoder())] = p.Value
	}
	require.Len(t, out, len(sum.DataPoints))
	return out
}

func TestClaimsAreCountedByClassAndOutcome(t *testing.T) {
	t.Parallel()
	m, read := measured(t)
	m.ClaimDecided(t.Context(), "platform/small", "")
	m.ClaimDecided(t.Context(), "platform/small", "")
	m.ClaimDecided(t.Context(), "platform/small", ipam.CodePoolExhausted)
	m.ClaimDecided(t.Context(), "", ipam.CodeNoDefaultClass)
	require.Equal(t, map[string]int64{
		"class=platform/small,outcome=bound":          2,
		"class=platform/small,outcome=pool_exhausted": 1,
		"class=,outcome=no_default_class":             1,
	}, values(t, read("carve.claims")))
}

// One tenant may create and delete any number of classes. The classes of other tenants must keep labels of their own.
func TestManyClassesOfOneTenantDoNotHideOthers(t *testing.T) {
	t.Parallel()
	n := newNames(maxClasses)
	let := 0
	for i := range 1100 {
		if n.admit(fmt.Sprintf("greedy/class-%d", i)) != otherNames {
			let++
		}
	}
	require.Positive(t, let)
	require.LessOrEqual(t, let, maxClasses/projectShare+1)
	for i := range 100 {
		for j := range 4 {
			name := fmt.Sprintf("team-%d/class-%d", i, j)
			require.Equal(t, name, n.admit(name))
		}
	}
	for i := range 300 {
		name := fmt.Sprintf("%s/class-%d", ipam.PlatformProject, i)
		require.Equal(t, name, n.admit(name), "only the platform's admins make those")
	}
	require.Equal(t, "greedy/class-0", n.admit("greedy/class-0"), "one that is known goes on")
}

func TestClassesBeyondTheLimitAreCountedTogether(t *testing.T) {
	t.Parallel()
	m, read := measured(t, sdk.WithCardinalityLimit(maxSeries))
	for i := range maxClasses + 50 {
		m.ClaimDecided(t.Context(), fmt.Sprintf("team-%d/class", i), "")
	}
	m.ClaimDecided(t.Context(), "team-1049/class", ipam.CodePoolExhausted)
	m.ClaimDecided(t.Context(), "team-999/class", ipam.CodePoolExhausted)
	m.ClaimDecided(t.Context(), "", "")

	got := values(t, read("carve.claims"))
	require.Len(t, got, maxClasses+4)
	for labels, want := range map[string]int64{
		"class=team-0/class,outcome=bound":            1,
		"class=team-999/class,outcome=bound":          1,
		"class=team-999/class,outcome=pool_exhausted": 1, // a class that has a label of its own keeps it
		"class=other,outcome=bound":                   50,
		"class=other,outcome=pool_exhausted":          1, // the outcome of the other classes is still visible
		"class=,outcome=bound":                        1, // a claim without a class does not count as other
	} {
		require.Equal(t, want, got[labels], labels)
	}
}

func TestClassLimitHoldsUnderConcurrency(t *testing.T) {
	t.Parallel()
	const limit = 8
	n := newNames(limit)
	var running sync.WaitGroup
	let := make([][]string, 4)
	for g := range let {
		running.Go(func() {
			for i := range 10 * limit {
				let[g] = append(let[g], n.admit(fmt.Sprintf("%d-%d/class", g, i)))
			}
		})
	}
	running.Wait()
	through := map[string]bool{}
	for _, names := range let {
		for _, name := range names {
			through[name] = true
		}
	}
	require.Len(t, through, limit+1, "the first ones, and other")
}

func TestSeriesBeyondTheSDKLimitAreCountedTogether(t *testing.T) {
	t.Parallel()
	const limit = 10
	m, read := measured(t, sdk.WithCardinalityLimit(limit))
	for i := range 3 * limit {
		m.AttemptEnded(t.Context(), fmt.Sprintf("op_%d", i), "committed", "")
	}
	got := values(t, read("carve.tx.attempts"))
	require.Len(t, got, limit)
	require.EqualValues(t, 1, got["end=committed,op=op_0,sqlstate="])
	require.EqualValues(t, 2*limit+1, got["otel.metric.overflow=true"], "nothing is lost from the sum")
}

func TestRequestsAreLabelledByRouteNotByPath(t *testing.T) {
	t.Parallel()
	m, read := measured(t)
	m.RequestServed(t.Context(), http.MethodPost, "/v1/projects/:project/claims", "createClaim", http.StatusCreated, 3*time.Millisecond)
	m.RequestServed(t.Context(), "BREW", "", "", http.StatusNotFound, time.Minute)
	got := read("http.server.request.duration")
	require.Equal(t, "s", got.Unit)
	data, ok := got.Data.(metricdata.Histogram[float64])
	require.True(t, ok)
	labels := make([]attribute.Set, 0, len(data.DataPoints))
	for _, p := range data.DataPoints {
		labels = append(labels, p.Attributes)
	}
	require.ElementsMatch(t, []attribute.Set{
		attribute.NewSet(
			attribute.String("http.request.method", "POST"), attribute.String("http.route", "/v1/projects/:project/claims"),
			attribute.Int("http.response.status_code", 201), attribute.String("operation", "createClaim"),
		),
		attribute.NewSet(
			attribute.String("http.request.method", "_OTHER"), attribute.String("http.route", ""),
			attribute.Int("http.response.status_code", 404), attribute.String("operation", ""),
		),
	}, labels)
	require.Equal(t, requestBuckets, data.DataPoints[0].Bounds)
}

func TestGroupSizesAndAttemptsAreRecorded(t *testing.T) {
	t.Parallel()
	m, read := measured(t)
	m.GroupRan(t.Context(), 1)
	m.GroupRan(t.Context(), 64)
	groups, ok := read("carve.group.size").Data.(metricdata.Histogram[int64])
	require.True(t, ok)
	require.Len(t, groups.DataPoints, 1)
	require.EqualValues(t, 65, groups.DataPoints[0].Sum)
	require.Equal(t, []uint64{1, 0, 0, 0, 0, 0, 1, 0}, groups.DataPoints[0].BucketCounts, "the largest group has a bucket of its own")

	m.AttemptEnded(t.Context(), "claim_group", "again", "40001")
	m.AttemptEnded(t.Context(), "claim_group", "committed", "")
	require.Equal(t, map[string]int64{
		"end=again,op=claim_group,sqlstate=40001": 1,
		"end=committed,op=claim_group,sqlstate=":  1,
	}, values(t, read("carve.tx.attempts")))
}

func TestConnectionsAreReadAtScrapeTime(t *testing.T) {
	t.Parallel()
	m, read := measured(t)
	now := Connections{Used: 1, Idle: 2, Max: 8, Waits: 3}
	require.NoError(t, m.WatchConnections(func() Connections { return now }))
	const used, idle = "db.client.connection.state=used", "db.client.connection.state=idle"
	require.Equal(t, map[string]int64{used: 1, idle: 2}, values(t, read("db.client.connection.count")))
	now.Used, now.Idle = 5, 0
	require.Equal(t, map[string]int64{used: 5, idle: 0}, values(t, read("db.client.connection.count")))
	require.Equal(t, map[string]int64{"": 8}, values(t, read("db.client.connection.max")))
	require.Equal(t, map[string]int64{"": 3}, values(t, read("carve.db.waits")))
}
