// Command ipamctl is the command line of Carve; `ipamctl help` explains it, and so does docs/ipamctl.md.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/cli"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	version, commit := app.Version()
	database := cli.RealDatabase()
	database.Bootstrap = app.Bootstrap
	return cli.Run(ctx, os.Args[1:], cli.Surroundings{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv,
		Version: version, Commit: commit, Database: database, Secret: cli.TerminalSecret(ctx, os.Stdin, os.Stderr),
	})
}
