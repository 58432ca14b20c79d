package hostile

import (
	"errors"
	"fmt"
	"os"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/carve-ipam/carve/lab/latency"
)

// result is the effect of one attack.
type result struct {
	Name     string  `json:"name"`
	P95      float64 `json:"p95Milliseconds"`          // while the attack is fully under way
	Begins   float64 `json:"p95BeginningMilliseconds"` // while the attack opens its connections and fills its buffers; 0 if that took too little time
	Alone    float64 `json:"p95AloneBeforeMilliseconds"`
	Ratio    float64 `json:"p95RatioToAlone"` // several rounds: the median of each round's p95 under attack divided by its p95 alone just before; one round: divided by the p95 of all times alone in the run
	Requests int     `json:"requests"`
	Failed   int     `json:"failed"`
	AnError  string  `json:"anError,omitempty"`
	Before   int64   `json:"memoryBefore"`
	Peak     int64   `json:"memoryPeak"`
	After    int64   `json:"memoryAfter"`
	Served   float64 `json:"processorsOfService"`   // processors that the server and its database kept busy during the attack
	Attacked float64 `json:"processorsOfAttackers"` // processors that the attackers and the load kept busy

	alone, beginning, beside []time.Duration
	ratios                   []float64 // one for each round
}

// report is the result of a run.
type report struct {
	Machine string   `json:"machine"`
	Flags   []string `json:"flags"`
	Bound   int64    `json:"memoryBound"`
	Alone   float64  `json:"p95AloneMilliseconds"`
	Least   float64  `json:"p95AloneLeast"` // smallest p95 of the load alone; one is measured before each attack
	Most    float64  `json:"p95AloneMost"`
	Attacks []result `json:"attacks"`
}

// add adds the result of one more round of an attack.
func (r *report) add(one result) {
	if alone := p95(one.alone); alone > 0 {
		one.ratios = []float64{p95(one.beside) / alone}
	}
	i := slices.IndexFunc(r.Attacks, func(a result) bool { return a.Name == one.Name })
	if i < 0 {
		r.Attacks = append(r.Attacks, one)
		return
	}
	a := &r.Attacks[i]
	a.alone, a.beginning, a.beside = slices.Concat(a.alone, one.alone), slices.Concat(a.beginning, one.beginning), slices.Concat(a.beside, one.beside)
	a.ratios = append(a.ratios, one.ratios...)
	a.Requests, a.Failed, a.AnError = a.Requests+one.Requests, a.Failed+one.Failed, firstOf(a.AnError, one.AnError)
	a.Peak, a.After = max(a.Peak, one.Peak), one.After
	rounds := float64(len(a.ratios))
	a.Served += (one.Served - a.Served) / rounds
	a.Attacked += (one.Attacked - a.Attacked) / rounds
}

// sum computes the figures from the times. The spread of the times of the load alone shows how quiet the machine is.
func (r *report) sum() {
	var all []time.Duration
	for i := range r.Attacks {
		a := &r.Attacks[i]
		all = append(all, a.alone...)
		a.P95, a.Begins, a.Alone = p95(a.beside), p95(a.beginning), p95(a.alone)
		a.Ratio = median(a.ratios)
		if r.Least == 0 || a.Alone < r.Least {
			r.Least = a.Alone
		}
		r.Most = max(r.Most, a.Alone)
	}
	r.Alone = p95(all)
	for i := range r.Attacks {
		if a := &r.Attacks[i]; len(a.ratios) == 1 && r.Alone > 0 { // the time alone before the attack is too short for its own p95
			a.Ratio = a.P95 / r.Alone
		}
	}
}

// median returns the median, or 0 for an empty list.
func median(of []float64) float64 {
	if len(of) == 0 {
		return 0
	}
	of = slices.Sorted(slices.Values(of))
	return (of[(len(of)-1)/2] + of[len(of)/2]) / 2
}

func p95(times []time.Duration) float64 { return latency.Milliseconds(latency.Percentile(times, 95)) }

func (r *report) table() string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s\nalone: p95 %.1f ms; of the times before each attack %.1f to %.1f ms\n\n", r.Machine, r.Alone, r.Least, r.Most)
	fmt.Fprintf(&b, "%-48s %9s %7s %9s %8s %7s %10s %6s %6s %6s\n",
		"attack: p95 in ms, memory in MB, processors used", "beginning", "p95", "ratio", "requests", "failed", "before", "peak", "server", "others")
	for _, a := range r.Attacks {
		fmt.Fprintf(&b, "%-48s %9.1f %7.1f %9.2f %8d %7d %10.0f %6.0f %6.2f %6.2f\n",
			a.Name, a.Begins, a.P95, a.Ratio, a.Requests, a.Failed, mb(a.Before), mb(a.Peak), a.Served, a.Attacked)
	}
	return b.String()
}

func mb(bytes int64) float64 { return float64(bytes) / (1 << 20) }

// verdict returns the errors that fail the run. Times fail no run, because the other load on the machine is unknown.
func (r *report) verdict() error {
	var errs []error
	for _, a := range r.Attacks {
		if a.Failed > 0 {
			errs = append(errs, fmt.Errorf("%s: %d of %d requests of others failed, such as: %s", a.Name, a.Failed, a.Requests, a.AnError))
		}
		if a.Peak > r.Bound {
			errs = append(errs, fmt.Errorf("%s: the server took %.0f MB, and may take %.0f", a.Name, mb(a.Peak), mb(r.Bound)))
		}
	}
	return errors.Join(errs...)
}

// aboutMachine describes the machine and its load.
func aboutMachine() string {
	text, _ := os.ReadFile("/proc/loadavg")
	load, _, _ := strings.Cut(string(text), " ")
	return fmt.Sprintf("%d cores, %s, load average at the start %s", runtime.NumCPU(), runtime.Version(), load)
}
