package show

import (
	"bytes"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// gap is the space between columns, and shortest the minimum width of a truncated one.
const (
	gap          = 3
	shortest     = 8
	firstColumns = 2
)

// Table aligns rows under their titles. On a terminal the table is no wider than the terminal.
func Table[T any](p *Printer, columns []Column[T], items []T) []byte {
	var rows [][]string
	if !p.NoHeaders && (len(items) > 0 || p.Output == FormatCSV) {
		rows = append(rows, cells(p, columns, func(c Column[T]) string { return c.Title }))
	}
	for _, item := range items {
		rows = append(rows, cells(p, columns, func(c Column[T]) string { return c.Cell(item) }))
	}
	if p.Output == FormatCSV {
		return csvOf(rows)
	}
	var shown []Column[T]
	for _, c := range columns {
		if !c.Wide || p.Output == FormatWide {
			shown = append(shown, c)
		}
	}
	rows, shown = withoutEmpty(p, rows, shown, len(items))
	widths, bars := widthsOf(rows, len(shown)), p.Colour
	wider := slices.Clone(widths)
	for i, c := range shown {
		if c.Bar && len(items) > 0 {
			wider[i] = max(wider[i], barWidth+1+len("100.00%"))
		}
	}
	if bars = bars && roomOf(wider) <= p.Width; bars {
		widths = wider
	}
	whole := make([]bool, len(shown))
	for i, c := range shown {
		whole[i] = c.Whole
	}
	left := p.fit(widths, whole)
	var b bytes.Buffer
	for n, row := range rows {
		title := n == 0 && !p.NoHeaders
		var line strings.Builder
		for i, cell := range row[:len(row)-left] {
			text, last := shorten(cell, widths[i]), i == len(row)-left-1
			pad := strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(text), 0)+gap)
			switch {
			case title:
				text = p.Coloured("bold", text)
			case shown[i].Bar && bars:
				drawn := bar(p, text)
				if drawn != text {
					pad = strings.Repeat(" ", max(widths[i]-barWidth-1-len(text), 0)+gap)
				}
				text = drawn
			}
			if last {
				pad = ""
			}
			line.WriteString(text + pad)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	p.left = max(p.left, left)
	return b.Bytes()
}

// cells returns a row's cells in the printed columns.
func cells[T any](p *Printer, columns []Column[T], cell func(Column[T]) string) (row []string) {
	for _, c := range columns {
		text := Clean(cell(c))
		switch {
		case p.Output == FormatCSV:
			row = append(row, strings.TrimSpace(text))
		case !c.Wide || p.Output == FormatWide:
			row = append(row, FirstOf(text, "-"))
		}
	}
	return row
}

func widthsOf(rows [][]string, n int) []int {
	widths := make([]int, n)
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	return widths
}

// withoutEmpty removes columns that are empty in all rows, if the terminal has no room for them.
func withoutEmpty[T any](p *Printer, rows [][]string, shown []Column[T], items int) (some [][]string, of []Column[T]) {
	if p.Width <= 0 || roomOf(widthsOf(rows, len(shown))) <= p.Width {
		return rows, shown
	}
	some = make([][]string, len(rows))
	titles := len(rows) - items
	for i, c := range shown {
		empty := i >= firstColumns
		for _, row := range rows[titles:] {
			empty = empty && strings.Trim(row[i], "- ") == ""
		}
		if empty {
			continue
		}
		of = append(of, c)
		for n, row := range rows {
			some[n] = append(some[n], row[i])
		}
	}
	return some, of
}

// roomOf returns the total width of columns.
func roomOf(widths []int) int {
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total
}

// fit narrows columns, the widest first, until they fit the terminal. It returns the number of columns at the end without any room. It narrows the
// first two columns, which identify a row, and the whole ones last.
func (p *Printer) fit(widths []int, whole []bool) (left int) {
	if p.Width <= 0 {
		return 0
	}
	kept := func(i int) bool { return i < firstColumns || i < len(whole) && whole[i] }
	least, fewest := slices.Clone(widths), firstColumns
	for i := range least {
		if kept(i) {
			fewest = max(fewest, i+1)
		} else {
			least[i] = min(least[i], shortest)
		}
	}
	shown := widths
	for len(shown) > fewest && roomOf(least[:len(shown)]) > p.Width {
		shown = shown[:len(shown)-1]
	}
	for room := roomOf(shown); room > p.Width; room-- {
		widest := -1
		for i, width := range shown {
			if width > 1 && !kept(i) && (widest < 0 || width > shown[widest]) {
				widest = i
			}
		}
		if widest < 0 {
			widest = slices.Index(shown, slices.Max(shown))
		}
		if shown[widest] <= 1 {
			break
		}
		shown[widest]--
	}
	return len(widths) - len(shown)
}

// shorten truncates a text and ends it with an ellipsis.
func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width-1, 0)]) + "…"
}

// barWidth is the width of a percentage's bar.
const barWidth = 10

// bar draws a percentage before its number, in a colour by its size.
func bar(p *Printer, text string) string {
	percent, err := strconv.ParseFloat(strings.TrimSuffix(strings.TrimSpace(text), "%"), 64)
	if err != nil {
		return text
	}
	full := min(int(math.Ceil(percent/100*barWidth)), barWidth)
	sign := "+"
	if percent >= 90 {
		sign = "-"
	} else if percent >= 75 {
		sign = "~"
	}
	return p.Coloured(sign, strings.Repeat("█", full)) + p.Coloured("dim", strings.Repeat("░", barWidth-full)) + " " + text
}

// csvOf returns rows as CSV.
func csvOf(rows [][]string) []byte {
	var sheet Sheet
	for _, row := range rows {
		sheet.Row(row...)
	}
	return sheet.Bytes()
}

func (p *Printer) writeCSV(rows [][]string) error { return p.Write(csvOf(rows)) }
