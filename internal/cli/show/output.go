// Package show prints the server's responses. People get tables and paragraphs. Programs get documents.
package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
)

// These are the output formats without an argument.
const (
	FormatTable = "table"
	FormatWide  = "wide"
	FormatJSON  = "json"
	FormatYAML  = "yaml"
	FormatName  = "name"
	FormatCSV   = "csv"
)

// Formats lists all formats as a user types them.
var Formats = []string{
	FormatTable, FormatWide, FormatJSON, FormatYAML, FormatName, FormatCSV, FormatJSONPath + "=", FormatGoTemplate + "=", FormatCustomColumns + "=",
}

// Page is a page from a list. It keeps the items as raw JSON.
type Page struct {
	Items      []json.RawMessage `json:"items"`
	NextCursor string            `json:"nextCursor,omitempty"`
}

// Printer prints responses and notes in one format.
type Printer struct {
	To, Aside        io.Writer
	Hide             func(text string) string // removes secrets from notes
	Output           string                   // one of the formats
	Quiet, NoHeaders bool
	SortBy           string // a path into each document, or a column's title
	Colour           bool   // the output is a terminal with colours
	Width            int    // that terminal's columns; 0 if the output is not a terminal

	Watched  bool      // notes go to a terminal
	left     int       // number of columns that do not fit; the next write prints a remark about them
	render   rendering // for a format with an argument; nil for all other formats
	progress progressLine
}

// View describes how objects of one kind are shown to people. The functions take an object as its type Object. They are not generic, because the
// compiler would otherwise compile the tables, the watches and all commands once for each kind.
type View struct {
	Kind    string       // the name for notes, such as "pool"
	Object  reflect.Type // the type of the decoded objects
	Columns []Column
	Name    Cell
	Cidr    Cell // returns the object's block; nil if the kind has none

	// More lists the fields that `show` prints in addition to the columns.
	More []Column

	// Below returns a second table about objects that were requested by name. It returns nothing if there is no such table. It may be nil.
	Below func(p *Printer, items []any) []byte
}

// Cell returns a text about an object.
type Cell func(object any) string

// CellOf returns the Cell for objects of type T.
func CellOf[T any](text func(T) string) Cell {
	return func(object any) string {
		t, _ := object.(T)
		return text(t)
	}
}

// Column is a table column. Only `-o wide` shows the columns with Wide.
type Column struct {
	Title    string
	Wide     bool
	Bar      bool // draws a percentage on a terminal
	NeverCut bool // a narrow terminal shortens this column only after all other columns
	Cell     Cell
}

// One shows a single document.
func One(p *Printer, v View, doc json.RawMessage) error {
	return Show(p, v, []json.RawMessage{doc}, doc, true)
}

// OneOrList shows the objects that were found. If the user named only one object, it shows a single document. Otherwise it shows a list.
func OneOrList(p *Printer, v View, docs []json.RawMessage, named int) error {
	if named == 1 {
		return One(p, v, docs[0])
	}
	whole, err := Marshal(Page{Items: append([]json.RawMessage{}, docs...)})
	if err != nil {
		return err
	}
	return Show(p, v, docs, whole, true)
}

// List shows a list.
func List(p *Printer, v View, l Page) error {
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

// Show prints documents in the requested format. whole is the output for -o json and -o yaml. If the user named the documents, --quiet prints the
// block instead of the name, and the view's second table follows the rows.
func Show(p *Printer, v View, docs []json.RawMessage, whole json.RawMessage, named bool) error {
	if p.Structured() {
		return p.Document(whole)
	}
	items, err := v.decodeAll(docs)
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

// Report prints a document that has no view. It prints the document itself for programs, and the words for --quiet and -o name. For people it calls
// text.
func (p *Printer) Report(doc any, words func() []string, text func() error) error {
	switch {
	case p.Structured():
		return p.DocumentOf(doc)
	case p.Quiet || p.Output == FormatName:
		return p.Lines(words())
	default:
		return text()
	}
}

// WordsOf applies word to each item.
func WordsOf[T any](items []T, word func(T) string) []string {
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = word(item)
	}
	return out
}

// Marshal encodes a value like json.Marshal, but without the HTML escapes of <, > and &. It therefore keeps embedded documents unchanged.
func Marshal(v any) (json.RawMessage, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(v); err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n")), nil
}

// Structured reports whether the output format is for programs.
func (p *Printer) Structured() bool {
	return p.Output == FormatJSON || p.Output == FormatYAML || p.render != nil
}

// Tabular reports whether the output has tables and sentences for people.
func (p *Printer) Tabular() bool {
	return !p.Quiet && (p.Output == FormatTable || p.Output == FormatWide)
}

// DocumentOf encodes a value and prints it as a document.
func (p *Printer) DocumentOf(v any) error {
	doc, err := Marshal(v)
	if err != nil {
		return err
	}
	return p.Document(doc)
}

// Document prints a document as indented JSON or as YAML. It escapes hidden characters and changes nothing else.
func (p *Printer) Document(doc json.RawMessage) error {
	return p.document(doc, "", func(b *bytes.Buffer) error { return json.Indent(b, doc, "", "  ") })
}

// document prints a document. In YAML, it first prints the text begin. For JSON, the function layout writes the document to a buffer.
func (p *Printer) document(doc json.RawMessage, begin string, layout func(*bytes.Buffer) error) error {
	if p.render != nil {
		return p.rendered(doc)
	}
	if p.Output == FormatYAML {
		text, err := yamlOf(doc)
		if err != nil {
			return err
		}
		return p.Write(append([]byte(begin), text...))
	}
	var b bytes.Buffer
	if err := layout(&b); err != nil {
		return fmt.Errorf("the server's response is not JSON: %w", err)
	}
	b.WriteByte('\n')
	return p.Write([]byte(escapedJSON(b.String())))
}

// Lines prints each word on a separate line.
func (p *Printer) Lines(list []string) error {
	var b bytes.Buffer
	for _, word := range list {
		b.WriteString(Clean(word) + "\n")
	}
	return p.Write(b.Bytes())
}

// Write writes the whole text to standard output. If the disk is full or the pipe is closed, the command fails.
func (p *Printer) Write(text []byte) error {
	return p.Stream(func(w io.Writer) error {
		_, err := w.Write(text)
		return err
	})
}

// Stream calls a function that writes a long text to standard output piece by piece.
func (p *Printer) Stream(write func(io.Writer) error) error {
	p.ProgressEnds()
	if err := write(p.To); err != nil {
		return fmt.Errorf("cannot write the output: %w", err)
	}
	if p.left > 0 {
		p.Remark("%s did not fit: use -o csv, -o json or a wider terminal to see all columns", CountOf(p.left, "column"))
		p.left = 0
	}
	return nil
}

// Note prints a line for the user at the terminal.
func (p *Printer) Note(format string, args ...any) {
	p.progress.mu.Lock()
	defer p.progress.mu.Unlock()
	p.progressEnds()
	_, _ = io.WriteString(p.Aside, Visible(p.Hide(fmt.Sprintf(format, args...)))+"\n") // an error here cannot be reported
}

// Remark prints a note. With --quiet it prints nothing.
func (p *Printer) Remark(format string, args ...any) {
	if !p.Quiet {
		p.Note(format, args...)
	}
}

// Decode decodes a document into an object.
func (v View) Decode(doc json.RawMessage) (any, error) {
	object := reflect.New(v.Object)
	err := read(doc, object.Interface())
	return object.Elem().Interface(), err
}

func (v View) decodeAll(docs []json.RawMessage) (objects []any, err error) {
	objects = make([]any, len(docs))
	for i, doc := range docs {
		if objects[i], err = v.Decode(doc); err != nil {
			return nil, err
		}
	}
	return objects, nil
}

// Decode decodes documents.
func Decode[T any](docs []json.RawMessage) (_ []T, err error) {
	items := make([]T, len(docs))
	for i, doc := range docs {
		if items[i], err = Read[T](doc); err != nil {
			return nil, err
		}
	}
	return items, nil
}

// Read decodes one document.
func Read[T any](doc json.RawMessage) (item T, err error) {
	err = read(doc, &item)
	return item, err
}

func read(doc json.RawMessage, into any) error {
	if err := json.Unmarshal(doc, into); err != nil {
		return fmt.Errorf("cannot read the server's response: %w", err)
	}
	return nil
}
