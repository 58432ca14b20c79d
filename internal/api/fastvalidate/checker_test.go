package fastvalidate_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/fastvalidate"
)

var limits = fastvalidate.Limits{Tokens: 30, Name: 20}

// checker compiles a schema written as in the contract.
func checker(t *testing.T, schema string) *fastvalidate.Checker {
	t.Helper()
	s := &openapi3.Schema{}
	require.NoError(t, s.UnmarshalJSON([]byte(schema)))
	return fastvalidate.NewCompiler(limits).Compile(&openapi3.SchemaRef{Value: s})
}

const thing = `{"type": "object", "additionalProperties": false, "required": ["name"], "maxProperties": 3, "properties": {
	"name": {"description": "Who", "allOf": [{"type": "string", "minLength": 1, "maxLength": 5, "pattern": "^[^x]*$", "nullable": true}]},
	"size": {"type": "integer", "minimum": 1, "maximum": 128},
	"much": {"type": "integer"},
	"kind": {"type": "string", "enum": ["a", "b", null]},
	"on": {"type": "boolean", "default": true},
	"list": {"type": "array", "minItems": 1, "maxItems": 2, "items": {"type": "boolean"}},
	"labels": {"type": "object", "maxProperties": 20, "additionalProperties": {"type": "string"}},
	"at": {"type": "string", "format": "date-time"}
}}`

func TestFastPathAcceptsValidValues(t *testing.T) {
	t.Parallel()
	c := checker(t, thing)
	for _, body := range []string{
		`{"name":"a"}`, " \t\r\n{ \"name\" : \"a\" } \n", `{"size":1,"name":"abcde"}`, `{"name":"é"}`, `{"name":"a","size":128}`,
		`{"name":"a","much":0}`, `{"name":"a","much":999999999999999}`, `{"name":"a","kind":"b"}`, `{"name":"a","on":false}`,
		`{"name":"a","list":[true]}`, `{"name":"a","list":[ true , false ]}`, `{"name":"a","labels":{}}`, `{"name":"a","labels":{"x":"","y":"z"}}`,
		"{\"name\":\"\x7f\"}",
	} {
		require.True(t, c.Valid([]byte(body)), body)
	}
}

func TestFastPathRejectsUncertainValues(t *testing.T) {
	t.Parallel()
	c := checker(t, thing)
	for body, why := range map[string]string{
		``: "nothing", ` `: "space", `{`: "no end", `{}`: "a member is missing", `[]`: "another type", `null`: "null", "\ufeff{\"name\":\"a\"}": "a byte order mark",
		`{"name":"a"}{}`: "two values", `{"name":"a"},`: "text behind it", `{"name":"a",}`: "a comma too many", `{,"name":"a"}`: "a comma too early", `{"name""a"}`: "no colon",
		`{"name":"a" "size":1}`: "no comma", `{"name":"a","name":"a"}`: "twice", `{"name":"a","Name":"a"}`: "another case", `{"Name":"a"}`: "another case alone", `{"name":"a","other":1}`: "unknown",
		`{"name":""}`: "too short", `{"name":"abcdef"}`: "too long", `{"name":"ééé"}`: "perhaps too long", `{"name":"x"}`: "the pattern", `{"name":null}`: "null", `{"name":1}`: "another type",
		`{"name":"\u0061"}`: "an escape", "{\"name\":\"\xff\"}": "not UTF-8", "{\"name\":\"\xed\xa0\x80\"}": "a surrogate", "{\"name\":\"a\nb\"}": "a line end", "{\"name\":\"\x00\"}": "U+0000", `{'name':'a'}`: "other quotes", `{"name":"a}`: "no end of the string",
		`{"name":"a","size":0}`: "too small", `{"name":"a","size":129}`: "too large", `{"name":"a","size":1.0}`: "a fraction", `{"name":"a","size":1e1}`: "an exponent", `{"name":"a","size":-1}`: "negative",
		`{"name":"a","size":01}`: "a zero in front", `{"name":"a","size":+1}`: "a sign", `{"name":"a","size":}`: "no value", `{"name":"a","size":1x}`: "a letter behind it", `{"name":"a","size":"1"}`: "a string",
		`{"name":"a","much":1000000000000000}`: "more than 15 digits", `{"name":"a","kind":"c"}`: "no choice", `{"name":"a","kind":null}`: "null", `{"name":"a","on":1}`: "no boolean", `{"name":"a","on":truex}`: "no word", `{"name":"a","on":tru}`: "half a word",
		`{"name":"a","list":[]}`: "too few", `{"name":"a","list":[true,true,true]}`: "too many", `{"name":"a","list":[true,]}`: "a comma too many", `{"name":"a","list":[true true]}`: "no comma", `{"name":"a","list":[true`: "no end",
		`{"name":"a","labels":{"k":"","k":""}}`: "twice", `{"name":"a","labels":{"k":"","K":""}}`: "in two cases", `{"name":"a","labels":{"é":"","É":""}}`: "in two cases", `{"name":"a","labels":{"` + strings.Repeat("k", 21) + `":""}}`: "a long name",
		`{"name":"a","at":"2026-03-02T12:00:00Z"}`: "a format", `{"name":"a","size":1,"much":1,"on":true}`: "too many members",
		`{"name":"a","labels":{"a":"","b":"","c":"","d":"","e":"","f":"","g":"","h":"","i":"","j":"","k":"","l":"","m":"","n":"","o":"","p":"","q":""}}`: "many names",
	} {
		require.False(t, c.Valid([]byte(body)), "%s: %s", why, body)
	}
}

func TestFastPathCountsTokensLikeTheDecoder(t *testing.T) {
	t.Parallel()
	c := checker(t, `{"type": "array", "items": {"type": "object", "additionalProperties": {"type": "boolean"}}}`)
	require.True(t, c.Valid([]byte(`[`+strings.Repeat(`{"a":true},`, 6)+`{"a":true}`+`]`)), "7 times 4, and 2 brackets")
	require.False(t, c.Valid([]byte(`[`+strings.Repeat(`{"a":true},`, 6)+`{"a":true},{}`+`]`)))
}

func TestFastPathRejectsUnknownKeywords(t *testing.T) {
	t.Parallel()
	for _, schema := range []string{
		`{}`, `{"type": "number"}`, `{"type": "integer", "multipleOf": 2}`, `{"type": "integer", "exclusiveMinimum": true, "minimum": 0}`, `{"type": "integer", "maximum": -1}`,
		`{"type": "string", "format": "uuid"}`, `{"type": "string", "enum": [1]}`, `{"type": "string", "enum": [null]}`, `{"type": "string", "pattern": "("}`, `{"type": "string", "readOnly": true}`, `{"type": "string", "minimum": 1}`,
		`{"type": "array", "items": {"type": "string"}, "uniqueItems": true}`, `{"type": "object"}`, `{"type": "object", "additionalProperties": true}`,
		`{"type": "object", "additionalProperties": {"type": "string"}, "properties": {"a": {"type": "string"}}}`, `{"type": "object", "additionalProperties": false, "required": ["a"]}`,
		`{"type": "object", "additionalProperties": false, "properties": {"a": {"type": "string"}, "A": {"type": "string"}}}`, `{"type": "object", "additionalProperties": false, "discriminator": {"propertyName": "a"}}`,
		`{"oneOf": [{"type": "string"}]}`, `{"anyOf": [{"type": "string"}]}`, `{"not": {"type": "string"}}`, `{"allOf": [{"type": "string"}, {"type": "string"}]}`, `{"type": "string", "allOf": [{"type": "string"}]}`,
	} {
		require.True(t, checker(t, schema).AcceptsNothing(), schema)
	}
	require.True(t, fastvalidate.NewCompiler(limits).Compile(nil).AcceptsNothing())
}

func TestRecursiveSchemaIsLimitedInDepth(t *testing.T) {
	t.Parallel()
	s := &openapi3.Schema{}
	require.NoError(t, s.UnmarshalJSON([]byte(`{"type": "array"}`)))
	s.Items = &openapi3.SchemaRef{Value: s}
	c := fastvalidate.NewCompiler(fastvalidate.Limits{Tokens: 1000}).Compile(&openapi3.SchemaRef{Value: s})
	require.True(t, c.Valid([]byte(strings.Repeat("[", 20)+strings.Repeat("]", 20))))
	require.False(t, c.Valid([]byte(strings.Repeat("[", 21)+strings.Repeat("]", 21))))
}

func TestFastPathChecksParameters(t *testing.T) {
	t.Parallel()
	for schema, values := range map[string]map[string]bool{
		`{"type": "string", "maxLength": 3}`:             {"": true, "abc": true, "abcd": false, "a\"": true, "\xff": false, " a": true},
		`{"type": "integer", "minimum": 1}`:              {"1": true, "0": false, "01": false, "+1": false, "": false, " 1": false, "1 ": false, "1.0": false, "x": false},
		`{"type": "boolean"}`:                            {"true": true, "false": true, "1": false, "TRUE": false, "": false, "true ": false, " true": false},
		`{"type": "array", "items": {"type": "string"}}`: {"a": false, "": false},
	} {
		for value, want := range values {
			require.Equal(t, want, checker(t, schema).ValidText(value), "%s %q", schema, value)
		}
	}
}

func TestFastPathAllocatesNothing(t *testing.T) {
	c := checker(t, thing)
	body := []byte(`{"name":"a","size":1,"labels":{"x":"","y":"z"}}`)
	require.Zero(t, testing.AllocsPerRun(100, func() { c.Valid(body) }))
}
