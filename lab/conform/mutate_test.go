package conform

import (
	"regexp"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
)

// mutation is one change of a body after which the body certainly violates the schema.
type mutation struct {
	kind  string
	path  []any // from the root: names and indices
	value any   // the new value; gone means that the member is removed
}

type removal struct{}

// mutations returns all changes that violate the schema, at each position of a value.
func mutations(v any, s *openapi3.Schema, path []any) (out []mutation) {
	s = flat(s)
	add := func(kind string, value any) {
		out = append(out, mutation{kind: "body: " + kind, path: slices.Clone(path), value: value})
	}
	if !s.Nullable && len(path) > 0 {
		add("null", nil)
	}
	for _, wrong := range wrongTypes(s) {
		add("wrong type", wrong)
	}
	if v == nil {
		return out
	}
	switch v := v.(type) {
	case obj:
		out = append(out, ofObject(v, s, path)...)
	case []any:
		out = append(out, ofArray(v, s, path)...)
	default:
		if s.Type.Is(openapi3.TypeInteger) {
			for _, wrong := range wrongNumbers(s) {
				add("out of bounds", wrong)
			}
			add("huge number", verbatim("1e400"))
			add("huge number", verbatim("-18446744073709551617"))
			add("huge number", verbatim(strings.Repeat("9", 400)))
			add("fraction", verbatim("1.5"))
		}
		if s.Type.Is(openapi3.TypeString) {
			out = append(out, ofText(s, path)...)
		}
	}
	return out
}

// wrongTypes returns one value of each type that a schema does not allow.
func wrongTypes(s *openapi3.Schema) (out []any) {
	for _, each := range []struct {
		name  string
		value any
	}{
		{openapi3.TypeString, "24"}, {openapi3.TypeInteger, 24}, {openapi3.TypeBoolean, true}, {openapi3.TypeArray, []any{}}, {openapi3.TypeObject, obj{}},
	} {
		if !s.Type.Is(each.name) && !(s.Type.Is(openapi3.TypeNumber) && each.name == openapi3.TypeInteger) {
			out = append(out, each.value)
		}
	}
	return out
}

func wrongNumbers(s *openapi3.Schema) (out []any) {
	if s.Min != nil {
		out = append(out, int64(*s.Min)-1)
	}
	if s.Max != nil && *s.Max < 1<<53-1 {
		out = append(out, int64(*s.Max)+1)
	}
	return out
}

func ofText(s *openapi3.Schema, path []any) (out []mutation) {
	add := func(kind string, value any) {
		out = append(out, mutation{kind: "body: " + kind, path: slices.Clone(path), value: value})
	}
	if len(s.Enum) > 0 {
		for _, each := range s.Enum {
			if text, ok := each.(string); ok && text != "" {
				add("not in enum", strings.ToLower(text[:1])+strings.ToUpper(text[1:])+"_")
			}
		}
		add("not in enum", "")
		return out
	}
	if s.MaxLength != nil {
		add("too long", strings.Repeat("a", int(*s.MaxLength)+1))
	}
	if s.MinLength > 0 {
		add("too short", "")
	}
	if s.Pattern != "" {
		re := regexp.MustCompile(s.Pattern)
		for _, text := range badTexts {
			kind := "bad format"
			if strings.Contains(text, "\x00") {
				kind = "NUL"
			}
			if !re.MatchString(text) {
				add(kind, text)
			}
		}
	}
	if s.Format == "date-time" {
		for _, text := range []string{"2026-13-01T00:00:00Z", "2026-02-30T00:00:00Z", "2026-01-01T24:00:01Z", "2026-01-01T00:00:00+25:00", "0000-00-00T00:00:00Z"} {
			add("bad format", text)
		}
	}
	for _, text := range []string{`"\ud800"`, "\"\xff\"", `"a` + "\n" + `b"`, `"\x41"`} {
		add("broken text", verbatim(text))
	}
	return out
}

// badTexts are texts that violate at least one pattern of the contract.
var badTexts = []string{"\x00", "a\x00", "\x01", "\x7f", "\u0085", "A B", "-a", "a-", "é", "a/b/c", " ", "UPPER", "10.0.0.0/99999", "١٠", "a\n", "\u00a0"}

func ofObject(v obj, s *openapi3.Schema, path []any) (out []mutation) {
	at := func(name string) []any { return append(slices.Clone(path), name) }
	add := func(kind, name string, value any) {
		out = append(out, mutation{kind: "body: " + kind, path: at(name), value: value})
	}
	for _, name := range s.Required {
		add("missing required", name, removal{})
	}
	closed := s.AdditionalProperties.Has != nil && !*s.AdditionalProperties.Has
	if closed {
		for _, name := range []string{"unknown", "__proto__", "", "\x00", "é"} {
			add("unknown member", name, 1)
		}
		for _, name := range sorted(v) {
			add("unknown member", strings.ToUpper(name[:1])+name[1:], v[name])
		}
	}
	for _, name := range sorted(v) {
		if p := s.Properties[name]; p != nil {
			out = append(out, mutations(v[name], p.Value, at(name))...)
		} else if free := s.AdditionalProperties.Schema; free != nil && utf8.ValidString(name) {
			out = append(out, mutations(v[name], free.Value, at(name))...)
		}
	}
	if s.MaxProps != nil && s.AdditionalProperties.Schema != nil {
		many := obj{}
		for i := range int(*s.MaxProps) + 1 {
			many["k"+string(rune('a'+i%26))+string(rune('a'+i/26))] = "v"
		}
		out = append(out, mutation{kind: "body: too many members", path: slices.Clone(path), value: many})
	}
	return out
}

func ofArray(v []any, s *openapi3.Schema, path []any) (out []mutation) {
	add := func(kind string, value any) {
		out = append(out, mutation{kind: "body: " + kind, path: slices.Clone(path), value: value})
	}
	if s.MinItems > 0 {
		add("too few items", []any{})
	}
	if len(v) == 0 {
		return out
	}
	if s.MaxItems != nil {
		many := []any{}
		for range int(*s.MaxItems) + 1 {
			many = append(many, v[0])
		}
		add("too many items", many)
	}
	if s.UniqueItems {
		add("repeated item", append(slices.Clone(v), v[0]))
	}
	i := len(v) - 1
	return append(out, mutations(v[i], s.Items.Value, append(slices.Clone(path), i))...)
}

// apply returns a copy of a body with the mutation.
func (m mutation) apply(body any) any { return replaced(copied(body), m.path, m.value) }

func replaced(v any, path []any, value any) any {
	if len(path) == 0 {
		return value
	}
	switch at := path[0].(type) {
	case string:
		o, _ := v.(obj)
		if _, gone := value.(removal); gone && len(path) == 1 {
			delete(o, at)
			return o
		}
		o[at] = replaced(o[at], path[1:], value)
		return o
	case int:
		a, _ := v.([]any)
		a[at] = replaced(a[at], path[1:], value)
		return a
	}
	return v
}

// written returns a value as JSON text. It copies verbatim parts unchanged, because encoding/json would refuse or repair them.
func written(v any) []byte {
	switch v := v.(type) {
	case verbatim:
		return v
	case obj:
		out := []byte{'{'}
		for i, name := range sorted(v) {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(append(append(out, mustJSON(name)...), ':'), written(v[name])...)
		}
		return append(out, '}')
	case []any:
		out := []byte{'['}
		for i, each := range v {
			if i > 0 {
				out = append(out, ',')
			}
			out = append(out, written(each)...)
		}
		return append(out, ']')
	default:
		return mustJSON(v)
	}
}
