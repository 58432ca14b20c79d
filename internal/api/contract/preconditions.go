package contract

import (
	"net/http"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The supported preconditions of RFC 9110 (13.1). The server ignores preconditions on Last-Modified, as the RFC allows, because no response has that
// header.
const (
	IfMatch     = "If-Match"
	IfNoneMatch = "If-None-Match"
)

// uncondition returns an error text for each precondition that an operation does not support. The server refuses these preconditions, because the
// caller relies on them. The exception is If-None-Match of a read, which is only an optimization. A read without an entity tag ignores it and returns
// the whole response.
func uncondition(method string, op *openapi3.Operation, params openapi3.Parameters) map[string]string {
	no := map[string]string{}
	for _, name := range []string{IfMatch, IfNoneMatch} {
		if params.GetByInAndName(openapi3.ParameterInHeader, name) == nil && (method != http.MethodGet || name != IfNoneMatch) {
			no[name] = unconditionSentence(method, op)
		}
	}
	return no
}

func unconditionSentence(method string, op *openapi3.Operation) string {
	switch {
	case method == http.MethodGet:
		return "is not possible with reads; leave it out."
	case method == http.MethodPost && op.Parameters.GetByInAndName(openapi3.ParameterInHeader, "Idempotency-Key") != nil:
		return "is not possible with POST, which only creates; send Idempotency-Key to make a repeat safe."
	case method == http.MethodPost:
		return "is not possible with this operation; leave it out."
	default: // PATCH, DELETE
		return "is not possible with " + method + ", which needs an existing resource; set If-Match to its ETag."
	}
}

// unconditional returns an error for each precondition in a request that the operation does not support.
func (op *Operation) unconditional(h http.Header) []ipam.Field {
	var fields []ipam.Field
	for _, name := range []string{IfMatch, IfNoneMatch} {
		if why, refused := op.uncondition[name]; refused && len(h[name]) > 0 {
			fields = append(fields, ipam.Field{Pointer: "header:" + name, Detail: why})
		}
	}
	return fields
}
