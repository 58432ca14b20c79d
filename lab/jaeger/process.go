package jaeger

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"time"

	"github.com/carve-ipam/carve/lab/apicall"
	"github.com/carve-ipam/carve/lab/loopback"
	"github.com/carve-ipam/carve/lab/serverproc"
)

// stopLimit is the time within which Jaeger must end.
const stopLimit = 30 * time.Second

// jaeger is a running Jaeger.
type jaeger struct {
	*serverproc.Process
	otlp, query string
}

// startJaeger starts Jaeger and returns when it responds. All its listeners are on loopback.
func startJaeger(ctx context.Context, program, data string) (*jaeger, error) {
	flags := []string{
		"collector.otlp.http.host-port", "query.http-server.host-port", "collector.otlp.grpc.host-port", "collector.grpc-server.host-port",
		"collector.http-server.host-port", "query.grpc-server.host-port", "admin.http.host-port", "http-server.host-port",
		"processor.jaeger-binary.server-host-port", "processor.jaeger-compact.server-host-port", "processor.zipkin-compact.server-host-port",
	}
	at, err := loopback.Free(ctx, len(flags))
	if err != nil {
		return nil, err
	}
	args := []string{"--collector.otlp.enabled=true", "--log-level=warn"}
	for i, f := range flags {
		args = append(args, "--"+f+"="+at[i])
	}
	log, err := os.Create(filepath.Join(data, "jaeger.log"))
	if err != nil {
		return nil, err
	}
	defer log.Close()
	cmd := exec.Command(program, args...) //nolint:noctx // ended by Stop
	cmd.Env = append(os.Environ(), "SPAN_STORAGE_TYPE=memory")
	cmd.Stdout, cmd.Stderr = log, log
	p, err := serverproc.Spawn(cmd, stopLimit)
	if err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", program, err)
	}
	j := &jaeger{Process: p, otlp: "http://" + at[0], query: "http://" + at[1]}
	if err := until(ctx, func() error { return fetch(ctx, j.query+"/api/services", nil) }); err != nil {
		return nil, errors.Join(err, p.Stop())
	}
	return j, nil
}

// until retries until try succeeds or the context ends.
func until(ctx context.Context, try func() error) error {
	tick := time.NewTicker(100 * time.Millisecond)
	defer tick.Stop()
	for {
		err := try()
		if err == nil {
			return nil
		}
		select {
		case <-ctx.Done():
			return errors.Join(ctx.Err(), err)
		case <-tick.C:
		}
	}
}

// carve is the server.
type carve struct {
	*serverproc.Server
	api apicall.Caller
}

// startServer starts the server with its own database and returns when the server listens. The server traces each request.
func startServer(ctx context.Context, program, data, otlp string) (*carve, error) {
	s, err := serverproc.Start(ctx, serverproc.Options{
		Program: program, Args: []string{"--auth=dev"}, Data: filepath.Join(data, "data"),
		Env: append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+otlp, "OTEL_TRACES_EXPORTER=otlp", "OTEL_METRICS_EXPORTER=none", "OTEL_TRACES_SAMPLER=parentbased_always_on"),
	})
	if err != nil {
		return nil, err
	}
	return &carve{Server: s, api: apicall.Caller{URL: "http://" + s.Addr()}}, nil
}
