package source

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"hash"
	"io"
	"math"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
)

// Text is a file's content. The readers read it several times, so that they do not need it whole in memory.
type Text interface {
	io.ReaderAt
	Size() int64
}

// File is one input.
type File struct {
	Name string // as the user gave it; it appears in row IDs
	Text Text
	// Encoding is the declared encoding. nil means UTF-8.
	Encoding encoding.Encoding
	// Columns maps the names that ipamctl knows to the titles in the file.
	Columns map[string]string

	scanned
}

// scanned has the properties that the first read finds. Offsets count bytes in UTF-8.
type scanned struct {
	from  encoding.Encoding // the encoding; nil means UTF-8
	begin int64             // the text's offset, after a byte order mark
	head  []byte            // the first bytes, in UTF-8
	lines int               // line feeds
	end   int64             // the offset at which the text ends, without white space at its end
}

// chunkSize is the number of bytes that one call reads.
const chunkSize = 16 << 10

// maxHead limits head, in bytes. A table's first line must be shorter.
const maxHead = 64 << 10

// open returns a reader for the text in UTF-8.
func (f File) open() *bufio.Reader {
	var r io.Reader = io.NewSectionReader(f.Text, f.begin, f.Text.Size()-f.begin)
	if f.from != nil {
		r = f.from.NewDecoder().Reader(r)
	}
	return bufio.NewReaderSize(r, chunkSize)
}

// whole returns the text in UTF-8.
func (f File) whole() ([]byte, error) {
	text, err := io.ReadAll(f.open())
	if err != nil {
		return nil, fmt.Errorf("%s: %w", f.Name, err)
	}
	return text, nil
}

// isJSON reports whether the text can be JSON. It is true if the text is empty or begins with an object or a list.
func (f File) isJSON() bool {
	text := bytes.TrimSpace(f.head)
	return len(text) == 0 || text[0] == '{' || text[0] == '['
}

// scan reads the text once. If some text is not in the declared encoding, it returns an error.
func (f *File) scan(sum hash.Hash) error {
	_, _ = fmt.Fprintf(sum, "%d\n", f.Text.Size())
	if _, err := io.Copy(sum, io.NewSectionReader(f.Text, 0, f.Text.Size())); err != nil {
		return fmt.Errorf("%s: it cannot be read: %w", f.Name, err)
	}
	if err := f.decode(); err != nil {
		return err
	}
	var zero, invalid int64 = -1, -1
	chunk, kept := make([]byte, chunkSize), 0
	for at, r := int64(0), f.open(); ; {
		n, err := r.Read(chunk[kept:])
		text := chunk[:kept+n]
		if room := maxHead - len(f.head); room > 0 {
			f.head = append(f.head, chunk[kept:kept+min(n, room)]...)
		}
		done := 0
		for done < len(text) && (utf8.FullRune(text[done:]) || err != nil) {
			r, size := utf8.DecodeRune(text[done:])
			switch {
			case r == utf8.RuneError && (size == 1 || f.from != nil) && invalid < 0:
				invalid = at + int64(done)
			case r == 0 && zero < 0:
				zero = at + int64(done)
			case r == '\n':
				f.lines++
			}
			done += size
			if r != ' ' && r != '\t' && r != '\r' && r != '\n' {
				f.end = at + int64(done)
			}
		}
		at, kept = at+int64(done), copy(chunk, text[done:])
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return fmt.Errorf("%s: it cannot be decoded: %w", f.Name, err)
		}
	}
	switch {
	case f.from != nil && invalid >= 0: // the decoder writes U+FFFD for bytes that it cannot decode
		return fmt.Errorf("%s: the bytes here are not valid in the declared encoding", f.place(invalid))
	case f.from == nil && zero >= 0:
		return fmt.Errorf("%s: there is a zero byte: if the text is UTF-16, use --encoding utf-16le or utf-16be", f.place(zero))
	case invalid >= 0:
		return fmt.Errorf("%s: the text is not UTF-8: save the file as UTF-8, or give its encoding, such as --encoding latin1 or --encoding windows-1252", f.place(invalid))
	}
	return nil
}

// place returns an offset's line and column. If the text is shorter, it returns the position of its end.
func (f File) place(at int64) string {
	line, column := 1, 1
	for r := f.open(); at > 0; at-- {
		b, err := r.ReadByte()
		switch {
		case err != nil:
			return fmt.Sprintf("%s:%d:%d", f.Name, line, column)
		case b == '\n':
			line, column = line+1, 1
		case utf8.RuneStart(b):
			column++
		}
	}
	return fmt.Sprintf("%s:%d:%d", f.Name, line, column)
}

// afterBlanks returns the offset of the first character that is not white space, beginning at the offset at.
func (f File) afterBlanks(at int64) int64 {
	r := f.open()
	if _, err := io.CopyN(io.Discard, r, at); err != nil {
		return at
	}
	for {
		b, err := r.ReadByte()
		if err != nil || !strings.ContainsRune(" \t\r\n", rune(b)) {
			return at
		}
		at++
	}
}

const atEnd = math.MaxInt64
