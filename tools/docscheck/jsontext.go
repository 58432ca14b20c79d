package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"strings"
)

// jsonWidth is the maximum width of a line. An object or list that fits into this width stays on one line.
const jsonWidth = 110

// jsonLines returns a JSON text with one member on a line, for comparison.
func jsonLines(text string) ([]string, error) {
	var b bytes.Buffer
	if err := json.Indent(&b, []byte(strings.TrimSpace(text)), "", "  "); err != nil {
		return nil, err
	}
	return strings.Split(b.String(), "\n"), nil
}

// jsonPage returns a JSON text for readers. It keeps the order of the members, and puts small objects on one line.
func jsonPage(text string) (string, error) {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	v, err := readValue(d)
	if err != nil {
		return "", err
	}
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return "", errors.New("more than one JSON value")
	}
	return v.show("", 0), nil
}

// value is a JSON value that keeps the order of its members.
type value struct {
	scalar string
	open   string // "{" or "[" for a value with members
	names  []string
	items  []value
}

func readValue(d *json.Decoder) (value, error) {
	t, err := d.Token()
	if err != nil {
		return value{}, err
	}
	open, ok := t.(json.Delim)
	if !ok {
		var b bytes.Buffer
		e := json.NewEncoder(&b)
		e.SetEscapeHTML(false)
		err := e.Encode(t)
		return value{scalar: strings.TrimSpace(b.String())}, err
	}
	v := value{open: open.String()}
	for d.More() {
		if v.open == "{" {
			name, err := d.Token()
			if err != nil {
				return v, err
			}
			quoted, err := json.Marshal(name)
			if err != nil {
				return v, err
			}
			v.names = append(v.names, string(quoted))
		}
		item, err := readValue(d)
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
	_, err = d.Token()
	return v, err
}

// show returns the text of a value. before is the number of characters that precede the value on its line.
func (v value) show(indent string, before int) string {
	if flat := v.flat(); v.open == "" || len(indent)+before+len(flat) <= jsonWidth && v.depth() <= 1 {
		return flat
	}
	var b strings.Builder
	b.WriteString(v.open + "\n")
	for i, item := range v.items {
		name := v.name(i)
		b.WriteString(indent + "  " + name + item.show(indent+"  ", len(name)))
		if i < len(v.items)-1 {
			b.WriteByte(',')
		}
		b.WriteByte('\n')
	}
	b.WriteString(indent + v.closing())
	return b.String()
}

func (v value) flat() string {
	if v.open == "" {
		return v.scalar
	}
	parts := make([]string, len(v.items))
	for i, item := range v.items {
		parts[i] = v.name(i) + item.flat()
	}
	inside := strings.Join(parts, ", ")
	if v.open == "{" && inside != "" {
		inside = " " + inside + " "
	}
	return v.open + inside + v.closing()
}

// depth counts the levels of members.
func (v value) depth() int {
	if v.open == "" {
		return 0
	}
	most := 0
	for _, item := range v.items {
		most = max(most, item.depth())
	}
	return most + 1
}

func (v value) name(i int) string {
	if v.open == "{" {
		return v.names[i] + ": "
	}
	return ""
}

func (v value) closing() string {
	if v.open == "{" {
		return "}"
	}
	return "]"
}
