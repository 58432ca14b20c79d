package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// wrong is one invalid body, with the pointer that the problem document must contain.
type wrong struct {
	what    string
	pointer string
	body    []byte
	garbled bool // the body is not JSON, so the problem document points to the value in which the text ends
}

func (w wrong) isNamedBy(p problem) bool {
	return slices.Contains(p.pointers(), w.pointer) ||
		w.garbled && slices.Contains(p.pointers(), w.pointer[:max(strings.LastIndex(w.pointer, "/"), 0)])
}

// The test makes each field of each body wrong in each way that the contract excludes. The response must be a 400 that names the field. No row is
// written.
func TestBadFields(t *testing.T) {
	t.Parallel()
	s := setupStage(t)
	s.writesNothing(t, func() {
		t.Run("Operations", func(t *testing.T) {
			for _, each := range s.bodies(t) {
				t.Run(each.op.id, func(t *testing.T) {
					t.Parallel()
					_, schema := each.op.bodySchema()
					n := 0
					for _, p := range places(schema) {
						for _, bad := range spoil(each.body, schema, p) {
							n++
							a := each.sendBody(t, s.caller, bad.body)
							got, _ := problemOf(a)
							if a.status != http.StatusBadRequest || !bad.isNamedBy(got) {
								t.Errorf("%s of %s: wanted 400 at %q, got %d\n%s\n%s", bad.what, p.pointer(), bad.pointer, a.status, short(bad.body), a.body)
							}
						}
					}
					require.Greater(t, n, 50, "the contract has more to get wrong")
					t.Logf("%d bodies refused", n)
				})
			}
		})
	})
}

// bodies returns one specimen for each operation that has a body.
func (s *stage) bodies(t testing.TB) []specimen {
	t.Helper()
	var out []specimen
	for _, each := range s.specimens(t) {
		if each.body != nil && !slices.ContainsFunc(out, func(o specimen) bool { return o.op == each.op }) {
			out = append(out, each)
		}
	}
	return out
}

func short(body []byte) string {
	if len(body) > 400 {
		return fmt.Sprintf("%q… (%d bytes)", body[:400], len(body))
	}
	return fmt.Sprintf("%q", body)
}

// spoil returns the invalid bodies that have a fault at one place.
func spoil(body any, schema *openapi3.Schema, p place) []wrong {
	var out []wrong
	add := func(what, raw string) {
		out = append(out, wrong{what, p.pointer(), splice(body, schema, p.tokens, raw), !json.Valid([]byte(raw))})
	}
	for _, raw := range otherTypes(p.schema) {
		add("wrong type "+raw, raw)
	}
	switch s := p.schema; {
	case s.Type.Is(openapi3.TypeString):
		for what, raw := range badStrings(s) {
			add(what, raw)
		}
	case s.Type.Is(openapi3.TypeInteger):
		for what, raw := range badIntegers(s) {
			add(what, raw)
		}
	case s.Type.Is(openapi3.TypeArray):
		if s.MaxItems != nil {
			item, _ := json.Marshal(sample(s.Items.Value))
			add("too many items", "["+strings.Repeat(string(item)+",", int(*s.MaxItems))+string(item)+"]")
		}
		if s.MinItems > 0 {
			add("too few items", "[]")
		}
	case s.Type.Is(openapi3.TypeObject):
		out = append(out, badMembers(body, schema, p)...)
	}
	if len(p.tokens) > 0 && p.tokens[len(p.tokens)-1] != "0" {
		out = append(out, badNames(body, schema, p)...)
	}
	return out
}

// otherTypes returns JSON values of the types that a schema does not allow.
func otherTypes(s *openapi3.Schema) []string {
	values := map[string][]string{
		openapi3.TypeString:  {`"x"`},
		openapi3.TypeInteger: {"7", "-7", "1.5"},
		openapi3.TypeBoolean: {"true", "false"},
		openapi3.TypeObject:  {"{}"},
		openapi3.TypeArray:   {"[]", "[null]", "[{}]"},
	}
	delete(values, (*s.Type)[0])
	out := slices.Concat(values[openapi3.TypeString], values[openapi3.TypeInteger], values[openapi3.TypeBoolean],
		values[openapi3.TypeObject], values[openapi3.TypeArray])
	if !s.Nullable {
		out = append(out, "null")
	}
	return out
}

func badStrings(s *openapi3.Schema) map[string]string {
	out := map[string]string{
		"U+0000":              `"a\u0000b"`,
		"U+0000 alone":        `"\u0000"`,
		"U+0000 as a byte":    "\"a\x00b\"",
		"invalid UTF-8":       "\"a\xffb\"",
		"cut UTF-8":           "\"a\xc3\"",
		"UTF-8 of surrogates": "\"a\xed\xa0\x80b\"",
		"half a surrogate":    `"\ud800"`,
		"escape of nothing":   `"\x41"`,
		"line end":            "\"a\nb\"",
	}
	if s.MaxLength != nil {
		long, _ := json.Marshal(strings.Repeat("a", int(*s.MaxLength)+1))
		out["too long"] = string(long)
		out["much too long"] = `"` + strings.Repeat("a", 100_000) + `"`
	}
	if s.MinLength > 0 {
		out["empty"] = `""`
	}
	if len(s.Enum) > 0 {
		out["none of the choices"] = `"Nothing"`
		out["a choice in another case"] = strings.ToUpper(fmt.Sprintf("%q", s.Enum[0]))
	}
	if s.Pattern != "" {
		out["a control character"] = `"a\u0007b"`
		out["U+007F"] = `"a\u007fb"`
		out["U+0085"] = `"a\u0085b"`
	}
	return out
}

func badIntegers(s *openapi3.Schema) map[string]string {
	out := map[string]string{
		"a fraction": "24.5", "a fraction of zero": "24.0", "an exponent": "2.4e1", "huge": "99999999999999999999", "without end": "1e999",
		"long": strings.Repeat("9", 400), "in quotes": `"24"`, "zeros in front": "007", "a plus": "+7", "hexadecimal": "0x10", "not a number": "NaN", "minus": "-",
	}
	if s.Min != nil {
		out["too small"] = fmt.Sprint(int(*s.Min) - 1)
	}
	if s.Max != nil {
		out["too large"] = fmt.Sprint(int(*s.Max) + 1)
	}
	return out
}

// badMembers returns the invalid bodies that have a fault in the members of an object.
func badMembers(body any, schema *openapi3.Schema, p place) []wrong {
	var out []wrong
	add := func(what, name, raw string) {
		at := p
		at.tokens = slices.Concat(p.tokens, []string{name})
		out = append(out, wrong{what, at.pointer(), splice(body, schema, at.tokens, raw), false})
	}
	for _, name := range p.schema.Required {
		var members obj
		if json.Unmarshal([]byte(value(body, p)), &members) == nil {
			delete(members, name)
			raw, _ := json.Marshal(members)
			out = append(out, wrong{"without " + name, p.pointer() + "/" + name, splice(body, schema, p.tokens, string(raw)), false})
		}
	}
	if p.schema.AdditionalProperties.Schema == nil {
		add("a field that does not exist", "unheardOf", "1")
		add("a field that does not exist", "unheardOf", "null")
		add("a field without a name", "", "1")
		return out
	}
	if limit := p.schema.MaxProps; limit != nil {
		many := obj{}
		for i := range *limit + 1 {
			many[fmt.Sprintf("k%d", i)] = "v"
		}
		raw, _ := json.Marshal(many)
		out = append(out, wrong{"too many entries", p.pointer(), splice(body, schema, p.tokens, string(raw)), false})
	}
	return out
}

// badNames returns bodies in which a member's name occurs twice, in another case, or in two cases.
func badNames(body any, schema *openapi3.Schema, p place) []wrong {
	name := p.tokens[len(p.tokens)-1]
	quoted, _ := json.Marshal(name)
	v := value(body, p)
	member := func(replace string) []byte {
		text := string(splice(body, schema, p.tokens, marker))
		return []byte(strings.Replace(text, string(quoted)+":"+marker, replace, 1))
	}
	out := []wrong{
		{"twice", p.pointer(), member(fmt.Sprintf("%s:%s,%s:%s", quoted, v, quoted, v)), false},
		{"twice, once escaped", p.pointer(), member(fmt.Sprintf(`%s:%s,"\u%04x%s:%s`, quoted, v, name[0], quoted[2:], v)), false},
	}
	upper := place{tokens: slices.Concat(p.tokens[:len(p.tokens)-1], []string{strings.ToUpper(name)})}
	if !p.free {
		out = append(out,
			wrong{"in two cases", upper.pointer(), member(fmt.Sprintf("%s:%s,%s:%s", quoted, v, strings.ToUpper(string(quoted)), v)), false},
			wrong{"in another case", upper.pointer(), member(fmt.Sprintf("%s:%s", strings.ToUpper(string(quoted)), v)), false})
	}
	return out
}
