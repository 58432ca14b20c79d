package source

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
)

// decodeJSON reads a file with one JSON document.
func decodeJSON(f File, into any) error {
	d := json.NewDecoder(f.open())
	d.UseNumber()
	if err := d.Decode(into); err != nil {
		return f.faulty(err, 0)
	}
	end := d.InputOffset()
	if _, err := d.Token(); !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: a second document starts here: put each response into a separate file", f.place(f.afterBlanks(end)))
	}
	return nil
}

// faulty returns the error for a file that is not valid JSON or has an unexpected structure. The error has the position. at is the reader's position,
// for errors that have none.
func (f File) faulty(err error, at int64) error {
	if syntax, is := errors.AsType[*json.SyntaxError](err); is {
		at = syntax.Offset - 1
	}
	if shape, is := errors.AsType[*json.UnmarshalTypeError](err); is {
		at = shape.Offset
	}
	if errors.Is(err, io.EOF) || errors.Is(err, io.ErrUnexpectedEOF) {
		return fmt.Errorf("%s: the file ends within a JSON document: it is truncated", f.place(atEnd))
	}
	return fmt.Errorf("%s: it cannot be read: %w", f.place(at), err)
}
