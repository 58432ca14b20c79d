package conform

import (
	"bytes"
	"strings"
)

// garbled is a body that is not JSON, or that is not exactly one JSON object.
type garbled struct {
	kind string
	body []byte
	want int
}

const maxBody = 1 << 20

// garbles returns bodies with faults that a server finds before it applies the schema. body is a valid object.
func garbles(body []byte) []garbled {
	opened := bytes.IndexByte(body, '{') + 1
	again := func(member string) []byte { // adds a second member with the same name before the other members
		out := append([]byte{}, body[:opened]...)
		out = append(out, member...)
		if len(bytes.TrimSpace(body[opened:])) > 1 {
			out = append(out, ',')
		}
		return append(out, body[opened:]...)
	}
	out := []garbled{
		{"body: broken JSON", body[:len(body)-1], 400},
		{"body: broken JSON", append([]byte("//\n"), body...), 400},
		{"body: broken JSON", append(bytes.ReplaceAll(body, []byte(`"`), []byte(`'`)), '\''), 400},
		{"body: broken JSON", append(bytes.TrimSuffix(body, []byte("}")), ",}"...), 400},
		{"body: broken JSON", []byte("NaN"), 400},
		{"body: text after the value", append(bytes.Clone(body), "{}"...), 400},
		{"body: text after the value", append(bytes.Clone(body), "\x00"...), 400},
		{"body: duplicate key", again(`"spec":{},"spec":{}`), 400},
		{"body: duplicate key", again(`"x":1,"\u0078":1`), 400},
		{"body: deep nesting", []byte(strings.Repeat("[", 20000) + strings.Repeat("]", 20000)), 400},
		{"body: deep nesting", []byte(strings.Repeat(`{"spec":`, 5000) + "1" + strings.Repeat("}", 5000)), 400},
		{"body: deep nesting", []byte(strings.Repeat("[", 100000)), 400},
		{"body: byte order mark", append([]byte("\xef\xbb\xbf"), body...), 400},
		{"body: UTF-16", []byte("\xff\xfe{\x00}\x00"), 400},
		{"body: NUL", append([]byte("\x00"), body...), 400},
		{"body: wrong type", []byte("null"), 400},
		{"body: wrong type", []byte("[]"), 400},
		{"body: wrong type", []byte(`"x"`), 400},
		{"body: wrong type", []byte("1"), 400},
		{"body: wrong type", []byte("true"), 400},
		{"body: none", []byte{}, 400},
		{"body: none", []byte(" \n"), 400},
		{"body: too large", append(bytes.Clone(body), bytes.Repeat([]byte(" "), maxBody)...), 413},
		{"body: too large", []byte(`{"metadata":{"name":"` + strings.Repeat("a", maxBody) + `"}}`), 413},
		{"body: many members", []byte("{" + strings.TrimSuffix(strings.Repeat(`"":0,`, 50000), ",") + "}"), 400},
	}
	return out
}
