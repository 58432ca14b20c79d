package rivals

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/lab/postgres"
	"github.com/carve-ipam/carve/lab/tabular"
	"github.com/carve-ipam/carve/lab/tool"
)

// medians returns one result for each cell, with the median rates and times of its rounds. It adds up the faults of all rounds.
func medians(results []*result) []*result {
	type key struct {
		contestant    string
		clients, held int
	}
	rounds := map[key][]*result{}
	var order []key
	for _, r := range results {
		k := key{r.Contestant, r.Clients, r.Held}
		if rounds[k] == nil {
			order = append(order, k)
		}
		rounds[k] = append(rounds[k], r)
	}
	out := make([]*result, 0, len(order))
	for _, k := range order {
		of := func(figure func(*result) *float64) float64 {
			var all []float64
			for _, r := range rounds[k] {
				if r.Skipped == "" {
					all = append(all, *figure(r))
				}
			}
			if len(all) == 0 {
				return 0
			}
			return median(all)
		}
		m := *rounds[k][0]
		for _, r := range rounds[k][1:] {
			m.Errors, m.CutOff, m.Doubles, m.HandedOut = m.Errors+r.Errors, m.CutOff+r.CutOff, m.Doubles+r.Doubles, m.HandedOut+r.HandedOut
			m.Error, m.Skipped, m.Broken = cmp.Or(m.Error, r.Error), cmp.Or(m.Skipped, r.Skipped), cmp.Or(m.Broken, r.Broken)
		}
		for _, figure := range []func(*result) *float64{
			func(r *result) *float64 { return &r.Rate }, func(r *result) *float64 { return &r.P50 }, func(r *result) *float64 { return &r.P95 },
			func(r *result) *float64 { return &r.P99 }, func(r *result) *float64 { return &r.WAL }, func(r *result) *float64 { return &r.CPU },
			func(r *result) *float64 { return &r.Database },
		} {
			*figure(&m) = of(figure)
		}
		out = append(out, &m)
	}
	return out
}

var columns = []string{"contestant", "clients", "held", "per second", "of", "p50 ms", "p95 ms", "p99 ms", "log bytes", "program µs", "database µs", "errors", "cut off", "doubles"}

// inTable formats the results as a Markdown table with one line for each cell.
func inTable(results []*result) string {
	lines := [][]string{columns}
	for _, r := range results {
		line := []string{r.Contestant, strconv.Itoa(r.Clients), strconv.Itoa(r.Held)}
		if r.Skipped != "" && r.Rate == 0 {
			line = append(line, "skipped", r.things, "", "", "", "", "", "", "", "", "")
		} else {
			line = append(line, tabular.Figure(r.Rate), r.things, tabular.Figure(r.P50), tabular.Figure(r.P95), tabular.Figure(r.P99),
				known(r.WAL), known(r.CPU), known(r.Database), strconv.Itoa(r.Errors), strconv.Itoa(r.CutOff), strconv.Itoa(r.Doubles))
		}
		lines = append(lines, line)
	}
	return tabular.Table(lines, 1)
}

// known formats a cost. It returns "" for an unknown cost.
func known(cost float64) string {
	if cost == 0 {
		return ""
	}
	return tabular.Figure(cost)
}

// notes lists details that are not in the table: why cells were skipped, the first error of each cell, and double allocations.
func notes(results []*result) string {
	var b strings.Builder
	for _, r := range results {
		if b.Len() == 0 && (r.Skipped != "" || r.Doubles+r.Errors > 0 || r.Broken != "") {
			b.WriteString("\n")
		}
		cell := fmt.Sprintf("%s, %d clients, %d held", r.Contestant, r.Clients, r.Held)
		if r.Skipped != "" {
			fmt.Fprintf(&b, "* %s: skipped: %s\n", cell, brief(r.Skipped))
		}
		if r.Doubles > 0 {
			fmt.Fprintf(&b, "* %s: %d of %d were handed out although somebody had them\n", cell, r.Doubles, r.HandedOut)
		}
		if r.Errors > 0 {
			fmt.Fprintf(&b, "* %s: %d errors, the first: %s\n", cell, r.Errors, brief(r.Error))
		}
		if r.Broken != "" {
			fmt.Fprintf(&b, "* %s: afterwards: %s\n", cell, brief(r.Broken))
		}
	}
	return b.String()
}

func brief(text string) string {
	if runes := []rune(text); len(runes) > 200 {
		text = string(runes[:200]) + "…"
	}
	return strings.Join(strings.Fields(text), " ")
}

// line returns one line of output for a measured cell.
func (r *result) line() string {
	if r.Skipped != "" {
		return fmt.Sprintf("%d. %-27s %2d clients %5d held: skipped: %s", r.Round+1, r.Contestant, r.Clients, r.Held, brief(r.Skipped))
	}
	return fmt.Sprintf("%d. %-27s %2d clients %5d held: %8s %s/s  p50 %s ms  p95 %s ms  p99 %s ms  %d errors  %d cut off  %d doubles %s",
		r.Round+1, r.Contestant, r.Clients, r.Held, tabular.Figure(r.Rate), r.things, tabular.Figure(r.P50), tabular.Figure(r.P95), tabular.Figure(r.P99), r.Errors, r.CutOff, r.Doubles, brief(r.Broken))
}

func writeReport(path string, m postgres.Machine, o options, results []*result, goals []goal) error {
	err := tool.Save(path, struct {
		Machine postgres.Machine `json:"machine"`
		Seconds float64          `json:"secondsPerCell"`
		Cells   []*result        `json:"cells"`
		Goals   []goal           `json:"goals"`
	}{m, o.time.Seconds(), results, goals})
	if err != nil {
		return err
	}
	cells := ""
	if len(results) > 0 {
		all := medians(results)
		cells = fmt.Sprintf("%s\n%s%s", inTable(all), legend, notes(all))
	}
	_, err = fmt.Fprintf(os.Stdout, "%d CPUs, generator and database on the same unless it is elsewhere; %s, fsync %s; %s a cell and round\n\n%s%s",
		m.CPUs, m.Version, cmp.Or(m.FSync, "unknown"), o.time, cells, goalTable(goals))
	return err
}

const legend = `Medians of the rounds. Per second: rows, claims, … each, not calls. p50, p95 and p99: of a call, which is 100 rows or 1,000 claims where the name says so.
Bytes of the database's log, and processor time of this program (generator, and server or library) and of the database: of each row, claim, …
`

// verdict returns an error if Carve has a fault. Faults of a rival are only reported.
func verdict(results []*result) error {
	var errs []error
	for _, r := range medians(results) {
		if r.ours && r.wrong() > 0 {
			errs = append(errs, fmt.Errorf("%s, %d clients, %d held: %d doubles, %d errors, %d cut off %s%s%s", r.Contestant, r.Clients, r.Held, r.Doubles, r.Errors, r.CutOff, brief(r.Error), r.Broken, r.Skipped))
		}
	}
	return errors.Join(errs...)
}
