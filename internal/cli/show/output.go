// Package show prints answers: tables and paragraphs for people, documents for programs.
package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/tabwriter"
)

// The ways to print.
const (
	FormatTable = "table"
	FormatWide  = "wide"
	FormatJSON  = "json"
	FormatYAML  = "yaml"
	FormatName  = "name"
)

// Formats are all of them.
var Formats = []string{FormatTable, FormatWide, FormatJSON, FormatYAML, FormatName}

// Page is the shape of every list. The items stay as they came.
type Page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

// Printer is where answers and notes go, and how they are printed.
type Printer struct {
	To, Aside        io.Writer
	Hide             func(text string) string // takes secrets out of notes
	Output           string                   // one of the formats
	Quiet, NoHeaders bool
}

// View is how one kind of thing is shown to people.
type View[T any] struct {
	Kind    string // for notes: "pool"
	Columns []Column[T]
	Name    func(T) string
	Cidr    func(T) string // nil where there is none

	// more is what `show` has besides the columns.
	More []Column[T]

	// below is another table about things that were named, empty where there is nothing to say. nil: there is none.
	Below func(p *Printer, items []T) []byte
}

// Column is one column of a table; wide ones are in `-o wide` alone.
type Column[T any] struct {
	Title string
	Wide  bool
	Cell  func(T) string
}

// One shows a single document.
func One[T any](p *Printer, v View[T], doc json.RawMessage) error {
	return Show(p, v, []json.RawMessage{doc}, doc, true)
}

// Several shows named documents: one as it is, more as a list.
func Several[T any](p *Printer, v View[T], docs []json.RawMessage) error {
	if len(docs) == 1 {
		return One(p, v, docs[0])
	}
	whole, err := Marshal(Page{Items: docs})
	if err != nil {
		return err
	}
	return Show(p, v, docs, whole, true)
}

// List shows what a list answered.
func List[T any](p *Printer, v View[T], l Page) error {
	whole, err := Marshal(l)
	if err != nil {
		return err
	}
	if err := Show(p, v, l.Items, whole, false); err != nil {
		return err
	}
	if len(l.Items) == 0 {
		p.Remark("no %s", Plural(v.Kind))
	}
	if l.NextCursor != "" {
		p.Remark("there is more: --cursor %s", l.NextCursor)
	}
	return nil
}

// Show prints documents in the format that was asked for; whole is what -o json and yaml print. Of documents that were named --quiet
// means the block and not the name, and there may be more to say than a row.
func Show[T any](p *Printer, v View[T], docs []json.RawMessage, whole json.RawMessage, named bool) error {
	if p.Structured() {
		return p.Document(whole)
	}
	items, err := Decode[T](docs)
	if err != nil {
		return err
	}
	if p.Quiet || p.Output == FormatName {
		word := v.Name
		if p.Quiet && named && v.Cidr != nil {
			word = v.Cidr
		}
		return p.Lines(WordsOf(items, word))
	}
	text := Table(p, v.Columns, items)
	if named && v.Below != nil {
		if more := v.Below(p, items); len(more) > 0 {
			text = append(append(text, '\n'), more...)
		}
	}
	return p.Write(text)
}

// WordsOf is one word of each item.
func WordsOf[T any](items []T, word func(T) string) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = word(item)
	}
	return out
}

// trailing are the spaces that empty cells leave at the end of a line.
var trailing = regexp.MustCompile(`(?m) +$`)

// Table aligns rows under their titles.
func Table[T any](p *Printer, columns []Column[T], items []T) []byte {
	var b bytes.Buffer
	w := tabwriter.NewWriter(&b, 0, 0, 3, ' ', 0)
	row := func(cell func(Column[T]) string) {
		_, _ = fmt.Fprintln(w, strings.Join(cells(p, columns, cell), "\t")) // into memory
	}
	if !p.NoHeaders && len(items) > 0 {
		row(func(c Column[T]) string { return c.Title })
	}
	for _, item := range items {
		row(func(c Column[T]) string { return c.Cell(item) })
	}
	_ = w.Flush() // into memory
	return trailing.ReplaceAll(b.Bytes(), nil)
}

// cells are what a row has in the columns that are printed.
func cells[T any](p *Printer, columns []Column[T], cell func(Column[T]) string) (row []string) {
	for _, c := range columns {
		if !c.Wide || p.Output == FormatWide {
			row = append(row, FirstOf(Clean(cell(c)), "-"))
		}
	}
	return row
}

// Marshal is json.Marshal that leaves the documents inside as they are; that one rewrites <, > and & for web pages.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Structured reports whether programs read the answer.
func (p *Printer) Structured() bool { return p.Output == FormatJSON || p.Output == FormatYAML }

// DocumentOf prints a value as a document.
func (p *Printer) DocumentOf(v any) error {
	doc, err := Marshal(v)
	if err != nil {
		return err
	}
	return p.Document(doc)
}

// Document prints JSON, indented, or the same as YAML. Nothing else about it is changed.
func (p *Printer) Document(doc json.RawMessage) error {
	if p.Output == FormatYAML {
		text, err := yamlOf(doc)
		if err != nil {
			return err
		}
		return p.Write(text)
	}
	var b bytes.Buffer
	if err := json.Indent(&b, doc, "", "  "); err != nil {
		return fmt.Errorf("the server's answer is not JSON: %w", err)
	}
	b.WriteByte('\n')
	return p.Write(b.Bytes())
}

// Lines prints one word a line.
func (p *Printer) Lines(list []string) error {
	var b bytes.Buffer
	for _, word := range list {
		b.WriteString(Clean(word) + "\n")
	}
	return p.Write(b.Bytes())
}

// Write puts everything on standard output at once; a full disk or a closed pipe is a failure of the verb.
func (p *Printer) Write(text []byte) error {
	if _, err := p.To.Write(text); err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	return nil
}

// Note says a line to the person at the terminal.
func (p *Printer) Note(format string, args ...any) {
	_, _ = io.WriteString(p.Aside, p.Hide(fmt.Sprintf(format, args...))+"\n") // when nobody can be told, nobody can be told that
}

// Remark is a note that --quiet silences.
func (p *Printer) Remark(format string, args ...any) {
	if !p.Quiet {
		p.Note(format, args...)
	}
}

// Decode reads documents.
func Decode[T any](docs []json.RawMessage) ([]T, error) {
	items := make([]T, len(docs))
	for i, doc := range docs {
		if err := json.Unmarshal(doc, &items[i]); err != nil {
			return nil, fmt.Errorf("cannot read the server's answer: %w", err)
		}
	}
	return items, nil
}
