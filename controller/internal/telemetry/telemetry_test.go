package telemetry_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"testing"

	"github.com/go-logr/logr"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"
	ctrl "sigs.k8s.io/controller-runtime"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/carve-ipam/carve/controller/internal/telemetry"
)

func TestLogHasTheFieldsOfTheServersLog(t *testing.T) {
	t.Parallel()
	var out bytes.Buffer
	log := logr.FromSlogHandler(telemetry.NewLog(&out, slog.LevelDebug, "json").Handler())
	log.V(1).Error(errors.New("away"), "renewing pods", "pods", 3)
	log.V(3).Info("a detail")
	var line map[string]any
	lines := bytes.Split(out.Bytes(), []byte("\n"))
	require.NoError(t, json.Unmarshal(lines[0], &line))
	delete(line, "time")
	assert.Equal(t, map[string]any{"level": "ERROR", "msg": "renewing pods", "error": "away", "pods": 3.0}, line)
	assert.Contains(t, string(lines[1]), `"level":"DEBUG"`)

	out.Reset()
	telemetry.NewLog(&out, slog.LevelWarn, "text").Info("nobody hears it")
	assert.Empty(t, out.String())
}

// TestCallToCarveIsAChildOfTheReconcilersSpan checks that a call to Carve belongs to the reconciler's trace, and that the log has the trace's ID.
func TestCallToCarveIsAChildOfTheReconcilersSpan(t *testing.T) {
	var sent, said, spans bytes.Buffer
	env := map[string]string{"OTEL_TRACES_EXPORTER": "console"}
	end, err := telemetry.Trace(t.Context(), "v1", func(name string) string { return env[name] }, &spans, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	server := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { sent.WriteString(r.Header.Get("Traceparent")) }))
	t.Cleanup(server.Close)
	client := http.Client{Transport: &telemetry.Carve{Next: http.DefaultTransport}}
	r := telemetry.Traced("claim", reconcile.Func(func(ctx context.Context, _ reconcile.Request) (reconcile.Result, error) {
		ctrl.LoggerFrom(ctx).Info("works")
		request, err := http.NewRequestWithContext(ctx, http.MethodGet, server.URL, http.NoBody)
		require.NoError(t, err)
		answer, err := client.Do(request)
		require.NoError(t, err)
		return reconcile.Result{}, answer.Body.Close()
	}))
	ctx := ctrl.LoggerInto(t.Context(), logr.FromSlogHandler(telemetry.NewLog(&said, slog.LevelInfo, "json").Handler()))
	_, err = r.Reconcile(ctx, reconcile.Request{})
	require.NoError(t, err)
	require.NoError(t, end(t.Context()))
	var line struct {
		Trace string `json:"trace_id"`
	}
	require.NoError(t, json.Unmarshal(said.Bytes(), &line))
	require.Len(t, line.Trace, 32)
	assert.Contains(t, sent.String(), "00-"+line.Trace+"-")
	assert.Contains(t, spans.String(), `"Name":"reconcile claim"`)
	assert.Contains(t, spans.String(), `"Name":"carve GET"`)
}

func TestInvalidTracingVariablesAreRefused(t *testing.T) {
	t.Parallel()
	for name, env := range map[string]map[string]string{
		"OTEL_TRACES_EXPORTER": {"OTEL_TRACES_EXPORTER": "zipkin"},
		"grpc":                 {"OTEL_EXPORTER_OTLP_ENDPOINT": "http://127.0.0.1:1", "OTEL_EXPORTER_OTLP_PROTOCOL": "grpc"},
	} {
		_, err := telemetry.Trace(t.Context(), "v1", func(name string) string { return env[name] }, nil, nil)
		assert.ErrorContains(t, err, name)
	}
	for _, env := range []map[string]string{{}, {"OTEL_SDK_DISABLED": "true", "OTEL_TRACES_EXPORTER": "zipkin"}, {"OTEL_TRACES_EXPORTER": "none"}} {
		end, err := telemetry.Trace(t.Context(), "v1", func(name string) string { return env[name] }, nil, nil)
		require.NoError(t, err)
		require.NoError(t, end(t.Context()))
	}
}
