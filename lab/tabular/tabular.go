// Package tabular writes figures, and tables of them, as pages show them.
package tabular

import (
	"strconv"
	"strings"
	"unicode/utf8"
)

// Table is a Markdown table of lines, the first of which is its head. So many columns are words, and stand at the left; figures follow.
func Table(lines [][]string, words int) string {
	widths := make([]int, len(lines[0]))
	for _, line := range lines {
		for i, text := range line {
			widths[i] = max(widths[i], utf8.RuneCountInString(text))
		}
	}
	var b strings.Builder
	for n, line := range lines {
		for i, text := range line {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(text))
			if i < words {
				text += pad
			} else {
				text = pad + text
			}
			b.WriteString("| " + text + " ")
		}
		b.WriteString("|\n")
		if n > 0 {
			continue
		}
		for i, w := range widths {
			if i < words {
				b.WriteString("|" + strings.Repeat("-", w+2))
			} else {
				b.WriteString("|" + strings.Repeat("-", w+1) + ":")
			}
		}
		b.WriteString("|\n")
	}
	return b.String()
}

// Figure is a number with three significant digits, as far as there are so many behind the point.
func Figure(v float64) string {
	switch {
	case v >= 100:
		return strconv.FormatFloat(v, 'f', 0, 64)
	case v >= 10:
		return strconv.FormatFloat(v, 'f', 1, 64)
	default:
		return strconv.FormatFloat(v, 'f', 2, 64)
	}
}
