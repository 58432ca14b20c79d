package scale

import (
	"fmt"
	"slices"
	"strings"

	"github.com/carve-ipam/carve/lab/tabular"
)

// line has the figures of one operation in a cell, and in the smallest cell of the axis. Both were measured in turn.
type line struct {
	*figures
	Smallest *figures `json:"smallest"`
	Ratios   ratios   `json:"ratios"`
}

// ratios are the cell's figures divided by the figures of the smallest cell.
type ratios struct {
	P50        float64 `json:"p50"`
	P99        float64 `json:"p99"`
	Statements float64 `json:"statements"`
	Rows       float64 `json:"rows"`
	Pages      float64 `json:"pages"`
}

func compareLines(names []string, cell, smallest map[string]*figures) []*line {
	var out []*line
	for _, name := range names {
		a, b := cell[name], smallest[name]
		out = append(out, &line{figures: a, Smallest: b, Ratios: ratios{
			divide(a.P50, b.P50), divide(a.P99, b.P99), divide(a.Statements, b.Statements), divide(a.Rows, b.Rows), divide(a.Pages, b.Pages),
		}})
	}
	return out
}

func divide(a, b float64) float64 {
	if b == 0 {
		return 0
	}
	return a / b
}

// A figure grows if it exceeds both limits: half as much again, and more pages than one or two additional index levels can explain.
const (
	growthRatio = 1.5
	growthLeast = 12
	sameCalls   = 0.5 // limit for statements, which must not grow: less than one more
	// longWay limits the statements of a claim or release that does not succeed in one round trip. Whether it does depends on the server's cache. The
	// limit includes one statement for a split block, one for a stored response, and the statements of a failed round trip.
	longWay = 28
)

// growth is an operation that costs more in a larger cell.
type growth struct {
	Axis      string  `json:"axis"`
	Cell      string  `json:"cell"`
	Operation string  `json:"operation"`
	What      string  `json:"what"` // statements, rows or pages
	From      float64 `json:"from"`
	To        float64 `json:"to"`
	Where     string  `json:"where,omitempty"`  // the statement or table that grew most
	Broken    bool    `json:"broken,omitempty"` // the growth exceeds the limit for statements, so it fails the run
}

// grown returns the figures of a cell that exceed the figures of the smallest cell by more than the limits.
func grown(axis, cell string, l *line) []growth {
	var out []growth
	add := func(what string, from, to float64, broken bool) {
		out = append(out, growth{Axis: axis, Cell: cell, Operation: l.Operation, What: what, From: from, To: to, Where: culprit(l, what), Broken: broken})
	}
	if limit := l.Smallest.Statements + sameCalls; l.Statements > limit {
		twoWays := (l.Operation == "claim" || l.Operation == "release") && l.Statements <= longWay
		add("statements", l.Smallest.Statements, l.Statements, !twoWays)
	}
	for _, m := range []struct {
		what     string
		from, to float64
	}{{"rows", l.Smallest.Rows, l.Rows}, {"pages", l.Smallest.Pages, l.Pages}} {
		if m.to > m.from*growthRatio && m.to > m.from+growthLeast {
			add(m.what, m.from, m.to, false)
		}
	}
	return out
}

// culprit names the cause of a growth. For rows it is the table with the most additional rows, and otherwise the statement that grew most.
func culprit(l *line, what string) string {
	largest, name := 0.0, ""
	if what == "rows" {
		for table, n := range l.Tables {
			if more := n - l.Smallest.Tables[table]; more > largest {
				largest, name = more, "table "+table
			}
		}
		return name
	}
	for _, p := range l.Parts {
		var was part
		if i := slices.IndexFunc(l.Smallest.Parts, func(q part) bool { return q.Statement == p.Statement }); i >= 0 {
			was = l.Smallest.Parts[i]
		}
		more := p.Pages - was.Pages
		if what == "statements" {
			more = p.Calls - was.Calls
		}
		if more > largest {
			largest, name = more, p.Statement
		}
	}
	return name
}

// tell describes the growth in text. Each operation and figure that grew gets one line, with the cells in their order.
func tell(all []growth) string {
	type subject struct{ axis, operation, what, where string }
	var order []subject
	cells := map[subject]string{}
	for _, g := range all {
		s := subject{g.Axis, g.Operation, g.What, g.Where}
		if cells[s] == "" {
			order = append(order, s)
			cells[s] = tabular.Figure(g.From) + " in the smallest"
		}
		cells[s] += "; " + tabular.Figure(g.To) + " in " + g.Cell
	}
	var b strings.Builder
	for _, s := range order {
		fmt.Fprintf(&b, "* %s: %s takes more %s, most of them in %s: %s\n", s.axis, s.operation, s.what, s.where, cells[s])
	}
	return b.String()
}
