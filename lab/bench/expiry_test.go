package bench

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
	"github.com/carve-ipam/carve/lab/latency"
)

// The consumers in the benchmark's realm. Some stay, and the others expire. Each expiring consumer has a claim, which the service releases at the
// consumer's end.
const (
	living   = 90_000
	expiring = 10_000
	timeLeft = 15 * time.Second // time to live of the expiring consumers after the last renewal
	goneIn   = 3 * time.Minute  // limit for the end of all expired consumers
)

// realm holds the fields of a realm that the benchmark reads.
type realm struct {
	Live, Expired int
	Held          bool
}

// BenchmarkExpiry lets 10,000 of 100,000 consumers expire together. The service must hold their end until the expiry is confirmed. Then the benchmark
// waits until the consumers and their claims are gone, and reports that duration. Meanwhile 100 other projects claim at a steady pace. It reports the
// 95th percentile of their claims without expiry, while the ends are held, and during the ends. The ratio of two measurements without expiry shows
// the noise.
func BenchmarkExpiry(b *testing.B) {
	dsn := dbtest.New(b)
	free := []string{"--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-reads=0"}
	server := serve(b, dsn, append(free, "--auth=keys")...)
	root := server.as(bootstrap(b, dsn))
	n := &neighbourhood{}
	for i := range neighbours {
		n.add(root.settle(b, i))
	}
	n.live(b, period) // opens connections, prepares statements and fills caches
	var alone, held, beside, again []time.Duration
	var gone time.Duration
	b.ResetTimer()
	for i := range b.N {
		project, _ := root.settle(b, neighbours+i)
		root.populate(b, dsn, project)
		alone = append(alone, n.live(b, phase)...)
		at := "/" + project + "/realms/default"
		var state realm
		require.Eventually(b, func() bool {
			root.read(b, at, &state)
			return state.Held && state.Expired == expiring
		}, goneIn, time.Second/4)
		held = append(held, n.live(b, phase)...)
		root.read(b, at, &state)
		require.Equal(b, realm{living + expiring, expiring, true}, state, "the breaker holds")

		began := time.Now()
		status, err := root.send(b.Context(), http.MethodPost, at+"/expiry-confirmations", nil, nil)
		require.NoError(b, err)
		require.Equal(b, http.StatusOK, status)
		over, stop := context.WithCancel(b.Context())
		var others sync.WaitGroup
		others.Go(func() {
			for over.Err() == nil {
				beside = append(beside, n.live(b, period)...)
			}
		})
		require.Eventually(b, func() bool {
			var claims struct{ Items []obj }
			root.read(b, "/"+project+"/claims?limit=1", &claims)
			root.read(b, at, &state)
			return len(claims.Items) == 0 && state.Live == living
		}, goneIn, time.Second/4)
		gone += time.Since(began)
		stop()
		others.Wait()
		again = append(again, n.live(b, phase)...)
	}
	b.StopTimer()
	before, afterwards, both := p95(alone), p95(again), p95(slices.Concat(alone, again))
	b.ReportMetric(0, "ns/op") // this figure has no meaning here
	b.ReportMetric(gone.Seconds()/float64(b.N), "gone-s")
	b.ReportMetric(latency.Milliseconds(both), "p95-alone-ms")
	b.ReportMetric(float64(p95(held))/float64(both), "held/alone")
	b.ReportMetric(float64(p95(beside))/float64(both), "ending/alone")
	b.ReportMetric(float64(max(before, afterwards))/float64(min(before, afterwards)), "noise")
	report, err := audit.Run(b.Context(), dsn)
	require.NoError(b, err)
	require.Empty(b, report.Findings)
}

func (c *caller) read(t testing.TB, path string, into any) {
	t.Helper()
	status, err := c.send(t.Context(), http.MethodGet, path, nil, into)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, path)
}

// populate makes the consumers of a project. The expiring ones are made over HTTP with their claims, and the others are copies of one consumer.
func (c *caller) populate(t testing.TB, dsn, project string) {
	t.Helper()
	const atOnce = 1000
	c.create(t, http.MethodPut, "/"+project+"/realms/default/consumers/lives", obj{"spec": obj{}}, nil)
	conn := dbtest.Connect(t, dsn, nil)
	_, err := conn.Exec(t.Context(), `
		INSERT INTO consumers
		SELECT (jsonb_populate_record(c, jsonb_build_object('uid', c.uid || '-' || n))).*
		FROM consumers AS c CROSS JOIN generate_series(1, $1::int4) AS s (n)
		WHERE c.uid = 'lives'`, living-1)
	require.NoError(t, err)
	c.create(t, http.MethodPost, "/"+project+"/pools", obj{"metadata": obj{"name": "many"}, "spec": obj{"cidr": "172.16.0.0/16"}}, nil)
	var all [][]string
	for first := 0; first < expiring; first += atOnce {
		var claims []obj
		var uids []string
		for i := range atOnce {
			uid := fmt.Sprint("lost-", first+i)
			uids = append(uids, uid)
			claims = append(claims, obj{"metadata": obj{"name": uid}, "spec": obj{
				"poolRef": obj{"name": "many"}, "prefixLength": 32, "whenUnused": "Delete", "consumers": []obj{{"uid": uid, "ttlSeconds": 3600}},
			}})
		}
		c.create(t, http.MethodPost, "/"+project+"/claim-batches", obj{"claims": claims}, nil)
		all = append(all, uids)
	}
	for _, uids := range all {
		status, err := c.send(t.Context(), http.MethodPost, "/"+project+"/consumer-renewals", obj{"consumers": uids, "ttlSeconds": int(timeLeft.Seconds())}, nil)
		require.NoError(t, err)
		require.Equal(t, http.StatusOK, status)
	}
	// All consumers must expire together. If their times were spread like the renewals, the first group would be less than a tenth.
	_, err = conn.Exec(t.Context(), "UPDATE consumers SET expires_at = now() + make_interval(secs => $1) WHERE uid LIKE 'lost-%'", timeLeft.Seconds())
	require.NoError(t, err)
}
