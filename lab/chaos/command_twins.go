package chaos

import (
	"context"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/lab/twins"
)

// showTwins proves that the suite can detect each missing protection. The runs must fail without the protection and pass with it.
func showTwins(ctx context.Context, o options, out io.Writer) (bool, error) {
	all := Twins()
	if o.only != "" {
		all = slices.DeleteFunc(all, func(t Twin) bool { return t.Name != o.only })
		if len(all) == 0 {
			return false, fmt.Errorf("there is no twin %q", o.only)
		}
	}
	good := true
	for _, t := range all {
		var jobs []Job
		for i := range uint64(t.Seeds) { //nolint:gosec // a count
			jobs = append(jobs, Job{Mix: t.Mix, Seed: o.first + i})
		}
		whole := Suite{Programs: o.programs, Workers: min(o.workers, len(jobs)), Dir: o.dir, Enough: 1}
		whole.Each = func(r Result) { say(out, o, r) }
		results, err := whole.Run(ctx, jobs)
		if err != nil {
			return false, err
		}
		held := len(results) == len(jobs) && !slices.ContainsFunc(results, failed)

		lame := whole
		lame.Environ, lame.Dir = []string{twins.Variable + "=" + t.Name}, o.dir+"/lame"
		lame.Each = nil
		if o.all {
			lame.Enough = 0
		}
		if o.verbose {
			lame.Each = whole.Each
		}
		if results, err = lame.Run(ctx, jobs); err != nil {
			return false, err
		}
		caught := slices.IndexFunc(results, func(r Result) bool { return len(r.Violations) > 0 })
		switch {
		case !held:
			_, _ = fmt.Fprintf(out, "%-15s the same runs do not hold with the protection on\n", t.Name)
			good = false
		case caught < 0:
			_, _ = fmt.Fprintf(out, "%-15s NOT CAUGHT in %d seeds: a server without %s\n", t.Name, len(results), t.Lacks)
			for _, r := range results {
				if r.Err != nil {
					_, _ = fmt.Fprintf(out, "                seed %d could not be judged: %v\n", r.Seed, r.Err)
				}
			}
			good = false
		default:
			r := results[caught]
			_, _ = fmt.Fprintf(out, "%-15s caught by %s (seed %d, %.1f s); %d seeds hold with the protection on\n",
				t.Name, strings.Join(r.Checks(), ", "), r.Seed, r.Took.Seconds(), len(jobs))
			if o.all {
				_, _ = fmt.Fprintf(out, "                in %s\n", counts(results))
			}
			_, _ = fmt.Fprintf(out, "                %s\n", first(r.Violations))
		}
	}
	return good, nil
}

// counts lists each violated check with the number of runs that violated it.
func counts(results []Result) string {
	by, some := map[string]int{}, 0
	for _, r := range results {
		if len(r.Violations) > 0 {
			some++
		}
		for _, check := range r.Checks() {
			by[check]++
		}
	}
	words := []string{fmt.Sprintf("%d of %d seeds", some, len(results))}
	for _, check := range slices.Sorted(maps.Keys(by)) {
		words = append(words, fmt.Sprintf("%s %d", check, by[check]))
	}
	return strings.Join(words, ", ")
}

func failed(r Result) bool { return len(r.Violations) > 0 || r.Err != nil }

// first returns the first violation in one line.
func first(list []Violation) string {
	line, _, _ := strings.Cut(list[0].String(), "\n")
	return line[:min(len(line), 200)]
}
