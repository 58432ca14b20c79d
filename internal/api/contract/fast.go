package contract

import (
	"bytes"
	"io"
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"

	"github.com/carve-ipam/carve/internal/api/fastvalidate"
)

// fastChecks is the fast path of validation for one operation. It recognizes requests that are valid beyond doubt, and these skip checkJSON and the
// validator. All other requests go through both checks, which also return the errors (ADR 18).
type fastChecks struct {
	body   *fastvalidate.Checker // nil: bodies have no fast path
	path   map[string]*fastvalidate.Checker
	query  map[string]*fastvalidate.Checker
	header []fastHeader
	// needsFullCheck disables the fast path. It is set if the operation has a part that the fast path cannot check: a required query parameter or a
	// cookie.
	needsFullCheck bool
}

type fastHeader struct {
	key      string // canonical
	value    *fastvalidate.Checker
	required bool
}

// newFastChecks compiles the fast path of an operation.
func newFastChecks(c *fastvalidate.Compiler, op *openapi3.Operation, params openapi3.Parameters, mediaType string) fastChecks {
	k := fastChecks{path: map[string]*fastvalidate.Checker{}, query: map[string]*fastvalidate.Checker{}}
	for _, ref := range params {
		p := ref.Value
		if p.Schema == nil || p.Content != nil || p.Style != "" || p.Explode != nil {
			k.needsFullCheck = true
			continue
		}
		value := c.Compile(p.Schema)
		switch p.In {
		case openapi3.ParameterInPath:
			k.path[p.Name] = value
		case openapi3.ParameterInQuery:
			k.query[p.Name] = value
			k.needsFullCheck = k.needsFullCheck || p.Required
		case openapi3.ParameterInHeader:
			k.header = append(k.header, fastHeader{key: http.CanonicalHeaderKey(p.Name), value: value, required: p.Required})
		default:
			k.needsFullCheck = true
		}
	}
	// The fast path does not accept merge patches. They stay raw, so the value that is bound would depend on the decoder.
	if mediaType == JSON {
		k.body = c.Compile(op.RequestBody.Value.Content.Get(mediaType).Schema)
	}
	return k
}

// params reports whether all parameters of a request are certainly valid.
func (k *fastChecks) params(c echo.Context) bool {
	r := c.Request()
	names, values := c.ParamNames(), c.ParamValues()
	if k.needsFullCheck || r.URL.RawPath != "" || len(names) != len(k.path) {
		return false
	}
	for i, name := range names {
		if check := k.path[name]; check == nil || values[i] == "" || !check.ValidText(values[i]) {
			return false
		}
	}
	for _, h := range k.header {
		values := r.Header[h.key]
		if len(values) == 0 && !h.required {
			continue
		}
		if len(values) != 1 || values[0] == "" || !h.value.ValidText(values[0]) {
			return false
		}
	}
	// QueryParams ignores errors in a query with a semicolon or an incomplete percent escape. So such a query needs the full check.
	if r.URL.RawQuery == "" {
		return true
	}
	if strings.ContainsAny(r.URL.RawQuery, ";%") {
		return false
	}
	for name, values := range c.QueryParams() {
		if check := k.query[name]; check == nil || len(values) != 1 || values[0] == "" || !check.ValidText(values[0]) {
			return false
		}
	}
	return true
}

// fastBody is a body that passed the fast path.
type fastBody struct {
	bytes.Reader
	data []byte
}

func newFastBody(data []byte) *fastBody {
	b := &fastBody{data: data}
	b.Reset(data)
	return b
}

// Close implements io.Closer.
func (*fastBody) Close() error { return nil }

// TakeBody sets a request's body to data. Before other code interprets the body, it refuses everything but exactly one JSON value in strict syntax.
func (op *Operation) TakeBody(r *http.Request, data []byte) error {
	r.ContentLength = int64(len(data))
	if op.fast.body != nil && op.fast.body.Valid(data) {
		r.Body = newFastBody(data)
		return nil
	}
	if err := checkJSON(data, bodySizes()); err != nil {
		return err
	}
	r.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(data)), nil }
	r.Body, _ = r.GetBody()
	return nil
}

// passesFastChecks reports whether the fast path has accepted the whole request.
func (op *Operation) passesFastChecks(c echo.Context) bool {
	if op.MediaType != "" {
		if _, ok := c.Request().Body.(*fastBody); !ok {
			return false
		}
	}
	return op.fast.params(c)
}
