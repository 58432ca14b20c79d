package app

import (
	"compress/gzip"
	"encoding/hex"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	collectmetrics "go.opentelemetry.io/proto/otlp/collector/metrics/v1"
	collecttraces "go.opentelemetry.io/proto/otlp/collector/trace/v1"
	common "go.opentelemetry.io/proto/otlp/common/v1"
	metricspb "go.opentelemetry.io/proto/otlp/metrics/v1"
	tracespb "go.opentelemetry.io/proto/otlp/trace/v1"
	"google.golang.org/protobuf/proto"
)

// collector receives OTLP exports over HTTP and stores them.
type collector struct {
	*httptest.Server

	mu      sync.Mutex
	spans   []*tracespb.Span
	metrics map[string]*metricspb.Metric
	service map[string]bool // service names in the exports
}

// collect starts a collector. The servers of this test export to it.
func collect(t *testing.T) *collector {
	t.Helper()
	c := &collector{metrics: map[string]*metricspb.Metric{}, service: map[string]bool{}}
	c.Server = httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body := io.Reader(r.Body)
		if r.Header.Get("Content-Encoding") == "gzip" {
			unpacked, err := gzip.NewReader(r.Body)
			if !assert.NoError(t, err) {
				return
			}
			body = unpacked
		}
		data, err := io.ReadAll(body)
		assert.NoError(t, err)
		c.mu.Lock()
		defer c.mu.Unlock()
		switch r.URL.Path {
		case "/v1/traces":
			var in collecttraces.ExportTraceServiceRequest
			assert.NoError(t, proto.Unmarshal(data, &in))
			for _, of := range in.GetResourceSpans() {
				c.service[textOf(of.GetResource().GetAttributes(), "service.name")] = true
				for _, scope := range of.GetScopeSpans() {
					c.spans = append(c.spans, scope.GetSpans()...)
				}
			}
		case "/v1/metrics":
			var in collectmetrics.ExportMetricsServiceRequest
			assert.NoError(t, proto.Unmarshal(data, &in))
			for _, of := range in.GetResourceMetrics() {
				for _, scope := range of.GetScopeMetrics() {
					for _, m := range scope.GetMetrics() {
						c.metrics[m.GetName()] = m
					}
				}
			}
		default:
			assert.Fail(t, "no such signal", r.URL.Path)
		}
	}))
	t.Cleanup(c.Close)
	t.Setenv("OTEL_EXPORTER_OTLP_ENDPOINT", c.URL)
	return c
}

// trace returns the spans of a trace, ordered by start time.
func (c *collector) trace(id string) []*tracespb.Span {
	c.mu.Lock()
	defer c.mu.Unlock()
	var out []*tracespb.Span
	for _, s := range c.spans {
		if hex.EncodeToString(s.GetTraceId()) == id {
			out = append(out, s)
		}
	}
	slices.SortStableFunc(out, func(a, b *tracespb.Span) int {
		return int(int64(a.GetStartTimeUnixNano()) - int64(b.GetStartTimeUnixNano()))
	})
	return out
}

// tree returns the names of the spans below a span. Each level is indented.
func tree(spans []*tracespb.Span, parent []byte, depth int) (lines []string) {
	for _, s := range spans {
		if string(s.GetParentSpanId()) == string(parent) {
			lines = append(lines, strings.Repeat("  ", depth)+s.GetName())
			lines = append(lines, tree(spans, s.GetSpanId(), depth+1)...)
		}
	}
	return lines
}

// the returns the only span that has a name.
func the(t *testing.T, spans []*tracespb.Span, name string) *tracespb.Span {
	t.Helper()
	found := named(spans, name)
	require.Len(t, found, 1, name)
	return found[0]
}

func named(spans []*tracespb.Span, name string) (out []*tracespb.Span) {
	for _, s := range spans {
		if s.GetName() == name {
			out = append(out, s)
		}
	}
	return out
}

// attributes returns a span's attributes as Go values.
func attributes(s *tracespb.Span) map[string]any {
	out := map[string]any{}
	for _, kv := range s.GetAttributes() {
		switch v := kv.GetValue().GetValue().(type) {
		case *common.AnyValue_StringValue:
			out[kv.GetKey()] = v.StringValue
		case *common.AnyValue_IntValue:
			out[kv.GetKey()] = v.IntValue
		case *common.AnyValue_DoubleValue:
			out[kv.GetKey()] = v.DoubleValue
		case *common.AnyValue_BoolValue:
			out[kv.GetKey()] = v.BoolValue
		}
	}
	return out
}

func textOf(of []*common.KeyValue, key string) string {
	for _, kv := range of {
		if kv.GetKey() == key {
			return kv.GetValue().GetStringValue()
		}
	}
	return ""
}

// known returns the names of the received metrics.
func (c *collector) known() []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Sorted(maps.Keys(c.metrics))
}
