// Command jaegerwitness asks somebody else what Carve's traces say: it starts Jaeger and the real server on loopback, makes claims, and
// reads their traces back from Jaeger's own interface. See docs/telemetry.md.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/signal"
	"syscall"
	"time"
)

// limit bounds the whole run.
const limit = 3 * time.Minute

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	ctx, cancel := context.WithTimeout(ctx, limit)
	err := run(ctx, os.Args[1:])
	cancel()
	stop()
	if errors.Is(err, flag.ErrHelp) {
		return
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, "jaegerwitness:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) (err error) {
	f := flag.NewFlagSet("jaegerwitness", flag.ContinueOnError)
	jaeger := f.String("jaeger", "bin/jaeger", "Jaeger's program, all-in-one")
	server := f.String("server", "bin/server", "the server's program")
	claims := f.Int("claims", 64, "claims that are made at once, to be served in groups")
	if err := f.Parse(args); err != nil {
		return err
	}
	data, err := os.MkdirTemp("", "carve-witness-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
	if err := os.Chmod(data, 0o755); err != nil { //nolint:gosec // the embedded database may run as another user
		return err
	}
	witness, err := startJaeger(ctx, *jaeger, data)
	if err != nil {
		return err
	}
	defer func() { _ = witness.Stop() }()
	carve, err := startServer(ctx, *server, data, witness.otlp)
	if err != nil {
		return err
	}
	defer func() { _ = carve.Stop() }()
	if err := carve.furnish(ctx); err != nil {
		return err
	}
	traces, err := carve.claim(ctx, *claims)
	if err != nil {
		return err
	}
	_ = carve.Stop() // what it has not sent yet, it sends now
	return witness.judge(ctx, traces)
}
