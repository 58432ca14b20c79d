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

// gap is the space between columns. shortest is a shortened column's minimum width. The firstColumns columns identify a row.
const (
	gap          = 3
	shortest     = 8
	firstColumns = 2
)

// Table returns the table that WriteTable writes.
func Table[T any](p *Printer, columns []Column, items []T) []byte {
	var b bytes.Buffer
	_ = WriteTable(&b, p, columns, slices.Values(items)) // a write to a buffer cannot fail
	return b.Bytes()
}

// WriteTable writes rows that are aligned under their titles. On a terminal, the table is at most as wide as the terminal. WriteTable iterates over
// the items twice, so that it does not need all cells in memory.
func WriteTable[T any](w io.Writer, p *Printer, columns []Column, items iter.Seq[T]) error {
	return writeTable(w, p, columns, func(yield func(any) bool) {
		for item := range items {
			if !yield(item) {
				return
			}
		}
	})
}

func writeTable(w io.Writer, p *Printer, columns []Column, items iter.Seq[any]) error {
	rows := func(yield func([]string) bool) {
		title, sheet := !p.NoHeaders, p.Output == FormatCSV
		if title && sheet && !yield(titles(p, columns)) {
			return
		}
		for item := range items {
			if title && !sheet && !yield(titles(p, columns)) {
				return
			}
			title = false
			if !yield(cellsOf(p, columns, item)) {
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
	var shown []Column
	for _, c := range columns {
		if !c.Wide || p.Output == FormatWide {
			shown = append(shown, c)
		}
	}
	widths, empty, found := measure(rows, len(shown), !p.NoHeaders)
	kept := p.withoutEmpty(widths, empty)
	shown, widths = elementsAt(shown, kept), elementsAt(widths, kept)
	wider, whole := slices.Clone(widths), make([]bool, len(shown))
	for i, c := range shown {
		whole[i] = c.NeverCut
		if c.Bar && found {
			wider[i] = max(wider[i], barWidth+1+len("100.00%"))
		}
	}
	bars := p.Colour && roomOf(wider) <= p.Width
	if bars {
		widths = wider
	}
	left := p.fit(widths, whole)
	p.left = max(p.left, left)
	title := !p.NoHeaders
	b := bufio.NewWriter(w)
	for row := range rows {
		text := p.line(elementsAt(row, kept), widths[:len(widths)-left], title, func(i int, text string) string {
			if bars && shown[i].Bar {
				return bar(p, text)
			}
			return text
		})
		_, _ = b.WriteString(text) // Flush returns its error
		title = false
	}
	return b.Flush()
}

// line returns a row's line. draw replaces a cell that is no title, and may put a bar before it.
func (p *Printer) line(row []string, widths []int, title bool, draw func(i int, text string) string) string {
	var line strings.Builder
	for i, width := range widths {
		text := shorten(row[i], width)
		room := width - utf8.RuneCountInString(text)
		if title {
			text = p.Coloured("bold", text)
		} else if drawn := draw(i, text); drawn != text {
			text, room = drawn, room-barWidth-1
		}
		line.WriteString(text + strings.Repeat(" ", max(room, 0)+gap))
	}
	return strings.TrimRight(line.String(), " ") + "\n"
}

// titles returns the titles for the columns that the output format shows.
func titles(p *Printer, columns []Column) []string {
	return cells(p, columns, func(c Column) string { return c.Title })
}

// cellsOf returns an item's cells in these columns.
func cellsOf(p *Printer, columns []Column, item any) []string {
	return cells(p, columns, func(c Column) string { return c.Cell(item) })
}

// cells returns a row's cells in the columns that the output format shows.
func cells(p *Printer, columns []Column, cell func(Column) string) (row []string) {
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

// measure returns each column's width, and whether the column is empty in all rows. found is true if there is a row in addition to the titles.
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

// withoutEmpty returns the indexes for the columns to show. If the table is wider than the terminal, it omits empty columns after the first two.
func (p *Printer) withoutEmpty(widths []int, empty []bool) (kept []int) {
	for i := range widths {
		if i < firstColumns || !empty[i] || p.Width <= 0 || roomOf(widths) <= p.Width {
			kept = append(kept, i)
		}
	}
	return kept
}

// elementsAt returns the elements of a list at the given indexes.
func elementsAt[T any](list []T, at []int) []T {
	out := make([]T, len(at))
	for n, i := range at {
		out[n] = list[i]
	}
	return out
}

// roomOf returns the total width that columns need.
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

// barWidth is the bar's width for 100%.
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
