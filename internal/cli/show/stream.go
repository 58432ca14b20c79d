package show

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"
	"unicode/utf8"
)

// Stream prints table rows as they arrive. A column is as wide as its widest cell so far.
type Stream struct {
	*Printer
	Columns []Column
	widths  []int // by column
	left    int   // number of columns at the end that do not fit the terminal
	began   bool  // the titles are printed
}

// Reserve makes the columns wide enough for rows that will be printed later.
func (s *Stream) Reserve(items []any) {
	row := titles(s.Printer, s.Columns)
	s.widths = make([]int, len(row))
	if !s.NoHeaders {
		s.widen(row)
	}
	for _, item := range items {
		s.widen(cellsOf(s.Printer, s.Columns, item))
	}
}

func (s *Stream) widen(row []string) {
	for i, cell := range row {
		s.widths[i] = max(s.widths[i], utf8.RuneCountInString(cell))
	}
}

// Rows prints some rows. The titles come before the first row.
func (s *Stream) Rows(items []any) error {
	var rows [][]string
	titled := false
	if !s.began && len(items) > 0 {
		s.began = true
		if s.widths == nil {
			s.Reserve(nil)
		}
		if !s.NoHeaders {
			rows, titled = append(rows, titles(s.Printer, s.Columns)), true
		}
	}
	for _, item := range items {
		rows = append(rows, cellsOf(s.Printer, s.Columns, item))
	}
	if s.Output == FormatCSV {
		var sheet Sheet
		for _, row := range rows {
			sheet.Row(row...)
		}
		return s.Write(sheet.Bytes())
	}
	for _, row := range rows {
		s.widen(row)
	}
	before := s.left
	widths := slices.Clone(s.widths[:len(s.widths)-s.left])
	s.left += s.fit(widths, nil)
	var b strings.Builder
	for n, row := range rows {
		b.WriteString(s.line(row, widths[:len(row)-s.left], titled && n == 0, func(_ int, text string) string { return text }))
	}
	if s.left > before {
		s.Printer.left = s.left
	}
	return s.Write([]byte(b.String()))
}

// Rows returns items as the type that a Stream takes.
func Rows[T any](items []T) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = item
	}
	return out
}

// OneOfMany prints a document that other documents may follow. A JSON document is on one line. A YAML document follows a separator line.
func (p *Printer) OneOfMany(doc json.RawMessage) error {
	return p.document(doc, "---\n", func(b *bytes.Buffer) error { return json.Compact(b, doc) })
}
