package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"syscall"
)

// server is a running server of a region.
type server struct {
	cmd  *exec.Cmd
	addr string
	done chan error
}

// startServer runs a server that lets few wait for a pool, so that some are refused. Its telemetry goes to a collector.
func startServer(ctx context.Context, binary, dsn, region, collector string) (*server, error) {
	s := &server{done: make(chan error, 1)}
	s.cmd = exec.Command(binary, "--listen=127.0.0.1:0", "--auth=dev", "--log-level=error", "--rate-limit-reads=0", "--rate-limit-writes=0", //nolint:gosec,noctx // the program under test, ended by stop
		"--max-in-flight=256", "--max-waiting=4", "--max-connections=8", "--region="+region, "--database-url="+dsn, "--stock-runway=30s")
	s.cmd.Env = append(os.Environ(), "OTEL_EXPORTER_OTLP_ENDPOINT="+collector, "OTEL_TRACES_SAMPLER=parentbased_traceidratio", "OTEL_TRACES_SAMPLER_ARG=0.01",
		"OTEL_METRIC_EXPORT_INTERVAL=5000")
	s.cmd.Stderr = os.Stderr
	s.cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	stdout, err := s.cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := s.cmd.Start(); err != nil {
		return nil, err
	}
	lines := bufio.NewReader(stdout)
	first, _ := lines.ReadString('\n')
	go func() {
		_, _ = io.Copy(io.Discard, lines)
		s.done <- s.cmd.Wait()
	}()
	if s.addr = strings.TrimSpace(strings.TrimPrefix(first, "listening on ")); s.addr == "" {
		return nil, fmt.Errorf("the server of %s did not start: %w", region, <-s.done)
	}
	return s, ctx.Err()
}

func (s *server) stop() error {
	if err := s.cmd.Process.Signal(syscall.SIGTERM); err != nil && !errors.Is(err, os.ErrProcessDone) {
		return err
	}
	return <-s.done
}
