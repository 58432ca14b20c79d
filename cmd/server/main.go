// Command server serves the Carve API. `server --help` lists its flags.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"github.com/spf13/pflag"

	"github.com/carve-ipam/carve/internal/app"
)

func main() {
	os.Exit(run(os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// run returns the exit code: 0 after a requested stop, 2 for invalid flags or variables, 1 for any other error.
func run(args, environ []string, stdout, stderr io.Writer) int {
	config, usage, err := app.ParseConfig(args, environ)
	switch {
	case errors.Is(err, pflag.ErrHelp), errors.Is(err, app.ErrVersion):
		_, _ = fmt.Fprint(stdout, usage)
		return 0
	case err != nil:
		_, _ = fmt.Fprintf(stderr, "server: %v\n", err)
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	a, err := app.Start(ctx, config, stderr)
	if err != nil {
		_, _ = fmt.Fprintf(stderr, "server: %v\n", err)
		return 1
	}
	a.Greet(stdout)
	failed := a.Wait(ctx)
	stop() // a second signal ends the process at once
	if err := errors.Join(failed, a.Close(context.Background())); err != nil {
		_, _ = fmt.Fprintf(stderr, "server: %v\n", err)
		return 1
	}
	return 0
}
