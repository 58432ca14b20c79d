package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// Line is one thing that is said of something, and its value.
type Line [2]string

// Paragraphs prints all there is to say about things that were named: a paragraph for each, one thing a line, and what stands below.
func Paragraphs[T any](p *Printer, v View[T], docs []json.RawMessage) error {
	items, err := Decode[T](docs)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for i, item := range items {
		if i > 0 {
			all.WriteByte('\n')
		}
		lines := []Line{}
		for _, c := range slices.Concat(v.Columns, v.More) {
			lines = append(lines, Line{strings.ToLower(c.Title), c.Cell(item)})
		}
		all.Write(Paragraph(lines))
		if v.Below != nil {
			if more := v.Below(p, []T{item}); len(more) > 0 {
				all.WriteByte('\n')
				all.Write(more)
			}
		}
	}
	return p.Write(all.Bytes())
}

// Paragraph is what there is to say, one thing a line. What has no value is left out.
func Paragraph(lines []Line) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		if l[1] != "" {
			fmt.Fprintf(&b, "%-15s %s\n", Clean(l[0])+":", Clean(l[1]))
		}
	}
	return b.Bytes()
}
