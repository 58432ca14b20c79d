package api

import (
	"errors"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/carve-ipam/carve/internal/ipam"
)

// maxFields bounds how many places one answer names.
const maxFields = 20

// invalid is invalid_argument for places of the request: one each, at most maxFields.
func invalid(fields []ipam.Field) *ipam.Error {
	seen := map[string]bool{}
	fields = slices.DeleteFunc(slices.Clone(fields), func(f ipam.Field) bool {
		again := seen[f.Pointer]
		seen[f.Pointer] = true
		return again
	})
	first := fields[0].Pointer
	if first == "" {
		first = "the body"
	}
	message := "The request is not valid: " + first + " " + fields[0].Detail
	if len(fields) > 1 {
		message += " More places are wrong; see errors."
	}
	e := ipam.Errorf(ipam.CodeInvalidArgument, "%s", message)
	e.Fields = fields[:min(len(fields), maxFields)]
	return e
}

// clip shortens what a caller sent and we send back.
func clip(s string) string {
	const most = 200
	if len(s) <= most {
		return s
	}
	return strings.ToValidUTF8(s[:most], "") + "…"
}

// fields translates the validator's errors. Its own texts quote the schema and are not for people.
func (k *contract) fields(err error) []ipam.Field {
	t := translation{patterns: k.patterns, written: k.written}
	t.walk("", err)
	return t.fields
}

type translation struct {
	patterns map[string]string
	written  []string
	fields   []ipam.Field
}

// walk descends to the errors that say something: place is the parameter they are about, "" for the body.
func (t *translation) walk(place string, err error) {
	if len(t.fields) > maxFields {
		return
	}
	//nolint:errorlint // the tree itself is walked: errors.As would stop at the first leaf
	switch e := err.(type) {
	case openapi3.MultiError:
		for _, each := range e {
			t.walk(place, each)
		}
	case *openapi3filter.RequestError:
		t.request(e)
	case *openapi3.SchemaError:
		t.schema(place, e)
	default:
		t.add(place, "is not as the contract describes it.")
	}
}

func (t *translation) request(e *openapi3filter.RequestError) {
	place, schema := "", (*openapi3.Schema)(nil)
	if p := e.Parameter; p != nil {
		place, schema = p.In+":"+p.Name, p.Schema.Value
	}
	_, unparsed := errors.AsType[*openapi3filter.ParseError](e.Err)
	switch {
	case errors.Is(e.Err, openapi3filter.ErrInvalidRequired):
		t.add(place, "is required.")
	case errors.Is(e.Err, openapi3filter.ErrInvalidEmptyValue):
		t.add(place, "must not be empty; leave it out or give it a value.")
	case unparsed && schema != nil:
		t.add(place, literalSentence(schema))
	default:
		t.walk(place, e.Err)
	}
}

// schema translates one error of a schema; that of an allOf stands for the errors of its parts.
func (t *translation) schema(place string, e *openapi3.SchemaError) {
	if parts, ok := errors.AsType[openapi3.MultiError](e.Origin); ok && e.SchemaField == "allOf" {
		t.walk(place, parts)
		return
	}
	pointer := place
	if place == "" {
		pointer = jsonPointer(e.JSONPointer())
	}
	if e.SchemaField == "properties" {
		name := unknownName(e)
		t.add(pointer+"/"+ipam.EscapePointer(name), t.unknownSentence(pointer, name, e.Schema))
		return
	}
	t.add(pointer, t.sentence(e))
}

func (t *translation) add(pointer, detail string) {
	t.fields = append(t.fields, ipam.Field{Pointer: clip(pointer), Detail: detail})
}

func jsonPointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteString("/" + ipam.EscapePointer(token))
	}
	return b.String()
}
