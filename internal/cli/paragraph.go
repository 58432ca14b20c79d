package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
)

// line is one thing that is said of something, in the vertical view.
type line struct{ what, value string }

// paragraphs prints all there is to say about things that were named: a paragraph for each, one thing a line, and what stands below.
func paragraphs[T any](p *program, v view[T], docs []json.RawMessage) error {
	items, err := decode[T](docs)
	if err != nil {
		return err
	}
	var all bytes.Buffer
	for i, item := range items {
		if i > 0 {
			all.WriteByte('\n')
		}
		lines := []line{}
		for _, c := range slices.Concat(v.columns, v.more) {
			lines = append(lines, line{strings.ToLower(c.title), c.cell(item)})
		}
		all.Write(paragraph(lines))
		if v.below != nil {
			if more := v.below(p, []T{item}); len(more) > 0 {
				all.WriteByte('\n')
				all.Write(more)
			}
		}
	}
	return p.write(all.Bytes())
}

// paragraph is what there is to say, one thing a line. What has no value is left out.
func paragraph(lines []line) []byte {
	var b bytes.Buffer
	for _, l := range lines {
		if l.value != "" {
			fmt.Fprintf(&b, "%-15s %s\n", clean(l.what)+":", clean(l.value))
		}
	}
	return b.Bytes()
}
