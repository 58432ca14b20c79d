package transfer

import (
	"errors"
	"fmt"
	"io"
	"iter"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/internal/cli/exit"
	"github.com/carve-ipam/carve/internal/cli/rules"
	"github.com/carve-ipam/carve/internal/cli/show"
)

// reportRow reports one row.
type reportRow struct {
	Row     string `json:"row"`
	Kind    string `json:"kind"`
	Block   string `json:"block,omitempty"`
	Outcome string `json:"outcome"`
	Project string `json:"project,omitempty"`
	Space   string `json:"space,omitempty"`
	Target  string `json:"target,omitempty"`
	Why     string `json:"why,omitempty"`

	Difference string `json:"difference,omitempty"` // only in the report of a mirror: the difference between the two sides
}

// report has an outcome for every row.
type report struct {
	Source string         `json:"source"`
	DryRun bool           `json:"dryRun"`
	Rows   int            `json:"rows"`
	Counts map[string]int `json:"counts"`
	shadow string         // the mirror's name
	after  bool           // the import has started, so rows without an outcome were not reached
	of     *desired       // has the rows; may be nil
	more   []reportRow    // reports about objects without a row in the source
}

// order ranks the outcomes by severity. If a row has several items, the row gets the most severe outcome.
var order = []string{
	outcomeReference, outcomeSkipped, outcomeSame, outcomeEnded, outcomeCreated, outcomeChanged, outcomeReleased, outcomeCreate, outcomeChange,
	outcomeRelease, outcomeLeft, outcomeOnlyHere, outcomeOnlyThere, outcomeDiffers, outcomeHeldBack, outcomeTaken, outcomeRefused,
}

// account counts the rows by outcome. It stores no reportRow, because one needs about as much memory as the row. The method lines makes them when
// they are needed.
func account(w *desired, dry, after bool) report {
	out := report{Source: w.mapping.Source, DryRun: dry, after: after, of: w}
	out.count()
	return out
}

func (out *report) count() {
	out.Rows, out.Counts = len(out.of.rows), map[string]int{}
	for r := range out.lines {
		out.Counts[r.Outcome]++
	}
}

func (out *report) line(n int) reportRow {
	r, record := out.of.rows[n], out.of.records.At(n)
	line := reportRow{Row: record.ID, Kind: string(record.Kind), Block: record.Where()}
	line.Outcome, line.Why = r.ended()
	var targets []string
	for _, i := range r.items() {
		outcome := i.outcome
		if i.kind == rules.AsReservation && outcome == "" && i.parent != nil {
			outcome = i.parent.outcome
		}
		if outcome == "" {
			outcome = outcomeCreate
			if out.after {
				outcome = outcomeLeft
			}
		}
		if out.shadow != "" && outcome == outcomeRefused && i.counterpart != nil && i.counterpart.onServer && i.counterpart.labelMap()[shadowLabel] != out.shadow {
			outcome = outcomeTaken
		}
		if line.Outcome == "" || slices.Index(order, outcome) > slices.Index(order, line.Outcome) {
			line.Outcome, line.Why = outcome, i.why
		}
		line.Project, line.Space = i.project(), i.space()
		targets = append(targets, i.target())
	}
	if line.Target = strings.Join(targets, " "); len(targets) > 3 {
		line.Target = fmt.Sprintf("%s and %d more", targets[0], len(targets)-1)
	}
	if out.shadow != "" {
		line.Difference = differences[line.Outcome]
	}
	return line
}

// open counts the rows that should be in Carve and are not.
func (out *report) open() int {
	return out.Counts[outcomeRefused] + out.Counts[outcomeDiffers] + out.Counts[outcomeLeft]
}

// summary returns one line with a count for each outcome.
func (out *report) summary() string {
	text := show.CountOf(out.Rows, "row")
	if counts := countsText(out.Counts); counts != "" {
		text += ": " + counts
	}
	return text
}

// countsText returns the counts by outcome, ordered by severity.
func countsText(counts map[string]int) string {
	var parts []string
	for _, outcome := range order {
		if n := counts[outcome]; n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", n, outcome))
		}
	}
	return strings.Join(parts, ", ")
}

// print writes the report to the file in --report and to standard output. head is the JSON document without its items. diff prints the report for
// people, with at most limit rows.
func (m *input) print(head any, out *report, diff func(p *show.Printer, limit int) error) error {
	if m.reportFile != "" {
		if err := out.write(m.reportFile, head); err != nil {
			return err
		}
	}
	const limit = 50
	switch {
	case m.p.Structured():
		return show.DocumentOfList(m.p.Printer, head, "items", out.lines)
	case m.p.Quiet:
		return nil
	default:
		return diff(m.p.Printer, limit)
	}
}

// write writes the report to a file. The file's extension selects JSON or CSV. head is the JSON document without its items.
func (out *report) write(path string, head any) error {
	var put func(io.Writer) error
	switch strings.ToLower(filepath.Ext(path)) {
	case ".json":
		put = func(w io.Writer) error { return show.WriteList(w, head, "items", out.lines) }
	case ".csv":
		put = out.asSheet
	default:
		return exit.Usagef("--report %s: the name must end with .json or .csv", path)
	}
	f, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o600)
	if err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	if err := errors.Join(put(f), f.Close()); err != nil {
		return fmt.Errorf("cannot write the report: %w", err)
	}
	return nil
}

// asSheet writes the rows as CSV, one after the other.
func (out *report) asSheet(w io.Writer) error {
	sheet := show.SheetTo(w)
	line := func(difference string, cells ...string) {
		if out.shadow != "" {
			cells = append(cells, difference)
		}
		sheet.Row(cells...)
	}
	line("difference", "row", "kind", "block", "outcome", "project", "space", "target", "why")
	for r := range out.lines {
		line(r.Difference, r.Row, r.Kind, r.Block, r.Outcome, r.Project, r.Space, r.Target, r.Why)
	}
	return sheet.End()
}

// lines yields the reports about all rows, and then about the other objects.
func (out *report) lines(yield func(reportRow) bool) {
	for n := 0; out.of != nil && n < len(out.of.rows); n++ {
		if !yield(out.line(n)) {
			return
		}
	}
	for _, r := range out.more {
		if !yield(r) {
			return
		}
	}
}

// signs maps each outcome to the sign before its row.
var signs = map[string]string{
	outcomeCreate: "+", outcomeCreated: "+", outcomeSame: " ", outcomeDiffers: "~", outcomeRefused: "!", outcomeSkipped: "-", outcomeReference: " ",
	outcomeLeft: "?", outcomeChange: "~", outcomeChanged: "~", outcomeRelease: "-", outcomeReleased: "-", outcomeHeldBack: "!", outcomeTaken: "!",
	outcomeOnlyHere: "?", outcomeOnlyThere: "?", outcomeEnded: " ",
}

// plain reports whether the report for people omits a row.
func (out *report) plain(r reportRow) bool {
	return r.Outcome == outcomeReference || r.Outcome == outcomeSame || !out.DryRun && r.Outcome == outcomeCreated
}

// diff prints the report for people. A dry run prints every row that is not the same in Carve. Otherwise, only the rows that were not imported are
// printed.
func (out *report) diff(p *show.Printer, limit int) error {
	rows, hidden := iter.Seq[reportRow](func(yield func(reportRow) bool) {
		for r := range out.lines {
			if !out.plain(r) && !yield(r) {
				return
			}
		}
	}), 0
	if !out.DryRun {
		var some []reportRow
		some, hidden = worst(rows, limit, severity)
		rows = slices.Values(some)
	}
	columns := reportColumns(`
		ROW: row
		BLOCK: block
		OUTCOME: outcome
		SPACE: space
		IN CARVE: target
		WHY: why`)
	return p.Stream(func(w io.Writer) error {
		if err := show.WriteTable(w, p, columns, rows); err != nil {
			return err
		}
		return writeEnd(w, hidden, out.summary())
	})
}

// reportColumns returns a column with the sign, and the columns that a text describes.
func reportColumns(text string) []show.Column {
	columns := show.Columns(text, show.Cells[reportRow]{"done": func(r reportRow) string {
		if r.Outcome == r.Difference {
			return ""
		}
		return r.Outcome
	}})
	for n := range columns {
		columns[n].NeverCut = columns[n].Title == "BLOCK"
	}
	return slices.Insert(columns, 0, show.Column{Title: " ", Cell: show.CellOf(func(r reportRow) string { return signs[r.Outcome] })})
}

// writeEnd writes the lines below a report for people: how many rows it omits, and the summary.
func writeEnd(w io.Writer, hidden int, summary string) error {
	if hidden > 0 {
		summary = fmt.Sprintf("and %d more: --report FILE has all of them\n", hidden) + summary
	}
	_, err := fmt.Fprintln(w, summary)
	return err
}

func severity(r reportRow) int { return max(slices.Index(order, r.Outcome), 0) }

// worst returns the rows with the highest ranks, and how many others there are. A rank is at most len(order).
func worst(rows iter.Seq[reportRow], limit int, rank func(reportRow) int) (out []reportRow, others int) {
	ranked := make([][]reportRow, len(order)+1)
	for r := range rows {
		others++
		if at := rank(r); len(ranked[at]) < limit {
			ranked[at] = append(ranked[at], r)
		}
	}
	slices.Reverse(ranked)
	out = slices.Concat(ranked...)
	out = out[:min(len(out), limit)]
	return out, others - len(out)
}
