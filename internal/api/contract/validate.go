package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/codec"
	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// reportAll is the largest body in bytes for which the validator reports all errors. In a larger body it reports only the first error. Each error
// contains the faulty value, and a body of 1 MiB can have thousands of them.
const reportAll = 128 << 10

// everyError and firstError are the two sets of validator options. One reports all errors, the other only the first.
var everyError, firstError = asked(true), asked(false)

// asked returns validator options. KeepValidatedValue keeps the checked value for Binder. Without it, a second and more lenient decoder would read
// the body again. It would bind {"prefixLength":24,"PrefixLength":99} to a value that the validator did not check.
func asked(forAll bool) *openapi3filter.Options {
	return &openapi3filter.Options{
		KeepValidatedValue: true, SkipSettingDefaults: true, MultiError: forAll,
		SchemaValidationOptions: []openapi3.SchemaValidationOption{codec.Moments},
	}
}

// Check checks a request of the operation. In addition to the validator, it refuses query parameters that are unknown, repeated, or not written as in
// JSON.
//
// Check does not use the validator's own middleware. That middleware uses its own context, without Carve's deadline and caller, and responds in
// another format.
func (op *Operation) Check(c echo.Context) error {
	r := c.Request()
	impossible := op.unconditional(r.Header)
	if len(impossible) == 0 && op.passesFastChecks(c) {
		return nil
	}
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return refuse.Invalid([]ipam.Field{{Pointer: "query", Detail: "is not a query string: write it as name=value&name=value, percent-encoded."}})
	}
	fields := slices.Concat(impossible, checkQuery(op, query), checkHeaders(op, r.Header))
	say := everyError
	if r.ContentLength > reportAll {
		say = firstError
	}
	err = openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: pathParams(c), QueryParams: query, Route: op.route, Options: say,
	})
	if err != nil {
		fields = append(fields, op.contract.fields(err)...)
	}
	if len(fields) > 0 {
		return refuse.Invalid(fields)
	}
	return nil
}

// checkQuery returns an error for each parameter that is unknown, repeated or badly written.
func checkQuery(op *Operation, query url.Values) []ipam.Field {
	var fields []ipam.Field
	for name, values := range query {
		pointer := "query:" + refuse.Clip(name)
		ref := op.query.GetByInAndName(openapi3.ParameterInQuery, name)
		switch {
		case !utf8.ValidString(name):
			fields = append(fields, ipam.Field{Pointer: "query", Detail: "has a name that is not valid UTF-8."})
		case ref == nil:
			fields = append(fields, ipam.Field{Pointer: pointer, Detail: "is not a parameter of this operation" + known(op.query)})
		case len(values) > 1:
			fields = append(fields, ipam.Field{Pointer: pointer, Detail: fmt.Sprintf("is given %d times; give it once.", len(values))})
		case !utf8.ValidString(values[0]):
			fields = append(fields, ipam.Field{Pointer: pointer, Detail: "is not valid UTF-8."})
		case !literal(ref.Schema.Value, values[0]):
			fields = append(fields, ipam.Field{Pointer: pointer, Detail: literalSentence(ref.Schema.Value)})
		}
	}
	slices.SortFunc(fields, func(x, y ipam.Field) int { return strings.Compare(x.Pointer, y.Pointer) })
	return fields
}

func known(params openapi3.Parameters) string {
	if len(params) == 0 {
		return "; it has none."
	}
	names := make([]string, len(params))
	for i, p := range params {
		names[i] = p.Value.Name
	}
	return "; it has " + strings.Join(names, ", ") + "."
}

// literal reports whether a parameter is written as JSON writes its type: true or false, or an integer without a plus sign and leading zeros. The
// decoders would also accept 1, T, +5 and 007.
func literal(s *openapi3.Schema, value string) bool {
	switch {
	case s.Type.Is(openapi3.TypeBoolean):
		return value == "true" || value == "false"
	case s.Type.Is(openapi3.TypeInteger):
		n, err := strconv.ParseInt(value, 10, 64)
		return err == nil && strconv.FormatInt(n, 10) == value
	default:
		return true
	}
}

// checkHeaders returns an error for each header that is repeated. It joins repeated preconditions, because a precondition is a list and may have
// several headers.
func checkHeaders(op *Operation, h http.Header) []ipam.Field {
	var fields []ipam.Field
	for _, p := range op.header {
		name := http.CanonicalHeaderKey(p.Value.Name)
		switch values := h.Values(name); {
		case len(values) < 2:
		case name == IfMatch || name == IfNoneMatch:
			h.Set(name, strings.Join(values, ", "))
		default:
			fields = append(fields, ipam.Field{
				Pointer: "header:" + p.Value.Name, Detail: fmt.Sprintf("is given %d times; give it once.", len(values)),
			})
		}
	}
	return fields
}
