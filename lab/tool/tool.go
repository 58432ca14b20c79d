// Package tool is what the programs in tools have in common as programs.
package tool

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"
)

// Main is a tool's main: it runs the tool with the program's arguments until it is done. Ctrl-C and SIGTERM end its context, so that it can stop what it
// has started. What went wrong is told under the tool's name, and makes the exit code 1.
func Main(name string, run func(ctx context.Context, args []string) error) {
	if code := perform(name, run, os.Args[1:], os.Stderr); code != 0 {
		os.Exit(code)
	}
}

func perform(name string, run func(ctx context.Context, args []string) error, args []string, told io.Writer) (code int) {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err := run(ctx, args)
	if err == nil || errors.Is(err, flag.ErrHelp) { // which package flag has answered
		return 0
	}
	_, _ = fmt.Fprintf(told, "%s: %v\n", name, err)
	return 1
}

// TempDir makes a temporary directory that everybody can walk through: a database in it runs as another user when this is root. Who makes it removes it.
func TempDir(pattern string) (string, error) {
	dir, err := os.MkdirTemp("", pattern)
	if err != nil {
		return "", err
	}
	if err := os.Chmod(dir, 0o755); err != nil { //nolint:gosec // that is its purpose
		return "", errors.Join(err, os.Remove(dir))
	}
	return dir, nil
}
