package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
	"unicode"
)

// The ways to print.
const (
	formatTable = "table"
	formatWide  = "wide"
	formatJSON  = "json"
	formatYAML  = "yaml"
	formatName  = "name"
)

var formats = []string{formatTable, formatWide, formatJSON, formatYAML, formatName}

// view is how one kind of thing is shown to people.
type view[T any] struct {
	kind    string // for notes: "pool"
	columns []column[T]
	name    func(T) string
	cidr    func(T) string // nil where there is none

	// more is what `show` has besides the columns.
	more []column[T]

	// below is another table about things that were named, empty where there is nothing to say. nil: there is none.
	below func(p *program, items []T) []byte
}

// column is one column of a table; wide ones are in `-o wide` alone.
type column[T any] struct {
	title string
	wide  bool
	cell  func(T) string
}

// one shows a single document.
func one[T any](p *program, v view[T], doc json.RawMessage) error {
	return show(p, v, []json.RawMessage{doc}, doc, true)
}

// several shows named documents: one as it is, more as a list.
func several[T any](p *program, v view[T], docs []json.RawMessage) error {
	if len(docs) == 1 {
		return one(p, v, docs[0])
	}
	whole, err := marshal(page{Items: docs})
	if err != nil {
		return err
	}
	return show(p, v, docs, whole, true)
}

// list shows what a list answered.
func list[T any](p *program, v view[T], l page) error {
	whole, err := marshal(l)
	if err != nil {
		return err
	}
	if err := show(p, v, l.Items, whole, false); err != nil {
		return err
	}
	if len(l.Items) == 0 {
		p.remark("no %s", plural(v.kind))
	}
	if l.NextCursor != "" {
		p.remark("there is more: --cursor %s", l.NextCursor)
	}
	return nil
}

// show prints documents in the format that was asked for; whole is what -o json and yaml print. Of documents that were named --quiet
// means the block and not the name, and there may be more to say than a row.
func show[T any](p *program, v view[T], docs []json.RawMessage, whole json.RawMessage, named bool) error {
	switch p.flags.output {
	case formatJSON, formatYAML:
		return p.document(whole)
	}
	items, err := decode[T](docs)
	if err != nil {
		return err
	}
	if p.flags.quiet || p.flags.output == formatName {
		word := v.name
		if p.flags.quiet && named && v.cidr != nil {
			word = v.cidr
		}
		return p.lines(wordsOf(items, word))
	}
	text := tableOf(p, v.columns, items)
	if named && v.below != nil {
		if more := v.below(p, items); len(more) > 0 {
			text = append(append(text, '\n'), more...)
		}
	}
	return p.write(text)
}

func wordsOf[T any](items []T, word func(T) string) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = word(item)
	}
	return out
}

// trailing are the spaces that empty cells leave at the end of a line.
var trailing = regexp.MustCompile(`(?m) +$`)

// tableOf aligns rows under their titles.
func tableOf[T any](p *program, columns []column[T], items []T) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	row := func(cell func(column[T]) string) {
		var cells []string
		for _, c := range columns {
			if c.wide && p.flags.output != formatWide {
				continue
			}
			text := clean(cell(c))
			if text == "" {
				text = "-"
			}
			cells = append(cells, text)
		}
		_, _ = fmt.Fprintln(w, strings.Join(cells, "\t")) // into memory
	}
	if !p.flags.noHeaders && len(items) > 0 {
		row(func(c column[T]) string { return c.title })
	}
	for _, item := range items {
		row(func(c column[T]) string { return c.cell(item) })
	}
	_ = w.Flush() // into memory
	return trailing.ReplaceAll(b.Bytes(), nil)
}

// marshal is json.Marshal that leaves the documents inside as they are; that one rewrites <, > and & for web pages.
func marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// document prints JSON, indented, or the same as YAML. Nothing else about it is changed.
func (p *program) document(doc json.RawMessage) error {
	if p.flags.output == formatYAML {
		text, err := yamlOf(doc)
		if err != nil {
			return err
		}
		return p.write(text)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return fmt.Errorf("the server's answer is not JSON: %w", err)
	}
	b.WriteByte('\n')
	return p.write(b.Bytes())
}

// lines prints one word a line.
func (p *program) lines(list []string) error {
	var b bytes.Buffer
	for _, word := range list {
		b.WriteString(clean(word) + "\n")
	}
	return p.write(b.Bytes())
}

// write puts everything on standard output at once; a full disk or a closed pipe is a failure of the verb.
func (p *program) write(text []byte) error {
	if _, err := p.Out.Write(text); err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	return nil
}

// note says a line to the person at the terminal.
func (p *program) note(format string, args ...any) {
	_, _ = io.WriteString(p.Err, p.hidden(fmt.Sprintf(format, args...))+"\n") // when nobody can be told, nobody can be told that
}

// remark is a note that --quiet silences.
func (p *program) remark(format string, args ...any) {
	if !p.flags.quiet {
		p.note(format, args...)
	}
}

// clean makes text from elsewhere fit for one line of a terminal: no control characters, no line breaks.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) {
			return ' '
		}
		return r
	}, s)
}
