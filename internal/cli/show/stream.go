package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Stream prints the rows of a table as they arrive. A column is as wide as its widest cell so far.
type Stream[T any] struct {
	*Printer
	Columns []Column[T]
	widths  []int // the widths of the columns
	left    int   // number of columns at the end that do not fit the terminal
	began   bool  // the titles are printed
}

// Reserve makes the columns wide enough for rows that will be printed later.
func (s *Stream[T]) Reserve(items []T) {
	titles := cells(s.Printer, s.Columns, func(c Column[T]) string { return c.Title })
	s.widths = make([]int, len(titles))
	if !s.NoHeaders {
		s.widen(titles)
	}
	for _, item := range items {
		s.widen(cells(s.Printer, s.Columns, func(c Column[T]) string { return c.Cell(item) }))
	}
}

func (s *Stream[T]) widen(row []string) {
	for i, cell := range row {
		s.widths[i] = max(s.widths[i], utf8.RuneCountInString(cell))
	}
}

// Rows prints some rows. The titles come before the first row.
func (s *Stream[T]) Rows(items []T) error {
	var rows [][]string
	titled := false
	if !s.began && len(items) > 0 {
		s.began = true
		if s.widths == nil {
			s.Reserve(nil)
		}
		if !s.NoHeaders {
			rows, titled = append(rows, cells(s.Printer, s.Columns, func(c Column[T]) string { return c.Title })), true
		}
	}
	for _, item := range items {
		rows = append(rows, cells(s.Printer, s.Columns, func(c Column[T]) string { return c.Cell(item) }))
	}
	if s.Output == FormatCSV {
		return s.writeCSV(rows)
	}
	for _, row := range rows {
		s.widen(row)
	}
	before := s.left
	widths := slices.Clone(s.widths[:len(s.widths)-s.left])
	s.left += s.fit(widths, nil)
	var b strings.Builder
	for n, row := range rows {
		var line strings.Builder
		for i, cell := range row[:len(row)-s.left] {
			text := shorten(cell, widths[i])
			pad := strings.Repeat(" ", max(widths[i]-utf8.RuneCountInString(text), 0)+gap)
			if titled && n == 0 {
				text = s.Coloured("bold", text)
			}
			line.WriteString(text + pad)
		}
		b.WriteString(strings.TrimRight(line.String(), " ") + "\n")
	}
	if s.left > before {
		s.Printer.left = s.left
	}
	return s.Write([]byte(b.String()))
}

// OneOfMany prints one of several documents. A JSON document is on one line. A YAML document follows a separator line.
func (p *Printer) OneOfMany(doc json.RawMessage) error {
	if p.render != nil {
		return p.rendered(doc)
	}
	if p.Output == FormatYAML {
		text, err := yamlOf(doc)
		if err != nil {
			return err
		}
		return p.Write(append([]byte("---\n"), text...))
	}
	var b bytes.Buffer
	if err := json.Compact(&b, doc); err != nil {
		return fmt.Errorf("the server's response is not JSON: %w", err)
	}
	b.WriteByte('\n')
	return p.Write([]byte(escapedJSON(b.String())))
}
