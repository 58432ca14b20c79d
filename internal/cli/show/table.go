package show

import (
	"bufio"
	"bytes"
	"io"
	"iter"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"
)

// gap is the space between columns. shortest is the minimum width of a shortened column. firstColumns is the number of columns that identify a row.
const (
	gap          = 3
	shortest     = 8
	firstColumns = 2
)

// Table returns the table that WriteTable writes.
func Table[T any](p *Printer, columns []Column[T], items []T) []byte {
	var b bytes.Buffer
	_ = WriteTable(&b, p, columns, slices.Values(items)) // a write to a buffer cannot fail
	return b.Bytes()
}

// WriteTable writes rows that are aligned under their titles. On a terminal, the table is at most as wide as the terminal. WriteTable iterates over
// the items twice, so that it does not need all cells in memory.
func WriteTable[T any](w io.Writer, p *Printer, columns []Column[T], items iter.Seq[T]) error {
	rows := func(yield func([]string) bool) {
		title := !p.NoHeaders
		if title && p.Output == FormatCSV {
			title = false
			if !yield(cells(p, columns, func(c Column[T]) string { return c.Title })) {
				return
			}
		}
		for item := range items {
			if title && !yield(cells(p, columns, func(c Column[T]) string { return c.Title })) {
				return
			}
			title = false
			if !yield(cells(p, columns, func(c Column[T]) string { return c.Cell(item) })) {
				return
			}
		}
	}
	if p.Output == FormatCSV {
		sheet := SheetTo(w)
		for row := range rows {
			sheet.Row(row...)
		}
		return sheet.End()
	}
	var shown []Column[T]
	for _, c := range columns {
		if !c.Wide || p.Output == FormatWide {
			shown = append(shown, c)
		}
	}
	widths, empty, found := measure(rows, len(shown), !p.NoHeaders)
	kept := p.withoutEmpty(widths, empty)
	shown, widths = chosen(shown, kept), chosen(widths, kept)
	bars := p.Colour
	wider := slices.Clone(widths)
	for i, c := range shown {
		if c.Bar && found {
			wider[i] = max(wider[i], barWidth+1+len("100.00%"))
		}
	}
	if bars = bars && roomOf(wider) <= p.Width; bars {
		widths = wider
	}
	whole := make([]bool, len(shown))
	for i, c := range shown {
		whole[i] = c.NeverCut
	}
	left := p.fit(widths, whole)
	p.left = max(p.left, left)
	title := !p.NoHeaders
	b := bufio.NewWriter(w)
	for row := range rows {
		row = chosen(row, kept)
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
		_, _ = b.WriteString(strings.TrimRight(line.String(), " ") + "\n") // Flush returns the error of this write
		title = false
	}
	return b.Flush()
}

// cells returns a row's cells in the columns that the output format shows.
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

// measure returns the widths of the columns and the columns that are empty in all rows. found is true if there is a row in addition to the titles.
func measure(rows iter.Seq[[]string], n int, titles bool) (widths []int, empty []bool, found bool) {
	widths, empty = make([]int, n), slices.Repeat([]bool{true}, n)
	for row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
			empty[i] = empty[i] && (titles || strings.Trim(cell, "- ") == "")
		}
		found = found || !titles
		titles = false
	}
	return widths, empty, found
}

// withoutEmpty returns the indexes of the columns to show. If the table is wider than the terminal, it omits empty columns after the first two.
func (p *Printer) withoutEmpty(widths []int, empty []bool) (kept []int) {
	for i := range widths {
		if i < firstColumns || !empty[i] || p.Width <= 0 || roomOf(widths) <= p.Width {
			kept = append(kept, i)
		}
	}
	return kept
}

// chosen returns the elements of a list at the given indexes.
func chosen[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for n, i := range at {
		out[n] = list[i]
	}
	return out
}

// roomOf returns the total width of columns.
func roomOf(widths []int) int {
	total := gap * (len(widths) - 1)
	for _, w := range widths {
		total += w
	}
	return total
}

// fit makes columns narrower until the table fits the terminal. If that is not enough, it omits columns at the end and returns their number. It
// narrows the widest column first. The first two columns identify a row, so it narrows them, and the columns marked in whole, only after all other
// columns.
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

// shorten cuts a text at a width and ends it with an ellipsis.
func shorten(text string, width int) string {
	if utf8.RuneCountInString(text) <= width {
		return text
	}
	return string([]rune(text)[:max(width-1, 0)]) + "…"
}

// barWidth is the width of a percentage's bar.
const barWidth = 10

// bar returns a percentage with a bar before it. The percentage also determines the bar's colour.
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
