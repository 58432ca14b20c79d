package rivals

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/lab/postgres"
	"github.com/carve-ipam/carve/lab/tabular"
	"github.com/carve-ipam/carve/lab/tool"
)

// compareWithCarve puts Carve's rate in the same cell beside everybody's.
func compareWithCarve(results []*result) {
	type key struct {
		kind                kind
		task                task
		bits, clients, held int
	}
	carve := map[key]float64{}
	for _, r := range results {
		if r.Kind == kindCarve || r.Kind == kindCarveHTTP {
			carve[key{r.Kind, r.Task, r.Bits, r.Clients, r.Held}] = r.Rate
		}
	}
	for _, r := range results {
		bits := r.Bits
		if r.Kind == kindFloor {
			bits = addressBits // a row stands for an address
		}
		if r.Rate > 0 && r.Task != taskRelease && r.Task != taskDeny {
			r.InProcess = carve[key{kindCarve, r.Task, bits, r.Clients, r.Held}] / r.Rate
			r.OverHTTP = carve[key{kindCarveHTTP, r.Task, bits, r.Clients, r.Held}] / r.Rate
		}
	}
}

var columns = []string{"contestant", "clients", "held", "per second", "of", "p50 ms", "p95 ms", "p99 ms", "errors", "cut off", "retries", "doubles", "Carve in process ×", "Carve HTTP ×"}

// inTable is one line for each cell, in Markdown.
func inTable(results []*result) string {
	lines := [][]string{columns}
	for _, r := range results {
		held := strconv.Itoa(r.Held)
		if r.Kind == kindFloor || r.Task == taskRelease || r.Task == taskDeny {
			held = "-"
		}
		line := []string{r.Contestant, strconv.Itoa(r.Clients), held}
		if r.Skipped != "" {
			line = append(line, "skipped", r.things(), "", "", "", "", "", "", "", "", "")
		} else {
			line = append(line, tabular.Figure(r.Rate), r.things(), tabular.Figure(r.P50), tabular.Figure(r.P95), tabular.Figure(r.P99), strconv.Itoa(r.Errors), strconv.Itoa(r.CutOff), strconv.FormatInt(r.Retries, 10), strconv.Itoa(r.Doubles),
				ratio(r.InProcess), ratio(r.OverHTTP))
		}
		lines = append(lines, line)
	}
	return tabular.Table(lines, 1)
}

// things is what a rate counts.
func (r *result) things() string {
	switch {
	case r.Kind == kindFloor:
		return "rows"
	case r.Task == taskRelease:
		return "releases"
	case r.Task == taskDeny:
		return "refusals"
	case r.Kind == kindRival:
		return "blocks"
	default:
		return "claims"
	}
}

func ratio(v float64) string {
	if v == 0 {
		return ""
	}
	return tabular.Figure(v)
}

// notes say what the table has no room for: why cells were skipped, the first error of those that have any, doubles in words.
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

// line is what is shown of a cell when it has been measured.
func (r *result) line() string {
	if r.Skipped != "" {
		return fmt.Sprintf("%-27s %2d clients %5d held: skipped: %s", r.Contestant, r.Clients, r.Held, brief(r.Skipped))
	}
	return fmt.Sprintf("%-27s %2d clients %5d held: %8s %s/s  p50 %s ms  p95 %s ms  p99 %s ms  %d errors  %d cut off  %d doubles %s",
		r.Contestant, r.Clients, r.Held, tabular.Figure(r.Rate), r.things(), tabular.Figure(r.P50), tabular.Figure(r.P95), tabular.Figure(r.P99), r.Errors, r.CutOff, r.Doubles, brief(r.Broken))
}

func writeReport(path string, m postgres.Machine, o options, results []*result) error {
	reached := goalsOf(results)
	err := tool.Save(path, struct {
		Machine postgres.Machine `json:"machine"`
		Seconds float64          `json:"secondsPerCell"`
		Cells   []*result        `json:"cells"`
		Goals   []goal           `json:"goals"`
	}{m, o.time.Seconds(), results, reached})
	if err != nil {
		return err
	}
	_, err = fmt.Fprintf(os.Stdout, "%d CPUs, generator and database on the same; PostgreSQL %s, fsync %s; %s a cell\n\n%s\n%s%s%s",
		m.CPUs, m.PostgreSQL, m.FSync, o.time, inTable(results), legend, notes(results), goalTable(reached))
	return err
}

const legend = "Per second: rows, claims, … each, not calls. p50, p95 and p99: of a call, which is 100 rows or 1,000 claims where the name says so.\n"

// verdict is an error when Carve broke a promise. What a rival breaks is reported and no more.
func verdict(results []*result) error {
	var errs []error
	for _, r := range results {
		if r.Kind != kindCarve && r.Kind != kindCarveHTTP {
			continue
		}
		if r.wrong() > 0 {
			errs = append(errs, fmt.Errorf("%s, %d clients, %d held: %d doubles, %d errors, %d cut off %s%s%s", r.Contestant, r.Clients, r.Held, r.Doubles, r.Errors, r.CutOff, brief(r.Error), r.Broken, r.Skipped))
		}
	}
	return errors.Join(errs...)
}
