package main

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"io"
	"maps"
	"os"
	"os/signal"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"
)

func main() { os.Exit(run(os.Args[1:], os.Stdout)) }

// run returns the exit code. It is 1 if the output of a command differs from its page, or if a page has another fault.
func run(args []string, out io.Writer) int {
	flags := flag.NewFlagSet("docscheck", flag.ContinueOnError)
	root := flags.String("root", ".", "the checkout, with bin/server and bin/ipamctl in it")
	bin := flags.String("bin", "", "where server and ipamctl are (default: bin in the checkout)")
	only := flags.String("only", "", "run the commands of those pages alone whose path matches this pattern")
	rewrite := flags.Bool("update", false, "write what was printed into the pages")
	parallel := flags.Int("parallel", 2, "how many pages are run at once")
	limit := flags.Duration("timeout", 20*time.Minute, "how long all may take")
	if err := flags.Parse(args); err != nil {
		return 2
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, *limit)
	defer cancel()
	absolute, err := filepath.Abs(*root)
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
		return 2
	}
	pattern, err := regexp.Compile(*only)
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
		return 2
	}
	c := check{root: absolute, bin: cmp.Or(*bin, filepath.Join(absolute, "bin")), only: pattern, update: *rewrite, parallel: *parallel}
	faults, err := c.all(ctx, out)
	if err != nil {
		_, _ = fmt.Fprintln(out, err)
		return 1
	}
	if len(faults) > 0 {
		return 1
	}
	return 0
}

// check configures the checks.
type check struct {
	root     string
	bin      string
	only     *regexp.Regexp
	update   bool
	parallel int
}

// all runs all checks and prints the result.
func (c check) all(ctx context.Context, out io.Writer) ([]fault, error) {
	began := time.Now()
	all, err := pages(c.root)
	if err != nil {
		return nil, err
	}
	faults := slices.Concat(checkLinks(c.root, all), checkReach(all), checkTables(all), checkBlocks(all))
	results := c.run(ctx, all)
	ran, links := 0, 0
	var skipped []unrun
	for _, r := range results {
		faults = append(faults, r.faults...)
		skipped = append(skipped, r.unrun...)
		ran += r.ran
		if r.ran > 0 {
			_, _ = fmt.Fprintf(out, "%-34s %3d commands  %4.1f s\n", r.page.path, r.ran, r.took.Seconds())
		}
		if c.update && len(r.changes) > 0 {
			if err := update(c.root, r.page, r.changes); err != nil {
				return nil, err
			}
			_, _ = fmt.Fprintf(out, "%s: wrote %d blocks anew\n", r.page.path, len(r.changes))
		}
	}
	for _, p := range all {
		links += len(p.links)
	}
	if len(skipped) > 0 {
		_, _ = fmt.Fprintf(out, "\nnot run, and why:\n")
		for _, s := range skipped {
			_, _ = fmt.Fprintf(out, "  %s:%d: %s\n", s.path, s.line, s.reason)
		}
	}
	if len(faults) > 0 {
		_, _ = fmt.Fprintln(out)
		for _, f := range faults {
			_, _ = fmt.Fprintln(out, f)
		}
	}
	_, _ = fmt.Fprintf(out, "\ndocs-check: %d pages, %d links, %d commands run, %d blocks not run, %d faults, %.0f s\n",
		len(all), links, ran, len(skipped), len(faults), time.Since(began).Seconds())
	return faults, nil
}

// run runs the commands of all pages, several pages at a time.
func (c check) run(ctx context.Context, all map[string]*page) []result {
	var chosen []*page
	for _, p := range sorted(all) {
		if c.only.MatchString(p.path) && !strings.HasPrefix(p.path, "tools/") {
			chosen = append(chosen, p)
		}
	}
	results := make([]result, len(chosen))
	places := make(chan struct{}, max(1, c.parallel))
	var group sync.WaitGroup
	for i, p := range chosen {
		group.Go(func() {
			places <- struct{}{}
			defer func() { <-places }()
			results[i] = runPage(ctx, c.root, c.bin, p)
		})
	}
	group.Wait()
	return results
}

func sorted(all map[string]*page) []*page {
	return slices.SortedFunc(maps.Values(all), func(a, b *page) int { return cmp.Compare(a.path, b.path) })
}
