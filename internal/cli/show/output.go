// Package show prints answers: tables and paragraphs for people, documents for programs.
package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
)

// The ways to print.
const (
	FormatTable = "table"
	FormatWide  = "wide"
	FormatJSON  = "json"
	FormatYAML  = "yaml"
	FormatName  = "name"
	FormatCSV   = "csv"
)

// Formats are all of them, as a person types them.
var Formats = []string{
	FormatTable, FormatWide, FormatJSON, FormatYAML, FormatName, FormatCSV, FormatJSONPath + "=", FormatGoTemplate + "=", FormatCustomColumns + "=",
}

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
	SortBy           string // a path into each document of a list, or the title of a column
	Colour           bool   // answers go to a terminal that has colours
	Width            int    // columns of that terminal; 0: it is none

	Watched  bool      // notes go to a terminal
	left     int       // columns of the tables that are written next that do not fit the terminal
	render   rendering // of a format with a text behind it
	progress progressing
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
	Bar   bool // on a terminal a percentage is drawn too
	Whole bool // a narrow terminal cuts all other columns first
	Cell  func(T) string
}

// One shows a single document.
func One[T any](p *Printer, v View[T], doc json.RawMessage) error {
	return Show(p, v, []json.RawMessage{doc}, doc, true)
}

// SomeOf shows what there is of so many things that were named: one as it is, of more a list.
func SomeOf[T any](p *Printer, v View[T], docs []json.RawMessage, named int) error {
	if named == 1 {
		return One(p, v, docs[0])
	}
	whole, err := Marshal(Page{Items: append([]json.RawMessage{}, docs...)})
	if err != nil {
		return err
	}
	return Show(p, v, docs, whole, true)
}

// List shows what a list answered.
func List[T any](p *Printer, v View[T], l Page) error {
	if err := sortPage(p, v, &l); err != nil {
		return err
	}
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
func (p *Printer) Structured() bool {
	return p.Output == FormatJSON || p.Output == FormatYAML || p.render != nil
}

// Tabular reports whether people read it, in tables and sentences.
func (p *Printer) Tabular() bool {
	return !p.Quiet && (p.Output == FormatTable || p.Output == FormatWide)
}

// DocumentOf prints a value as a document.
func (p *Printer) DocumentOf(v any) error {
	doc, err := Marshal(v)
	if err != nil {
		return err
	}
	return p.Document(doc)
}

// Document prints JSON, indented, or the same as YAML. Hidden characters are written as escapes; nothing else about it is changed.
func (p *Printer) Document(doc json.RawMessage) error {
	if p.render != nil {
		return p.rendered(doc)
	}
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
	return p.Write([]byte(escapedJSON(b.String())))
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
	p.ProgressEnds()
	if _, err := p.To.Write(text); err != nil {
		return fmt.Errorf("cannot write the answer: %w", err)
	}
	if p.left > 0 {
		p.Remark("%s did not fit: -o csv, -o json and a wider terminal have all", CountOf(p.left, "column"))
		p.left = 0
	}
	return nil
}

// Note says a line to the person at the terminal.
func (p *Printer) Note(format string, args ...any) {
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	p.progressEnds()
	_, _ = io.WriteString(p.Aside, Visible(p.Hide(fmt.Sprintf(format, args...)))+"\n") // a failure to print has no other place to be printed
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
