// Package jaeger checks Carve's traces with an independent program. It starts Jaeger and the real server on loopback and makes claims. Then it reads
// the claims' traces from Jaeger's own API. See docs/telemetry.md.
package jaeger

import (
	"context"
	"errors"
	"flag"
	"os"
	"time"

	"github.com/carve-ipam/carve/lab/tool"
)

// limit is the time limit of the whole run.
const limit = 3 * time.Minute

// Run runs the command.
func Run(ctx context.Context, args []string) (err error) {
	ctx, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	f := flag.NewFlagSet("jaegerwitness", flag.ContinueOnError)
	jaeger := f.String("jaeger", "bin/jaeger", "Jaeger's program, all-in-one")
	server := f.String("server", "bin/server", "the server's program")
	claims := f.Int("claims", 64, "claims that are made at once, to be served in groups")
	if err := tool.Parse(f, args); err != nil {
		return err
	}
	data, err := tool.TempDir("carve-witness-")
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, os.RemoveAll(data)) }()
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
	_ = carve.Stop() // the server sends the remaining spans when it stops
	return witness.judge(ctx, traces)
}
