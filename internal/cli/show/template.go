package show

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"reflect"
	"strings"
	"text/template"

	"k8s.io/client-go/util/jsonpath"
)

// These are the formats with an argument: -o jsonpath=…, -o go-template=…, -o custom-columns=….
const (
	FormatJSONPath      = "jsonpath"
	FormatGoTemplate    = "go-template"
	FormatCustomColumns = "custom-columns"
)

// rendering formats a document by a format's argument.
type rendering func(p *Printer, doc any) ([]byte, error)

// Format is the value for the flag --output. It is a word, and some words have an argument. Set parses the argument at once, so that a mistake in it
// is a usage error.
type Format struct{ P *Printer }

// String returns the current format.
func (f Format) String() string {
	if f.P == nil {
		return ""
	}
	return FirstOf(f.P.Output, FormatTable)
}

// Type returns the type for the help.
func (Format) Type() string { return "format" }

// Set parses a format.
func (f Format) Set(s string) (err error) {
	word, text, has := strings.Cut(s, "=")
	word = strings.ToLower(word)
	switch word {
	case FormatJSONPath:
		f.P.render, err = executed(path(text))
	case FormatGoTemplate:
		f.P.render, err = executed(template.New("out").Parse(text))
	case FormatCustomColumns:
		f.P.render, err = customColumnsOf(text)
	default:
		for _, known := range Formats {
			if word == known && !has {
				f.P.Output = word
				return nil
			}
		}
		return fmt.Errorf("must be one of %s", JoinComma(Formats))
	}
	if !has || text == "" {
		return fmt.Errorf("%s needs a value, as in -o %s", word, exampleFormats[word])
	}
	f.P.Output = word
	return err
}

var exampleFormats = map[string]string{
	FormatJSONPath:      "jsonpath='{.metadata.name}'",
	FormatGoTemplate:    "go-template='{{.metadata.name}}'",
	FormatCustomColumns: "custom-columns=NAME:.metadata.name,CIDR:.status.allocatedCIDR",
}

// path parses a JSONPath in three spellings: {.a.b}, .a.b or a.b.
func path(text string) (*jsonpath.JSONPath, error) {
	if !strings.Contains(text, "{") {
		text = "{." + strings.TrimPrefix(text, ".") + "}"
	}
	j := jsonpath.New("out").AllowMissingKeys(true)
	err := j.Parse(text)
	return j, err
}

// executed returns the rendering by a JSONPath or a template.
func executed(t interface {
	Execute(w io.Writer, doc any) error
}, err error) (rendering, error) {
	return func(_ *Printer, doc any) ([]byte, error) {
		var b bytes.Buffer
		err := t.Execute(&b, doc)
		return lineEnd(b.Bytes()), err
	}, err
}

// lineEnd adds a line feed to a text that has none at its end. In kubectl, the template must contain the line feed. A shell's $(…) removes the line
// feed again.
func lineEnd(text []byte) []byte {
	if len(text) > 0 && text[len(text)-1] != '\n' {
		return append(text, '\n')
	}
	return text
}

func customColumnsOf(text string) (rendering, error) {
	var columns []Column
	for part := range strings.SplitSeq(text, ",") {
		title, of, has := strings.Cut(part, ":")
		if !has || title == "" || of == "" {
			return nil, fmt.Errorf("%q is not a column: use TITLE:.path.to.field", part)
		}
		j, err := path(of)
		if err != nil {
			return nil, fmt.Errorf("%q: %w", of, err)
		}
		columns = append(columns, Column{Title: title, Cell: func(doc any) string { return FirstOf(valueAt(j, doc), "<none>") }})
	}
	return func(p *Printer, doc any) ([]byte, error) {
		rows := []any{doc}
		if list, is := doc.(map[string]any); is {
			if items, is := list["items"].([]any); is {
				rows = items
			}
		}
		return Table(p, columns, rows), nil
	}, nil
}

// valueAt returns the value at a path in a document. It joins several values with commas.
func valueAt(j *jsonpath.JSONPath, doc any) string {
	results, err := j.FindResults(doc)
	if err != nil {
		return ""
	}
	var out []string
	for _, values := range results {
		for _, v := range values {
			var b bytes.Buffer
			if err := j.PrintResults(&b, []reflect.Value{v}); err == nil {
				out = append(out, b.String())
			}
		}
	}
	return strings.Join(out, ",")
}

// wholeNumbers decodes a document and keeps numbers as they are written, so that 1000000 does not become 1e+06.
func wholeNumbers(doc json.RawMessage) (any, error) {
	d := json.NewDecoder(bytes.NewReader(doc))
	d.UseNumber()
	var v any
	err := d.Decode(&v)
	return v, err
}

// rendered prints a document with the template or path in the format's argument.
func (p *Printer) rendered(doc json.RawMessage) error {
	v, err := wholeNumbers(doc)
	if err != nil {
		return fmt.Errorf("the server's response is not JSON: %w", err)
	}
	text, err := p.render(p, v)
	if err != nil {
		return fmt.Errorf("-o %s: %w", p.Output, err)
	}
	if p.Width > 0 { // a terminal; a program gets the raw values
		text = []byte(Visible(string(text)))
	}
	return p.Write(text)
}
