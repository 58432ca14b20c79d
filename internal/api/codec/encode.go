package codec

import (
	"bytes"
	"encoding/json"
	"maps"
	"net/http"
	"slices"
	"strconv"
	"sync"
	"time"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// jsonType is every response's Content-Type. All responses share the slice, because code may replace a header's values but never writes to them.
var jsonType = []string{"application/json"}

// jsonText writes the same JSON as encoding/json, byte for byte, but without reflection. It encodes the most frequent responses, which contain
// claims; by default, a list has up to a hundred. TestHandWrittenEncodingMatchesTheLibrary compares each hand-written type with encoding/json. It
// fails if the contract has a field that this code lacks.
type jsonText struct {
	b   []byte
	err error // the first value that JSON cannot express
}

// open begins an object or array.
func (w *jsonText) open(bracket byte) { w.b = append(w.b, bracket) }

// close ends an object or array. If there is a comma after the last entry, the bracket replaces it.
func (w *jsonText) close(bracket byte) {
	if last := len(w.b) - 1; w.b[last] == ',' {
		w.b[last] = bracket
	} else {
		w.b = append(w.b, bracket)
	}
	w.comma()
}

func (w *jsonText) comma() { w.b = append(w.b, ',') }

// name writes a member's name. The name is a literal without characters to escape.
func (w *jsonText) name(name string) {
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
}

// member starts a member whose value is an object.
func (w *jsonText) member(name string) {
	w.name(name)
	w.open('{')
}

func (w *jsonText) text(name, value string) {
	w.name(name)
	w.quote(value)
}

// optionalText writes a member with a text, unless the text is empty.
func (w *jsonText) optionalText(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *jsonText) integer(name string, value int64) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, value, 10)
	w.comma()
}

func (w *jsonText) timestamp(name string, at time.Time) {
	w.name(name)
	w.b = append(w.b, '"')
	b, err := at.AppendText(w.b)
	if err != nil {
		w.err = err
		return
	}
	w.b = b
	w.b = append(w.b, '"', ',')
}

// textMap writes a map of texts, sorted by key, unless the map is empty.
func (w *jsonText) textMap(name string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	w.member(name)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		w.quote(key)
		w.b[len(w.b)-1] = ':' // replaces the comma
		w.quote(values[key])
	}
	w.close('}')
}

// quote writes a string. If the string has characters to escape or characters outside ASCII, encoding/json encodes it.
func (w *jsonText) quote(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			w.encode(s)
			return
		}
	}
	w.b = append(append(append(w.b, '"'), s...), '"', ',')
}

// encodedMember writes a member that encoding/json encodes. It is for members that few claims have.
func (w *jsonText) encodedMember(name string, value any) {
	w.name(name)
	w.encode(value)
}

func (w *jsonText) encode(value any) {
	raw, err := json.Marshal(value)
	if err != nil {
		w.err = err
	}
	w.b = append(w.b, raw...)
	w.comma()
}

const (
	implicitLength = 2048      // net/http sets Content-Length itself up to this size
	maxPooled      = 256 << 10 // the largest buffer that the pool keeps
)

var answers = sync.Pool{New: func() any { return &jsonText{b: make([]byte, 0, 1024)} }}

// Page is a list's page in its wire form.
type Page[W any] struct {
	ChangesCursor string `json:"changesCursor,omitempty"` // only for kinds in the feed
	Items         []W    `json:"items"`
	NextCursor    string `json:"nextCursor,omitempty"`
}

// Answer sends the value that body points to as JSON. If the value cannot be encoded, Answer returns an error and sends nothing.
func Answer(w http.ResponseWriter, status int, body any) error {
	t, _ := answers.Get().(*jsonText)
	t.b, t.err = t.b[:0], nil
	defer func() {
		if cap(t.b) <= maxPooled {
			answers.Put(t)
		}
	}()
	t.write(body)
	if t.err != nil {
		return t.err
	}
	h := w.Header()
	h["Content-Type"] = jsonType
	if len(t.b) > implicitLength {
		h["Content-Length"] = []string{strconv.Itoa(len(t.b))}
	}
	w.WriteHeader(status)
	_, err := w.Write(t.b)
	return err
}

// write writes a response body and a line end.
func (w *jsonText) write(body any) {
	switch body := body.(type) {
	case *gen.IPClaim:
		w.claim(body)
	case *Page[gen.IPClaim]:
		w.open('{')
		w.optionalText("changesCursor", body.ChangesCursor)
		w.claims("items", body.Items)
		w.optionalText("nextCursor", body.NextCursor)
		w.close('}')
	case *gen.ClaimBatch:
		w.open('{')
		w.claims("claims", body.Claims)
		w.close('}')
	default:
		b := bytes.NewBuffer(w.b)
		w.err = json.NewEncoder(b).Encode(body)
		w.b = b.Bytes()
		return
	}
	w.b[len(w.b)-1] = '\n' // replaces the comma after the value
}
