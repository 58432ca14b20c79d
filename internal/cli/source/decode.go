package source

import (
	"bytes"
	"fmt"
	"strings"
	"unicode/utf8"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// marks are the byte order marks that declare a text's encoding. UTF-32 comes first: its mark starts with the mark of UTF-16.
var marks = []struct {
	mark     string
	encoding encoding.Encoding
}{
	{"\xff\xfe\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.ExpectBOM)},
	{"\x00\x00\xfe\xff", utf32.UTF32(utf32.BigEndian, utf32.ExpectBOM)},
	{"\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)},
	{"\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM)},
}

// EncodingOf finds an encoding by its IANA name or its name in browsers.
func EncodingOf(name string) (encoding.Encoding, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // it is not declared
	}
	if e, err := ianaindex.IANA.Encoding(name); err == nil && e != nil {
		return e, nil
	}
	if e, err := htmlindex.Get(name); err == nil {
		return e, nil
	}
	return nil, fmt.Errorf("%q is no encoding: there are utf-8, latin1, windows-1252, utf-16le, utf-16be, shift_jis, gb18030 and others", name)
}

// decode returns a file's text in UTF-8. A byte order mark or --encoding declares another encoding; decode does not guess.
func (f File) decode() ([]byte, error) {
	if text, is := bytes.CutPrefix(f.Text, []byte("\xef\xbb\xbf")); is {
		return text, f.isUTF8(text)
	}
	for _, m := range marks {
		if bytes.HasPrefix(f.Text, []byte(m.mark)) {
			return f.from(m.encoding)
		}
	}
	if f.Encoding != nil && f.Encoding != unicode.UTF8 {
		return f.from(f.Encoding)
	}
	return f.Text, f.isUTF8(f.Text)
}

// from decodes a text. It refuses a text with U+FFFD, which the decoder writes for invalid bytes, because letters would be lost.
func (f File) from(e encoding.Encoding) ([]byte, error) {
	text, err := e.NewDecoder().Bytes(f.Text)
	if err != nil {
		return nil, fmt.Errorf("%s: it cannot be decoded: %w", f.Name, err)
	}
	if at := bytes.IndexRune(text, utf8.RuneError); at >= 0 {
		return nil, fmt.Errorf("%s: the bytes there are not of the declared encoding", place(f.Name, text, at))
	}
	return text, nil
}

// isUTF8 refuses text that is not UTF-8, and binary files.
func (f File) isUTF8(text []byte) error {
	if kind := notText(text); kind != "" {
		return fmt.Errorf("%s: it is %s", f.Name, kind)
	}
	if at := bytes.IndexByte(text, 0); at >= 0 {
		return fmt.Errorf("%s: there is a zero byte: say --encoding utf-16le or utf-16be if it is such a text", place(f.Name, text, at))
	}
	for at := 0; at < len(text); {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			return fmt.Errorf("%s: the text is not UTF-8: save the file as UTF-8, or say its encoding, as --encoding latin1 or --encoding windows-1252",
				place(f.Name, text, at))
		}
		at += size
	}
	return nil
}

// notText names the kind of a well-known binary file by its first bytes, or returns "".
func notText(text []byte) string {
	for begin, kind := range map[string]string{
		"PK\x03\x04":       "an Excel workbook (.xlsx) or another zip archive: save the sheet as CSV, and import that",
		"\xd0\xcf\x11\xe0": "an Excel workbook (.xls): save the sheet as CSV, and import that",
		"\x1f\x8b":         "compressed with gzip: decompress it first", "%PDF-": "a PDF",
	} {
		if bytes.HasPrefix(text, []byte(begin)) {
			return kind
		}
	}
	return ""
}

// place returns the line and the column of a byte.
func place(name string, text []byte, at int) string {
	at = min(max(at, 0), len(text))
	line := 1 + bytes.Count(text[:at], []byte("\n"))
	begin := bytes.LastIndexByte(text[:at], '\n') + 1
	return fmt.Sprintf("%s:%d:%d", name, line, 1+utf8.RuneCount(text[begin:at]))
}

// shown quotes a text for a message: short, and without control characters for a terminal.
func shown(text string) string {
	const most = 60
	text = strings.TrimSpace(text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return fmt.Sprintf("%q", text)
}
