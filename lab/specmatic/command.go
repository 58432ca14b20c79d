// Package specmatic runs Specmatic, a reader of OpenAPI that is not ours, against a real server process (docs/evidence.md).
//
// It starts a server with an embedded database of its own and API keys, makes what the contract's paths are about, writes a copy of
// openapi.yaml with the adaptations of adapt.go, and lets Specmatic make valid and invalid requests of it and judge the answers. It
// fails when a test failed that is not in the list of excuses, or when an excuse is not needed any more.
package specmatic

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/carve-ipam/carve/lab/tool"
)

// Run is the command.
func Run(ctx context.Context, args []string) error {
	o := options{}
	f := flag.NewFlagSet("specmatic", flag.ContinueOnError)
	f.StringVar(&o.server, "server", "bin/server", "the server's program")
	f.StringVar(&o.contract, "contract", "openapi.yaml", "the contract")
	f.StringVar(&o.jar, "jar", "tools/specmatic/node_modules/specmatic/specmatic.jar", "Specmatic itself")
	f.IntVar(&o.combinations, "combinations", 2, "most requests of one operation and kind that Specmatic combines of optional members and bounds")
	f.StringVar(&o.keep, "keep", "", "a folder for the adapted contract, the log and the report; by default they go when all is well")
	f.StringVar(&o.filter, "filter", "", "Specmatic's own --filter, for looking at one operation: PATH='/v1/projects' && METHOD='POST'")
	if err := tool.Parse(f, args); err != nil {
		return err
	}
	started := time.Now()
	ok, err := run(ctx, o)
	_, _ = fmt.Fprintf(os.Stdout, "%.0f s\n", time.Since(started).Seconds())
	if err == nil && !ok {
		err = errors.New("not all is well: see what failed above")
	}
	return err
}

type options struct {
	server, contract, jar, keep, filter string
	combinations                        int
}

// run is everything; ok says that nothing was found.
func run(ctx context.Context, o options) (ok bool, err error) {
	dir := o.keep
	if dir == "" {
		if dir, err = os.MkdirTemp("", "specmatic-"); err != nil {
			return false, err
		}
		if err := os.Chmod(dir, 0o711); err != nil { //nolint:gosec // G302: PostgreSQL's own user has to pass through
			return false, err
		}
		defer func() {
			if ok && err == nil {
				_ = os.RemoveAll(dir)
			} else {
				_, _ = fmt.Fprintln(os.Stdout, "kept:", dir)
			}
		}()
	} else if err := os.MkdirAll(dir, 0o755); err != nil { //nolint:gosec // G301: likewise
		return false, err
	}
	s, err := start(ctx, o.server, filepath.Join(dir, "specmatic-data"), filepath.Join(dir, "server.log"))
	if err != nil {
		return false, err
	}
	defer func() { _ = s.Stop() }() // its log has the rest
	things, err := s.furnish(ctx)
	if err != nil {
		return false, err
	}
	adapted := filepath.Join(dir, "openapi.yaml")
	if err := adapt(o.contract, adapted, things); err != nil {
		return false, err
	}
	before, err := s.claims(ctx)
	if err != nil {
		return false, err
	}
	ok, err = test(ctx, o, s, dir, adapted)
	if err != nil {
		return false, err
	}
	after, err := s.claims(ctx)
	if err == nil && before != after {
		_, _ = fmt.Fprintln(os.Stdout, "dry runs wrote: before", before, "and after", after)
		ok = false
	}
	return ok, err
}
