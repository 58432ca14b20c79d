package contract

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"pgregory.net/rapid"
)

// writer generates JSON texts for schemas. It writes the texts itself, because no encoder produces the errors that it needs. A text has no error, one
// error or many errors.
type writer struct {
	strings.Builder

	t      *rapid.T
	often  int // percentage of places with an error
	only   int // the only place with an error; -1: none
	places int
}

func newWriter(t *rapid.T) *writer {
	w := &writer{t: t, only: -1}
	switch rapid.IntRange(0, 9).Draw(t, "mood") {
	case 0:
		w.often = 15
	case 1, 2, 3, 4, 5:
		w.only = rapid.IntRange(0, 40).Draw(t, "only")
	}
	return w
}

// slips reports whether to write an error at this place.
func (w *writer) slips() bool {
	w.places++
	return w.places-1 == w.only || w.often > 0 && rapid.IntRange(0, 99).Draw(w.t, "slip") < w.often
}

// odd are values that are wrong in nearly every place, or that parsers read in different ways.
var odd = []string{
	`null`, `true`, `false`, `""`, `"x"`, `"\u0061"`, `"\u0000"`, `"é"`, "\"\xff\"", `"a\nb"`, `0`, `-0`, `-1`, `1.0`, `1e2`, `24.5`, `007`, `+1`, `129`,
	`999999999999999`, `1000000000000000`, `9007199254740993`, `99999999999999999999`, `[]`, `{}`, `[[]]`, `{"a":1}`, `[1,]`, `{"a":1,}`, `tru`, ``,
	`"` + strings.Repeat("a", 64) + `"`, `"` + strings.Repeat("ä", 40) + `"`, `"` + strings.Repeat("ä", 63) + `"`, "\"\x7f\"", "\"\u0085\"", "\"\t\"",
}

// words are texts that match some patterns and not others.
var words = []string{
	"a", "A", "a-", "-a", "web-1", "10.0.0.0/8", "10.0.0.1", "2001:db8::/32", "72h", "5", "2026-03-02T12:00:00Z", "3f2504e0-4f89-41d3-9a0c-0305e82c3301",
	"platform", "team-a", "example.com/x", `"tag"`, "*", "é", "x y", "\u0085", "true", "1", "01", "500", "501", strings.Repeat("a", 63), strings.Repeat("a", 64),
}

func (w *writer) space() {
	w.WriteString(rapid.SampledFrom([]string{"", "", "", "", " ", "\n", "\t\r"}).Draw(w.t, "space"))
}

func (w *writer) value(s *openapi3.Schema) {
	w.space()
	defer w.space()
	if w.slips() {
		w.WriteString(rapid.SampledFrom(odd).Draw(w.t, "odd"))
		return
	}
	switch {
	case len(s.AllOf) == 1:
		w.value(s.AllOf[0].Value)
	case s.Type.Is(openapi3.TypeObject):
		w.object(s)
	case s.Type.Is(openapi3.TypeArray):
		w.array(s)
	case s.Type.Is(openapi3.TypeString):
		w.quoted(w.word(s))
	default:
		w.WriteString(w.word(s))
	}
}

func (w *writer) quoted(text string) {
	raw, err := json.Marshal(text)
	if err != nil {
		panic(err)
	}
	if !strings.Contains(string(raw), `\`) || rapid.Bool().Draw(w.t, "escaped") {
		w.Write(raw)
		return
	}
	w.WriteString(`"` + text + `"`)
}

// word returns a text for a schema without objects and arrays, as in a parameter.
func (w *writer) word(s *openapi3.Schema) string {
	if len(s.AllOf) == 1 {
		return w.word(s.AllOf[0].Value)
	}
	if w.slips() {
		return rapid.SampledFrom(words).Draw(w.t, "word")
	}
	switch {
	case len(s.Enum) > 0:
		return fmt.Sprint(rapid.SampledFrom(s.Enum).Draw(w.t, "choice"))
	case s.Type.Is(openapi3.TypeInteger):
		least, most := 0, 200
		if s.Min != nil {
			least = int(*s.Min)
		}
		if s.Max != nil {
			most = int(*s.Max)
		}
		return strconv.Itoa(rapid.IntRange(least, most).Draw(w.t, "integer"))
	case s.Type.Is(openapi3.TypeBoolean):
		return strconv.FormatBool(rapid.Bool().Draw(w.t, "boolean"))
	case s.Pattern != "":
		text := rapid.StringMatching(s.Pattern).Draw(w.t, "text")
		if s.MaxLength != nil {
			text = string([]rune(text)[:min(len([]rune(text)), int(min(*s.MaxLength, 100)))])
		}
		return text
	default:
		return rapid.SampledFrom(words).Draw(w.t, "word")
	}
}

func (w *writer) array(s *openapi3.Schema) {
	w.WriteByte('[')
	for i := range rapid.IntRange(int(s.MinItems), int(s.MinItems)+2).Draw(w.t, "items") {
		if i > 0 {
			w.WriteByte(',')
		}
		w.value(s.Items.Value)
	}
	w.WriteByte(']')
}

func (w *writer) object(s *openapi3.Schema) {
	type entry struct {
		name   string
		schema *openapi3.Schema
	}
	var entries []entry
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		needed := slices.Contains(s.Required, name)
		if needed && !w.slips() || !needed && rapid.IntRange(0, 2).Draw(w.t, "there") == 0 {
			entries = append(entries, entry{name, s.Properties[name].Value})
		}
	}
	if each := s.AdditionalProperties.Schema; each != nil {
		for range rapid.IntRange(0, 3).Draw(w.t, "names") {
			entries = append(entries, entry{rapid.SampledFrom(words).Draw(w.t, "name"), each.Value})
		}
	}
	if w.slips() && len(entries) > 0 {
		again := rapid.SampledFrom(entries).Draw(w.t, "again")
		again.name = rapid.SampledFrom([]string{again.name, strings.ToUpper(again.name), again.name + "s", ""}).Draw(w.t, "as")
		entries = append(entries, again)
	}
	w.WriteByte('{')
	for i, e := range rapid.Permutation(entries).Draw(w.t, "order") {
		if i > 0 {
			w.WriteByte(',')
		}
		w.space()
		w.quoted(e.name)
		w.space()
		w.WriteByte(':')
		w.value(e.schema)
	}
	w.WriteByte('}')
}

// scratch changes a random byte of a text, if this place should have an error.
func (w *writer) scratch(text string) string {
	if !w.slips() || text == "" {
		return text
	}
	at := rapid.IntRange(0, len(text)-1).Draw(w.t, "at")
	with := rapid.SampledFrom([]string{"", ",", "}", "]", `"`, "{", "\\", "\x00", "\xff", "0", ":", " ", "A"}).Draw(w.t, "with")
	return text[:at] + with + text[at+rapid.IntRange(0, 1).Draw(w.t, "over"):]
}
