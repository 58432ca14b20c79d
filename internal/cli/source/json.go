package source

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeJSON reads a file with one JSON document.
func decodeJSON(f File, into any) error {
	d := json.NewDecoder(bytes.NewReader(f.Text))
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return f.faulty(err, 0)
	}
	end := int(d.InputOffset())
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: a second document begins there: give each answer a file of its own", place(f.Name, f.Text, end+blanks(f.Text[end:])))
	}
	return nil
}

// blanks returns the number of white-space bytes that start a text.
func blanks(text []byte) int { return len(text) - len(bytes.TrimLeft(text, " \t\r\n")) }

// faulty returns an error with the position where a file is not valid JSON or has an unexpected shape. at is the reader's position.
func (f File) faulty(err error, at int) error {
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		at = int(syntax.Offset) - 1
	}
	if shape, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		at = int(shape.Offset)
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: the file ends within a JSON document: it was cut", place(f.Name, f.Text, len(f.Text)))
	}
	return fmt.Errorf("%s: it cannot be read: %w", place(f.Name, f.Text, at), err)
}
