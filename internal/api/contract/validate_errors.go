package contract

import (
	"errors"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"

	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// fields translates the errors of the validator. The validator's own texts quote the schema, which does not help a caller.
func (k *Contract) fields(err error) []ipam.Field {
	t := translation{patterns: k.patterns, written: k.written}
	t.walk("", err)
	return t.fields
}

type translation struct {
	patterns map[string]string
	written  []string
	fields   []ipam.Field
}

// walk visits the tree of errors and translates its leaves. place is the parameter of the error, or "" for the body.
func (t *translation) walk(place string, err error) {
	if len(t.fields) > refuse.MaxFields {
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

// schema translates one error of a schema. The error of an allOf only wraps the errors of its parts, so schema translates the parts.
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
	t.fields = append(t.fields, ipam.Field{Pointer: refuse.Clip(pointer), Detail: detail})
}

func jsonPointer(path []string) string {
	var b strings.Builder
	for _, token := range path {
		b.WriteString("/" + ipam.EscapePointer(token))
	}
	return b.String()
}
