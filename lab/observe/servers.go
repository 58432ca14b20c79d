package observe

import (
	"context"
	"fmt"
	"os"

	"github.com/carve-ipam/carve/lab/serverproc"
)

// startServer starts a server whose queue for each pool is short, so that the server refuses some requests. The server sends its telemetry to a
// collector.
func startServer(ctx context.Context, binary, dsn, region, collector string, d *door) (*serverproc.Server, error) {
	s, err := serverproc.Start(ctx, serverproc.Options{
		Program: binary,
		Args: append(d.flags(),
			"--auth=dev", "--log-level=error", "--rate-limit-reads=0", "--rate-limit-writes=0", "--max-in-flight=256", "--max-waiting=4", "--max-connections=8",
			"--region="+region, "--database-url="+dsn, "--stock-runway=30s",
		),
		Env: append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.01",
			"OTEL_METRIC_EXPORT_INTERVAL=5000"),
		Log: os.Stderr,
	})
	if err != nil {
		return nil, fmt.Errorf("region %s: %w", region, err)
	}
	return s, nil
}
