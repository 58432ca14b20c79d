package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"
)

// process is a program that was started here.
type process struct {
	cmd  *exec.Cmd
	once sync.Once
}

// stop ends it as an operator does, and waits for it.
func (p *process) stop() {
	p.once.Do(func() {
		_ = p.cmd.Process.Signal(syscall.SIGTERM)
		_ = p.cmd.Wait() // its log has the rest
	})
}

func start(ctx context.Context, cmd *exec.Cmd, log string) (*process, error) {
	file, err := os.Create(log)
	if err != nil {
		return nil, err
	}
	defer file.Close()
	cmd.Stderr = file
	if cmd.Stdout == nil {
		cmd.Stdout = file
	}
	cmd.WaitDelay = 30 * time.Second
	if err := cmd.Start(); err != nil {
		return nil, fmt.Errorf("cannot start %s: %w", cmd.Path, err)
	}
	return &process{cmd: cmd}, ctx.Err()
}

// free answers so many addresses of loopback that nobody listens on.
func free(ctx context.Context, n int) (out []string, err error) {
	for range n {
		l, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
		if err != nil {
			return nil, err
		}
		defer l.Close() //nolint:revive // all are held until all are known
		out = append(out, l.Addr().String())
	}
	return out, nil
}

// jaeger is the witness.
type jaeger struct {
	*process
	otlp, query string
}

// startJaeger starts it with every listener on loopback, and returns when it answers.
func startJaeger(ctx context.Context, program, data string) (*jaeger, error) {
	flags := []string{
		"collector.otlp.http.host-port", "query.http-server.host-port", "collector.otlp.grpc.host-port", "collector.grpc-server.host-port",
		"collector.http-server.host-port", "query.grpc-server.host-port", "admin.http.host-port", "http-server.host-port",
		"processor.jaeger-binary.server-host-port", "processor.jaeger-compact.server-host-port", "processor.zipkin-compact.server-host-port",
	}
	at, err := free(ctx, len(flags))
	if err != nil {
		return nil, err
	}
	args := []string{"--collector.otlp.enabled=true", "--log-level=warn"}
	for i, f := range flags {
		args = append(args, "--"+f+"="+at[i])
	}
	cmd := exec.CommandContext(ctx, program, args...)
	cmd.Env = append(os.Environ(), "SPAN_STORAGE_TYPE=memory")
	p, err := start(ctx, cmd, filepath.Join(data, "jaeger.log"))
	if err != nil {
		return nil, err
	}
	j := &jaeger{process: p, otlp: "http://" + at[0], query: "http://" + at[1]}
	return j, until(ctx, func() error { return fetch(ctx, j.query+"/api/services", nil) })
}

// until tries again until there is no error, or no time.
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
	*process
	client http.Client
	url    string
}

// startServer starts the server with a database of its own and all requests followed, and returns when it listens.
func startServer(ctx context.Context, program, data, otlp string) (*carve, error) {
	cmd := exec.CommandContext(ctx, program, "--auth=dev", "--listen=127.0.0.1:0", "--data-dir="+filepath.Join(data, "data")) //nolint:gosec // the operator names it
	cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+otlp, "OTEL_TRACES_EXPORTER=otlp", "OTEL_METRICS_EXPORTER=none", "OTEL_TRACES_SAMPLER=parentbased_always_on")
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	p, err := start(ctx, cmd, filepath.Join(data, "server.log"))
	if err != nil {
		return nil, err
	}
	lines := bufio.NewScanner(out)
	if !lines.Scan() {
		p.stop()
		log, _ := os.ReadFile(filepath.Join(data, "server.log"))
		return nil, fmt.Errorf("the server did not start:\n%s", log)
	}
	go func() {
		for lines.Scan() { // nobody waits for it to be read
			continue
		}
	}()
	return &carve{process: p, url: "http://" + strings.TrimPrefix(lines.Text(), "listening on ")}, nil
}
