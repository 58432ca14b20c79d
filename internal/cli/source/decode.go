package source

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"

	"golang.org/x/text/encoding"
	"golang.org/x/text/encoding/htmlindex"
	"golang.org/x/text/encoding/ianaindex"
	"golang.org/x/text/encoding/unicode"
	"golang.org/x/text/encoding/unicode/utf32"
)

// marks lists the byte order marks that declare an encoding. UTF-32 comes first, because its mark starts with the mark of UTF-16.
var marks = []struct {
	mark     string
	encoding encoding.Encoding
}{
	{"\xff\xfe\x00\x00", utf32.UTF32(utf32.LittleEndian, utf32.ExpectBOM)},
	{"\x00\x00\xfe\xff", utf32.UTF32(utf32.BigEndian, utf32.ExpectBOM)},
	{"\xff\xfe", unicode.UTF16(unicode.LittleEndian, unicode.ExpectBOM)},
	{"\xfe\xff", unicode.UTF16(unicode.BigEndian, unicode.ExpectBOM)},
}

// EncodingOf finds an encoding by its IANA name or by its name in browsers.
func EncodingOf(name string) (encoding.Encoding, error) {
	if name == "" {
		return nil, nil //nolint:nilnil // no encoding is declared
	}
	if e, err := ianaindex.IANA.Encoding(name); err == nil && e != nil {
		return e, nil
	}
	if e, err := htmlindex.Get(name); err == nil {
		return e, nil
	}
	return nil, fmt.Errorf("%q is not a known encoding: use utf-8, latin1, windows-1252, utf-16le, utf-16be, shift_jis, gb18030 or another one", name)
}

// decode sets the encoding that a byte order mark or --encoding declares. It does not guess. It returns an error for a binary file.
func (f *File) decode() error {
	first := make([]byte, min(int64(len("\xd0\xcf\x11\xe0")), f.Text.Size()))
	if _, err := f.Text.ReadAt(first, 0); err != nil && !errors.Is(err, io.EOF) {
		return fmt.Errorf("%s: it cannot be read: %w", f.Name, err)
	}
	const mark = "\xef\xbb\xbf"
	if bytes.HasPrefix(first, []byte(mark)) {
		f.begin = int64(len(mark))
		return nil
	}
	for _, m := range marks {
		if bytes.HasPrefix(first, []byte(m.mark)) {
			f.from = m.encoding
			return nil
		}
	}
	if f.Encoding != nil && f.Encoding != unicode.UTF8 {
		f.from = f.Encoding
		return nil
	}
	if kind := notText(first); kind != "" {
		return fmt.Errorf("%s: it is %s", f.Name, kind)
	}
	return nil
}

// notText recognizes well-known binary files by their first bytes, and returns their kind. For all other files it returns "".
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

// shown quotes a text for a message. It shortens the text and replaces control characters, which could change the terminal.
func shown(text string) string {
	const limit = 60
	text = strings.TrimSpace(text)
	if len(text) > limit {
		text = strings.ToValidUTF8(text[:limit], "") + "..."
	}
	return fmt.Sprintf("%q", text)
}
