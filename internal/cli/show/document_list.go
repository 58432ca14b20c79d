package show

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"iter"
)

// DocumentOfList prints an object whose last member is a long list. head contains the other members, name is the member's name, and items are the
// list. JSON and YAML are written item by item. A format with an argument needs the whole document in memory.
func DocumentOfList[T any](p *Printer, head any, name string, items iter.Seq[T]) error {
	switch {
	case p.render != nil:
		var doc bytes.Buffer
		if err := WriteList(&doc, head, name, items); err != nil {
			return err
		}
		return p.rendered(doc.Bytes())
	case p.Output == FormatYAML:
		return p.Stream(func(w io.Writer) error { return writeYAMLList(w, head, name, items) })
	default:
		return p.Stream(func(w io.Writer) error { return WriteList(w, head, name, items) })
	}
}

// WriteList writes the document of DocumentOfList as JSON.
func WriteList[T any](w io.Writer, head any, name string, items iter.Seq[T]) error {
	begin, err := indented(head, "")
	if err != nil {
		return err
	}
	to := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(to, "%s,\n  %q: [", bytes.TrimSuffix(begin, []byte("\n}")), name) // Flush returns the first error
	between, end := "\n    ", "]\n}\n"
	for item := range items {
		text, err := indented(item, "    ")
		if err != nil {
			return err
		}
		_, _ = fmt.Fprintf(to, "%s%s", between, text)
		between, end = ",\n    ", "\n  ]\n}\n"
	}
	_, _ = to.WriteString(end)
	return to.Flush()
}

// indented returns a value as the indented JSON of Document.
func indented(v any, prefix string) ([]byte, error) {
	doc, err := Marshal(v)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	err = json.Indent(&b, doc, prefix, "  ")
	return []byte(escapedJSON(b.String())), err
}

func writeYAMLList[T any](w io.Writer, head any, name string, items iter.Seq[T]) error {
	doc, err := Marshal(head)
	if err != nil {
		return err
	}
	begin, err := yamlOf(doc)
	if err != nil {
		return err
	}
	to := bufio.NewWriter(w)
	_, _ = fmt.Fprintf(to, "%s%s:", begin, name) // Flush returns the first error
	rest := " []\n"
	for item := range items {
		if doc, err = Marshal([]T{item}); err != nil {
			return err
		}
		text, err := yamlOf(doc)
		if err != nil {
			return err
		}
		if rest != "" {
			_, _ = to.WriteString("\n")
			rest = ""
		}
		for line := range bytes.Lines(text) {
			if len(line) > 1 {
				_, _ = to.WriteString("  ")
			}
			_, _ = to.Write(line)
		}
	}
	_, _ = to.WriteString(rest)
	return to.Flush()
}
