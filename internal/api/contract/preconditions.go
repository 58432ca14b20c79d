package contract

import (
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The supported preconditions (RFC 9110, 13.1). The server ignores preconditions on Last-Modified, as the RFC allows, because no response has that
// header.
const (
	IfMatch     = "If-Match"
	IfNoneMatch = "If-None-Match"
)

// unsupportedConditions returns an error for each precondition that the operation does not support. The server refuses such a precondition, because
// the caller relies on it. The exception is If-None-Match in a read, which is only an optimization: a read without an entity tag ignores it and
// returns the whole response.
func (op *Operation) unsupportedConditions(h http.Header) []ipam.Field {
	var fields []ipam.Field
	for _, name := range []string{IfMatch, IfNoneMatch} {
		if len(h[name]) > 0 && !op.takes(name) && (op.method != http.MethodGet || name != IfNoneMatch) {
			fields = append(fields, ipam.Field{Pointer: "header:" + name, Detail: op.unconditionSentence()})
		}
	}
	return fields
}

// takes reports whether the operation has a header as a parameter.
func (op *Operation) takes(header string) bool {
	return op.parameters.GetByInAndName(openapi3.ParameterInHeader, header) != nil
}

func (op *Operation) unconditionSentence() string {
	switch {
	case op.method == http.MethodGet:
		return "is not possible with reads; leave it out."
	case op.method == http.MethodPost && op.takes("Idempotency-Key"):
		return "is not possible with POST, which only creates; send Idempotency-Key to make a repeat safe."
	case op.method == http.MethodPost:
		return "is not possible with this operation; leave it out."
	default: // PATCH, DELETE
		return "is not possible with " + op.method + ", which needs an existing resource; set If-Match to its ETag."
	}
}
