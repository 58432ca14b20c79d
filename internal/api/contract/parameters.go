package contract

import (
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/go-json-experiment/json/jsontext"
	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// checkParameters returns the faults in path, query and headers, sorted by pointer. It returns an error for a malformed query.
func (op *Operation) checkParameters(c echo.Context) ([]ipam.Field, error) {
	r := c.Request()
	query, err := url.ParseQuery(r.URL.RawQuery)
	if err != nil {
		return nil, refuse.Invalid([]ipam.Field{{Pointer: "query", Detail: "is not a query string: write it as name=value&name=value, percent-encoded."}})
	}
	fields := op.unsupportedConditions(r.Header)
	for _, ref := range op.parameters {
		p := ref.Value
		var values []string
		switch p.In {
		case openapi3.ParameterInPath:
			values = []string{PathParam(c, p.Name)}
		case openapi3.ParameterInQuery:
			values = query[p.Name]
		case openapi3.ParameterInHeader:
			values = headerValues(r.Header, http.CanonicalHeaderKey(p.Name))
		}
		if fault := op.contract.parameterFault(p, values); fault != "" {
			fields = append(fields, ipam.Field{Pointer: p.In + ":" + p.Name, Detail: fault})
		}
	}
	for name := range query {
		switch {
		case !utf8.ValidString(name):
			fields = append(fields, ipam.Field{Pointer: "query", Detail: "has a name that is not valid UTF-8."})
		case op.parameters.GetByInAndName(openapi3.ParameterInQuery, name) == nil:
			fields = append(fields, ipam.Field{Pointer: "query:" + refuse.Clip(name), Detail: "is not a parameter of this operation" + op.parameterList()})
		}
	}
	slices.SortFunc(fields, func(x, y ipam.Field) int { return strings.Compare(x.Pointer, y.Pointer) })
	return fields, nil
}

// headerValues returns a header's values. It joins repeated preconditions, because a precondition is a list, which may be split into several headers.
func headerValues(h http.Header, name string) []string {
	if len(h[name]) > 1 && (name == IfMatch || name == IfNoneMatch) {
		h.Set(name, strings.Join(h[name], ", "))
	}
	return h[name]
}

// parameterFault returns the error text for a parameter's values, or "".
func (k *Contract) parameterFault(p *openapi3.Parameter, values []string) string {
	s := resolve(p.Schema)
	switch {
	case len(values) == 0 && p.Required:
		return "is required."
	case len(values) == 0:
		return ""
	case len(values) > 1:
		return fmt.Sprintf("is given %d times; give it once.", len(values))
	case p.In == openapi3.ParameterInQuery && !utf8.ValidString(values[0]):
		return "is not valid UTF-8."
	case s.Type.Is(openapi3.TypeArray):
		items := strings.Split(values[0], ",")
		if fault := entriesFault(s, uint64(len(items))); fault != "" {
			return fault
		}
		for _, item := range items {
			if fault := k.fault(resolve(s.Items), jsontext.KindString, []byte(item)); fault != "" {
				return fault
			}
		}
		return ""
	}
	kind := jsontext.KindString
	switch {
	case s.Type.Is(openapi3.TypeInteger):
		kind = jsontext.KindNumber
	case s.Type.Is(openapi3.TypeBoolean) && (values[0] == "true" || values[0] == "false"):
		kind = jsontext.Kind(values[0][0])
	}
	return k.fault(s, kind, []byte(values[0]))
}

// parameterList returns the end of a sentence, which lists the operation's query parameters.
func (op *Operation) parameterList() string {
	var names []string
	for _, p := range op.parameters {
		if p.Value.In == openapi3.ParameterInQuery {
			names = append(names, p.Value.Name)
		}
	}
	if names == nil {
		return "; it has none."
	}
	return "; it has " + strings.Join(names, ", ") + "."
}
