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

// jsonType is shared by all answers: a header's values are replaced and never written to.
var jsonType = []string{"application/json"}

// jsonText writes JSON as encoding/json does, byte for byte, without reflection. It is for what is answered most: claims, of which a list has
// a hundred. A type that is written by hand here is compared with encoding/json in TestWhatIsWrittenByHandIsWhatTheLibraryWrites, which also
// finds a field that the contract has and the hand has not.
type jsonText struct {
	b   []byte
	err error // the first thing that has no JSON
}

// open begins an object or array.
func (w *jsonText) open(bracket byte) { w.b = append(w.b, bracket) }

// shut ends an object or array: what was last written may have left a comma.
func (w *jsonText) shut(bracket byte) {
	if last := len(w.b) - 1; w.b[last] == ',' {
		w.b[last] = bracket
	} else {
		w.b = append(w.b, bracket)
	}
	w.comma()
}

func (w *jsonText) comma() { w.b = append(w.b, ',') }

// name writes the name of a member: a literal that needs no escapes.
func (w *jsonText) name(name string) {
	w.b = append(append(append(w.b, '"'), name...), '"', ':')
}

// member opens an object that is a member.
func (w *jsonText) member(name string) {
	w.name(name)
	w.open('{')
}

func (w *jsonText) text(name, value string) {
	w.name(name)
	w.quoted(value)
}

// some writes a text unless it is empty.
func (w *jsonText) some(name, value string) {
	if value != "" {
		w.text(name, value)
	}
}

func (w *jsonText) integer(name string, value int64) {
	w.name(name)
	w.b = strconv.AppendInt(w.b, value, 10)
	w.comma()
}

func (w *jsonText) moment(name string, at time.Time) {
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

// texts writes a map of texts, in order of the keys, unless it is empty.
func (w *jsonText) texts(name string, values map[string]string) {
	if len(values) == 0 {
		return
	}
	w.member(name)
	for _, key := range slices.Sorted(maps.Keys(values)) {
		w.quoted(key)
		w.b[len(w.b)-1] = ':' // in place of the comma
		w.quoted(values[key])
	}
	w.shut('}')
}

// quoted writes a string. One with anything that is escaped, or is not ASCII, is the library's to write.
func (w *jsonText) quoted(s string) {
	for i := range len(s) {
		if c := s[i]; c < ' ' || c > '~' || c == '"' || c == '\\' || c == '<' || c == '>' || c == '&' {
			raw, err := json.Marshal(s)
			if err != nil {
				w.err = err
			}
			w.b = append(w.b, raw...)
			w.comma()
			return
		}
	}
	w.b = append(append(append(w.b, '"'), s...), '"', ',')
}

const (
	smallAnswer = 2048      // what net/http finds the length of by itself
	keptAnswer  = 256 << 10 // the largest buffer that is kept for another answer
)

var answers = sync.Pool{New: func() any { return &jsonText{b: make([]byte, 0, 1024)} }}

// Page is a page of a list as it is answered.
type Page[W any] struct {
	ChangesCursor string `json:"changesCursor,omitempty"` // of what can be followed
	Items         []W    `json:"items"`
	NextCursor    string `json:"nextCursor,omitempty"`
}

// Answer sends what body points to as JSON. Nothing is sent when there is an error.
func Answer(w http.ResponseWriter, status int, body any) error {
	t, _ := answers.Get().(*jsonText)
	t.b, t.err = t.b[:0], nil
	defer func() {
		if cap(t.b) <= keptAnswer {
			answers.Put(t)
		}
	}()
	t.write(body)
	if t.err != nil {
		return t.err
	}
	h := w.Header()
	h["Content-Type"] = jsonType
	if len(t.b) > smallAnswer {
		h["Content-Length"] = []string{strconv.Itoa(len(t.b))}
	}
	w.WriteHeader(status)
	_, err := w.Write(t.b)
	return err
}

// write writes an answer and ends its line.
func (w *jsonText) write(body any) {
	switch body := body.(type) {
	case *gen.IPClaim:
		w.claim(body)
	case *Page[gen.IPClaim]:
		w.open('{')
		w.some("changesCursor", body.ChangesCursor)
		w.claims("items", body.Items)
		w.some("nextCursor", body.NextCursor)
		w.shut('}')
	case *gen.ClaimBatch:
		w.open('{')
		w.claims("claims", body.Claims)
		w.shut('}')
	default:
		b := bytes.NewBuffer(w.b)
		w.err = json.NewEncoder(b).Encode(body)
		w.b = b.Bytes()
		return
	}
	w.b[len(w.b)-1] = '\n' // in place of the comma behind the value
}
