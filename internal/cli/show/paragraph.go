package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Line has a field's name and value.
type Line [2]string

// Paragraphs prints a paragraph for each resource, with one field on each line. If the view has a second table, that table follows the paragraph.
func Paragraphs(p *Printer, v View, docs []json.RawMessage) error {
	items, err := v.decodeAll(docs)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for i, item := range items {
		if i > 0 {
			all.WriteByte('\n')
		}
		all.Write(Paragraph(LinesOf(slices.Concat(v.Columns, v.More), item)))
		if v.Below != nil {
			if more := v.Below(p, []any{item}); len(more) > 0 {
				all.WriteByte('\n')
				all.Write(more)
			}
		}
	}
	return p.Write(all.Bytes())
}

// LinesOf returns a line for each column.
func LinesOf(columns []Column, item any) (lines []Line) {
	for _, c := range columns {
		lines = append(lines, Line{strings.ToLower(c.Title), c.Cell(item)})
	}
	return lines
}

// Paragraph returns one line for each field that has a value.
func Paragraph(lines []Line) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		if l[1] != "" {
			fmt.Fprintf(&b, "%-15s %s\n", Clean(l[0])+":", Clean(l[1]))
		}
	}
	return b.Bytes()
}
