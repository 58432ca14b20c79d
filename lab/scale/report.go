package scale

import (
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"

	"github.com/carve-ipam/carve/lab/postgres"
	"github.com/carve-ipam/carve/lab/tabular"
)

// result is the result of one cell.
type result struct {
	Axis      string   `json:"axis"`
	Cell      string   `json:"cell"`
	Shape     string   `json:"shape,omitempty"`
	Size      string   `json:"size"`
	Seeded    float64  `json:"seededSeconds"`
	Megabytes int64    `json:"megabytes"`
	Checked   string   `json:"checked"` // "audited" or "counted"
	Checking  float64  `json:"checkedSeconds"`
	Broken    string   `json:"broken,omitempty"` // findings of the check
	Lines     []*line  `json:"operations"`
	Grown     []growth `json:"grown,omitempty"`
}

var columns = []string{"operation", "cell", "p50 ms", "×", "p95 ms", "p99 ms", "×", "statements", "×", "rows", "×", "pages", "×", "samples"}

// inTable formats an axis as a Markdown table. Each operation in each cell has one line. Each figure is followed by its ratio to the smallest cell.
func inTable(cells []*result) string {
	lines := [][]string{columns}
	for i, first := range cells[0].Lines {
		for _, r := range cells {
			l := r.Lines[i]
			samples := strconv.Itoa(l.Samples)
			if l.Partial > 0 {
				samples += fmt.Sprintf(" (%d not found on the first page)", l.Partial)
			}
			lines = append(lines, []string{
				first.Operation, r.Cell, tabular.Figure(l.P50), tabular.Figure(l.Ratios.P50), tabular.Figure(l.P95), tabular.Figure(l.P99), tabular.Figure(l.Ratios.P99), tabular.Figure(l.Statements), tabular.Figure(l.Ratios.Statements),
				tabular.Figure(l.Rows), tabular.Figure(l.Ratios.Rows), tabular.Figure(l.Pages), tabular.Figure(l.Ratios.Pages), samples,
			})
		}
	}
	return tabular.Table(lines, 2)
}

// provenance describes how each cell was loaded and checked.
func provenance(cells []*result) string {
	var b strings.Builder
	for _, r := range cells {
		fmt.Fprintf(&b, "* %s: loaded in %.0f s, %d MB, %s in %.0f s\n", r.Cell, r.Seeded, r.Megabytes, r.Checked, r.Checking)
		if r.Broken != "" {
			fmt.Fprintf(&b, "  and NOT CLEAN: %s\n", r.Broken)
		}
	}
	return b.String()
}

// report is the complete result, as the file stores it.
type report struct {
	Machine    postgres.Machine `json:"machine"`
	Operations int              `json:"operationsPerCell"`
	Seconds    float64          `json:"seconds"`
	Cells      []*result        `json:"cells"`
}

// show prints an axis.
func show(a *axis, cells []*result) error {
	var grows []growth
	for _, r := range cells {
		grows = append(grows, r.Grown...)
	}
	text := "nothing but what is within the bounds\n"
	if len(grows) > 0 {
		text = tell(grows)
	}
	_, err := fmt.Fprintf(os.Stdout, "## %s (%s)\n\n%s\n%s\nWhat grows:\n%s\n", a.title, a.unit, inTable(cells), provenance(cells), text)
	return err
}

// verdict returns an error if the data were wrong or a figure exceeded its limit.
func verdict(cells []*result) error {
	var errs []error
	for _, r := range cells {
		if r.Broken != "" {
			errs = append(errs, fmt.Errorf("axis %s, %s: the data is not as it should be: %s", r.Axis, r.Cell, r.Broken))
		}
		for _, g := range r.Grown {
			if g.Broken {
				errs = append(errs, errors.New(strings.TrimSpace(tell([]growth{g}))))
			}
		}
	}
	return errors.Join(errs...)
}
