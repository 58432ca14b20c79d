package bench

import (
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sys/unix"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// BenchmarkTracing claims and releases over HTTP with 32 clients. It compares three servers in turn: one without traces, one that samples no request,
// and one that samples all requests. Each server has its own database and exports to a collector on this machine. It reports the pairs of claim and
// release per second without traces, and the fraction of that rate at the other servers. It also reports the processor time of this process per pair.
// Other load on the machine changes that figure less. It includes the clients and the collector, but not the database.
func BenchmarkTracing(b *testing.B) {
	const clients, turns, turn = 32, 20, 500 * time.Millisecond
	sink := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { _, _ = io.Copy(io.Discard, r.Body) }))
	b.Cleanup(sink.Close)
	type way struct {
		name, exporter, sampler string
		c                       *caller
		project                 string
		n                       int64
		cpu                     time.Duration
	}
	ways := []*way{
		{name: "off", exporter: "none"}, {name: "off-again", exporter: "none"}, {name: "unsampled", exporter: "otlp", sampler: "always_off"},
		{name: "tenth", exporter: "otlp", sampler: "traceidratio"}, {name: "sampled", exporter: "otlp", sampler: "always_on"},
	}
	b.Setenv("OTEL_EXPORTER_OTLP_TRACES_ENDPOINT", sink.URL)
	b.Setenv("OTEL_TRACES_SAMPLER_ARG", "0.1")
	for _, w := range ways {
		b.Setenv("OTEL_TRACES_EXPORTER", w.exporter)
		b.Setenv("OTEL_TRACES_SAMPLER", w.sampler)
		dsn := dbtest.New(b)
		server := serve(b, dsn, "--auth=keys", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-reads=0")
		w.project, w.c = server.as(bootstrap(b, dsn)).settle(b, 1)
	}
	b.ResetTimer()
	for range b.N {
		for range turns {
			_, err := ways[0].c.pairs(b.Context(), ways[0].project, obj{"poolRef": obj{"name": "default"}}, clients, turn) // meanwhile the last server sends its spans
			require.NoError(b, err)
			for _, w := range ways {
				before := processorTime(b)
				pairs, err := w.c.pairs(b.Context(), w.project, obj{"poolRef": obj{"name": "default"}}, clients, turn)
				require.NoError(b, err)
				w.n, w.cpu = w.n+pairs, w.cpu+processorTime(b)-before
			}
		}
	}
	b.StopTimer()
	b.ReportMetric(float64(ways[0].n)/(float64(b.N*turns)*turn.Seconds()), "off-pairs/s")
	for _, w := range ways[1:] {
		b.ReportMetric(float64(w.n)/float64(ways[0].n), w.name+"/off")
		b.ReportMetric(float64(w.cpu)/float64(w.n)/(float64(ways[0].cpu)/float64(ways[0].n)), w.name+"-cpu/off")
	}
}

// processorTime returns the processor time that this process has used.
func processorTime(tb testing.TB) time.Duration {
	tb.Helper()
	var used unix.Rusage
	require.NoError(tb, unix.Getrusage(unix.RUSAGE_SELF, &used))
	return time.Duration(used.Utime.Nano() + used.Stime.Nano())
}
