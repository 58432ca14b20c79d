package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"
)

// Stream prints rows as they come, in columns as wide as what they have held so far.
type Stream[T any] struct {
	*Printer
	Columns []Column[T]
	widths  []int // of the columns; nil: nothing was printed
}

// Rows prints some rows, the first ones under the titles.
func (s *Stream[T]) Rows(items []T) error {
	var rows [][]string
	if s.widths == nil && len(items) > 0 {
		titles := cells(s.Printer, s.Columns, func(c Column[T]) string { return c.Title })
		s.widths = make([]int, len(titles))
		if !s.NoHeaders {
			rows = append(rows, titles)
		}
	}
	for _, item := range items {
		rows = append(rows, cells(s.Printer, s.Columns, func(c Column[T]) string { return c.Cell(item) }))
	}
	for _, row := range rows {
		for i, cell := range row {
			s.widths[i] = max(s.widths[i], utf8.RuneCountInString(cell))
		}
	}
	var b strings.Builder
	for _, row := range rows {
		for i, cell := range row[:len(row)-1] {
			b.WriteString(cell + strings.Repeat(" ", s.widths[i]-utf8.RuneCountInString(cell)+3))
		}
		b.WriteString(row[len(row)-1] + "\n")
	}
	return s.Write([]byte(b.String()))
}

// OneOfMany prints one of several documents: JSON in a line of its own, or YAML after a line that separates documents.
func (p *Printer) OneOfMany(doc json.RawMessage) error {
	if p.Output == FormatYAML {
		text, err := yamlOf(doc)
		if err != nil {
			return err
		}
		return p.Write(append([]byte("---\n"), text...))
	}
	var b bytes.Buffer
	if err := json.Compact(&b, doc); err != nil {
		return fmt.Errorf("the server's answer is not JSON: %w", err)
	}
	b.WriteByte('\n')
	return p.Write(b.Bytes())
}
