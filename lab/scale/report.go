package scale

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strconv"
	"strings"
	"unicode/utf8"
)

// result is what came of a cell.
type result struct {
	Axis      string   `json:"axis"`
	Cell      string   `json:"cell"`
	Shape     string   `json:"shape,omitempty"`
	Size      string   `json:"size"`
	Seeded    float64  `json:"seededSeconds"`
	Megabytes int64    `json:"megabytes"`
	Checked   string   `json:"checked"` // audited, or counted
	Checking  float64  `json:"checkedSeconds"`
	Broken    string   `json:"broken,omitempty"` // what the check found
	Lines     []*line  `json:"operations"`
	Grown     []growth `json:"grown,omitempty"`
}

var columns = []string{"operation", "cell", "p50 ms", "×", "p99 ms", "×", "statements", "×", "rows", "×", "pages", "×", "samples"}

// table is an axis in Markdown: one line for each operation in each cell, with the ratio to the smallest cell beside each figure.
func table(cells []*result) string {
	lines := [][]string{columns}
	for i, first := range cells[0].Lines {
		for _, r := range cells {
			l := r.Lines[i]
			samples := strconv.Itoa(l.Samples)
			if l.Partial > 0 {
				samples += fmt.Sprintf(" (%d not found on the first page)", l.Partial)
			}
			lines = append(lines, []string{
				first.Operation, r.Cell, figure(l.P50), figure(l.Ratios.P50), figure(l.P99), figure(l.Ratios.P99), figure(l.Statements), figure(l.Ratios.Statements),
				figure(l.Rows), figure(l.Ratios.Rows), figure(l.Pages), figure(l.Ratios.Pages), samples,
			})
		}
	}
	return markdown(lines)
}

// markdown is a table whose first two columns are words.
func markdown(lines [][]string) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for n, line := range lines {
		b.WriteString("|")
		for i, text := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i < 2 {
				b.WriteString(" " + text + pad + " |")
			} else {
				b.WriteString(" " + pad + text + " |")
			}
		}
		b.WriteString("\n")
		if n == 0 {
			b.WriteString("|")
			for i, w := range widths {
				if i < 2 {
					b.WriteString(strings.Repeat("-", w+2) + "|")
				} else {
					b.WriteString(strings.Repeat("-", w+1) + ":|")
				}
			}
			b.WriteString("\n")
		}
	}
	return b.String()
}

func figure(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}

// provenance says of each cell how it was made and checked.
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

// report is the whole result, as it is stored.
type report struct {
	Machine    machine   `json:"machine"`
	Operations int       `json:"operationsPerCell"`
	Seconds    float64   `json:"seconds"`
	Cells      []*result `json:"cells"`
}

func (r *report) save(path string) error {
	text, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	return os.WriteFile(path, append(text, '\n'), 0o600)
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
	_, err := fmt.Fprintf(os.Stdout, "## %s (%s)\n\n%s\n%s\nWhat grows:\n%s\n", a.title, a.unit, table(cells), provenance(cells), text)
	return err
}

// verdict is an error when data was not as it should be, or something grew that may not.
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
