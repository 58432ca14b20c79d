// Command ipamctl is Carve's command line. `ipamctl help` and docs/ipamctl.md document it.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/cli"
	"github.com/carve-ipam/carve/internal/cli/operate"
	"github.com/carve-ipam/carve/internal/cli/session"
)

func main() { os.Exit(run()) }

func run() int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal ends the process at once
	version, commit := app.Version()
	database := operate.RealDatabase()
	database.Bootstrap, database.Reconcile, database.Retain = app.Bootstrap, reconcile, retain
	return cli.Run(ctx, os.Args[1:], cli.Environment{
		In: os.Stdin, Out: os.Stdout, Err: os.Stderr, Env: os.LookupEnv,
		Version: version, Commit: commit, Database: database, Secret: session.TerminalSecret(ctx, os.Stdin, os.Stderr),
		Width: session.TerminalWidth(os.Stdout), Watched: session.TerminalWidth(os.Stderr) > 0,
	})
}

// retain calls [app.Retain] and converts its result to the command line's type.
func retain(ctx context.Context, dsn string, events, holds time.Duration) (operate.Retained, error) {
	done, err := app.Retain(ctx, dsn, events, holds)
	return operate.Retained(done), err
}

// reconcile calls [app.Reconcile] and converts its options and its result between the command line's types and package regions' types.
func reconcile(ctx context.Context, dsn, region string, o operate.Reconciling) ([]operate.Reconciled, error) {
	found, err := app.Reconcile(ctx, dsn, region, o.Repair, o.Forget)
	out := make([]operate.Reconciled, len(found))
	for i, r := range found {
		out[i] = operate.Reconciled{Pool: r.Pool.String(), Region: r.Region, Open: r.Open, Held: r.Held, Stale: r.Stale, Missing: r.Missing, Forgotten: []operate.Forgotten{}}
		for _, f := range r.Forgotten {
			out[i].Forgotten = append(out[i].Forgotten, operate.Forgotten{Block: f.Block, Claim: f.Holder.String()})
		}
	}
	return out, err
}
