package e2e

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

// place is a position in the body of an operation, with the schema of the value there.
type place struct {
	tokens []string // of its JSON pointer
	schema *openapi3.Schema
	free   bool // the caller chooses the name of the member, as for a label
}

func (p place) pointer() string {
	var b strings.Builder
	for _, token := range p.tokens {
		b.WriteString("/" + strings.NewReplacer("~", "~0", "/", "~1").Replace(token))
	}
	return b.String()
}

// places returns all places of a schema: the root, and each property, item and map entry below it. A map entry gets the name k.
func places(s *openapi3.Schema, tokens ...string) []place {
	s = plain(s)
	out := []place{{tokens: tokens, schema: s}}
	for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
		out = append(out, places(s.Properties[name].Value, slices.Concat(tokens, []string{name})...)...)
	}
	if s.Items != nil {
		out = append(out, places(s.Items.Value, slices.Concat(tokens, []string{"0"})...)...)
	}
	if entry := s.AdditionalProperties.Schema; entry != nil {
		below := places(entry.Value, slices.Concat(tokens, []string{"k"})...)
		below[0].free = true
		out = append(out, below...)
	}
	return out
}

// plain replaces an allOf that only adds a description to a reference with the referenced schema.
func plain(s *openapi3.Schema) *openapi3.Schema {
	for len(s.AllOf) == 1 {
		s = s.AllOf[0].Value
	}
	return s
}

// sample returns a value that fits a schema and contains only the required fields.
func sample(s *openapi3.Schema) any {
	s = plain(s)
	switch {
	case len(s.Enum) > 0:
		return s.Enum[0]
	case s.Type.Is(openapi3.TypeObject):
		o := obj{}
		for _, name := range s.Required {
			o[name] = sample(s.Properties[name].Value)
		}
		return o
	case s.Type.Is(openapi3.TypeArray):
		return []any{sample(s.Items.Value)}
	case s.Example != nil:
		return s.Example
	case s.Type.Is(openapi3.TypeInteger):
		return 1
	case s.Type.Is(openapi3.TypeBoolean):
		return true
	case s.MinLength == 0:
		return ""
	default:
		return rapid.StringMatching(s.Pattern).Filter(func(text string) bool {
			return len(text) >= int(s.MinLength) && len(text) <= int(*s.MaxLength)
		}).Example(0)
	}
}

// marker stands for a value that the test writes as raw text.
const marker = "@@here@@"

// splice returns a body with raw text at a place. It creates missing values on the way to the place.
func splice(body any, schema *openapi3.Schema, tokens []string, raw string) []byte {
	text, err := json.Marshal(with(body, schema, tokens, marker))
	if err != nil {
		panic(err)
	}
	before, after, ok := strings.Cut(string(text), strconv.Quote(marker))
	if !ok {
		panic(fmt.Sprintf("%v is not in %s", tokens, text))
	}
	return []byte(before + raw + after)
}

// with returns a copy of a value that has another value at a place.
func with(v any, s *openapi3.Schema, tokens []string, put any) any {
	if len(tokens) == 0 {
		return put
	}
	s = plain(s)
	if v == nil {
		v = sample(s)
	}
	switch v := clone(v).(type) {
	case obj:
		v[tokens[0]] = with(v[tokens[0]], below(s, tokens[0]), tokens[1:], put)
		return v
	case []any:
		i, _ := strconv.Atoi(tokens[0])
		for len(v) <= i {
			v = append(v, sample(s.Items.Value))
		}
		v[i] = with(v[i], s.Items.Value, tokens[1:], put)
		return v
	default:
		panic(fmt.Sprintf("%T has no %v", v, tokens))
	}
}

func below(s *openapi3.Schema, name string) *openapi3.Schema {
	if ref := s.Properties[name]; ref != nil {
		return ref.Value
	}
	if s.AdditionalProperties.Schema != nil {
		return s.AdditionalProperties.Schema.Value
	}
	return openapi3.NewSchema()
}

// value returns the JSON value at a place of a body. If the body has none, it returns the value in a sample.
func value(body any, p place) string {
	v := body
	for _, token := range p.tokens {
		switch in := v.(type) {
		case obj:
			v = in[token]
		case []any:
			i, err := strconv.Atoi(token)
			if err != nil || i >= len(in) {
				v = nil
				break
			}
			v = in[i]
		default:
			v = nil
		}
	}
	if v == nil {
		v = sample(p.schema)
	}
	text, err := json.Marshal(v)
	if err != nil {
		panic(err)
	}
	return string(text)
}
