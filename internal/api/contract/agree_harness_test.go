package contract

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/labstack/echo/v4"
	"github.com/oapi-codegen/runtime"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/api/refuse"
	"github.com/carve-ipam/carve/internal/ipam"
)

// bodies makes the types that the handlers bind, by operation.
var bodies = map[string]func() any{
	"createProject":    func() any { return new(gen.CreateProjectJSONRequestBody) },
	"putMember":        func() any { return new(gen.PutMemberJSONRequestBody) },
	"createApiKey":     func() any { return new(gen.CreateAPIKeyJSONRequestBody) },
	"putQuota":         func() any { return new(gen.PutQuotaJSONRequestBody) },
	"createAlertRule":  func() any { return new(gen.CreateAlertRuleJSONRequestBody) },
	"createWebhook":    func() any { return new(gen.CreateWebhookJSONRequestBody) },
	"createSpace":      func() any { return new(gen.CreateSpaceJSONRequestBody) },
	"createPool":       func() any { return new(gen.CreatePoolJSONRequestBody) },
	"createClass":      func() any { return new(gen.CreateClassJSONRequestBody) },
	"createClaim":      func() any { return new(gen.CreateClaimJSONRequestBody) },
	"putClaim":         func() any { return new(gen.PutClaimJSONRequestBody) },
	"createClaimBatch": func() any { return new(gen.CreateClaimBatchJSONRequestBody) },
	"releaseClaims":    func() any { return new(gen.ReleaseClaimsJSONRequestBody) },
	"attachConsumer":   func() any { return new(gen.AttachConsumerJSONRequestBody) },
	"putConsumer":      func() any { return new(gen.PutConsumerJSONRequestBody) },
	"renewConsumers":   func() any { return new(gen.RenewConsumersJSONRequestBody) },
	"explainClaim":     func() any { return new(gen.ExplainClaimJSONRequestBody) },
}

// pair is one operation, checked by this package and by the validator of kin-openapi.
type pair struct {
	op    *Operation
	path  string // in echo's syntax
	route *routers.Route
}

// pairs returns all operations. loosen changes the document of this package, so that this package is wrong.
func pairs(t *testing.T, loosen func(*openapi3.T)) []pair {
	t.Helper()
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	loosen(doc)
	k, err := newContract(doc)
	require.NoError(t, err)
	resolve, err := gen.GetSpec()
	require.NoError(t, err)
	resolve.Security, resolve.Servers = nil, nil
	var all []pair
	for path, item := range resolve.Paths.Map() {
		for method, op := range item.Operations() {
			op.Security = nil
			echoPath := strings.NewReplacer("{", ":", "}", "").Replace(path)
			all = append(all, pair{
				op: k.Methods(echoPath)[method], path: echoPath,
				route: &routers.Route{Spec: resolve, Path: path, PathItem: item, Method: method, Operation: op},
			})
		}
	}
	slices.SortFunc(all, func(x, y pair) int { return strings.Compare(x.op.ID, y.op.ID) })
	return all
}

// outcome is the result of a check.
type outcome struct {
	fields []ipam.Field
	body   any // the value that the handler would receive
}

func (o outcome) pointers() []string {
	var all []string
	for _, f := range o.fields {
		all = append(all, f.Pointer)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// ask serves a request with a check of this package and one of the validator.
func (p pair) ask(t require.TestingT, q question) (got, want outcome) {
	e := echo.New()
	e.Add(p.route.Method, p.path, func(c echo.Context) error {
		err := p.op.Check(c, []byte(q.body)) // also joins the preconditions of several headers
		want = p.validate(t, c, q)
		if refused, ok := errors.AsType[*ipam.Error](err); ok {
			got.fields = refused.Fields
		} else {
			require.NoError(t, err)
		}
		if body, ok := bodies[p.op.ID]; ok && err == nil {
			got.body = body()
			if err := (Binder{}).Bind(got.body, c); err != nil {
				got.body = err
			}
		}
		return nil
	})
	w := httptest.NewRecorder()
	e.ServeHTTP(w, q.request(p))
	require.NotEqual(t, http.StatusInternalServerError, w.Code, q)
	return got, want
}

// validate asks the validator. KeepValidatedValue keeps the value that it has checked. Its own check of times is too lenient.
func (p pair) validate(t require.TestingT, c echo.Context, q question) (o outcome) {
	params := map[string]string{}
	for _, name := range c.ParamNames() {
		params[name] = PathParam(c, name)
	}
	r := c.Request().Clone(c.Request().Context())
	r.Body, r.ContentLength = io.NopCloser(strings.NewReader(q.body)), int64(len(q.body))
	query, _ := url.ParseQuery(r.URL.RawQuery)
	err := openapi3filter.ValidateRequest(r.Context(), &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, QueryParams: query, Route: p.route,
		Options: &openapi3filter.Options{KeepValidatedValue: true, SkipSettingDefaults: true, MultiError: true, SchemaValidationOptions: []openapi3.SchemaValidationOption{
			openapi3.WithStringFormatValidator("date-time", openapi3.NewCallbackValidator(func(text string) error {
				if !isMoment([]byte(text)) {
					return errors.New("no moment")
				}
				return nil
			})),
		}},
	})
	o.fields = leaves("", err)
	if body, ok := bodies[p.op.ID]; ok && err == nil {
		o.body = body()
		kept, ok := r.Body.(interface{ ValidatedValue() any })
		require.True(t, ok)
		if err := runtime.BindJSONValue(kept.ValidatedValue(), o.body); err != nil {
			o.body = err // an integer such as 1e2: Check refuses it
		}
	}
	return o
}

// leaves returns the places of the validator's errors. place is the parameter of an error, or "" for the body.
func leaves(place string, err error) (all []ipam.Field) {
	//nolint:errorlint // the tree itself is walked: errors.As would stop at the first leaf
	switch e := err.(type) {
	case nil:
	case openapi3.MultiError:
		for _, each := range e {
			all = append(all, leaves(place, each)...)
		}
	case *openapi3filter.RequestError:
		if e.Parameter != nil {
			place = e.Parameter.In + ":" + e.Parameter.Name
		}
		switch e.Err.(type) { //nolint:errorlint // as above
		case openapi3.MultiError, *openapi3.SchemaError:
			return leaves(place, e.Err)
		}
		return []ipam.Field{{Pointer: place, Detail: err.Error()}}
	case *openapi3.SchemaError:
		if parts, ok := errors.AsType[openapi3.MultiError](e.Origin); ok && e.SchemaField == "allOf" {
			return leaves(place, parts)
		}
		if place == "" {
			for _, token := range e.JSONPointer() {
				place += "/" + ipam.EscapePointer(token)
			}
			if e.SchemaField == "properties" { // only the error text has the name of an unknown member
				name, _ := strconv.Unquote(strings.TrimSuffix(strings.TrimPrefix(e.Reason, "property "), " is unsupported"))
				place += "/" + ipam.EscapePointer(name)
			}
		}
		all = []ipam.Field{{Pointer: refuse.Clip(place), Detail: e.Reason}}
	default:
		all = []ipam.Field{{Pointer: place, Detail: err.Error()}}
	}
	return all
}

// stricter are parts of the errors that only this package has. The validator uses encoding/json, and it does not check how parameters are written.
var stricter = []string{
	"U+0000", "appears twice", "UTF-8", "plain integer", "is not valid JSON", "text after", "ends in the middle", "is empty", "is a number", // strict JSON
	"is given", "is not a parameter", "is not a query string", "is not possible", "must be an integer", "must be true or false", // parameters
}

// disagreement sends a request to both checks. If the results differ, it returns the difference. Otherwise it returns "".
func (p pair) disagreement(t require.TestingT, q question) (wrong string, accepted bool) {
	got, want := p.ask(t, q)
	for _, f := range got.fields {
		if slices.ContainsFunc(stricter, func(part string) bool { return strings.Contains(f.Detail, part) }) {
			return "", false
		}
	}
	switch accepted = len(got.fields) == 0; {
	case len(got.fields) == refuse.MaxFields && len(want.fields) > 0:
	case !slices.Equal(got.pointers(), want.pointers()):
		return fmt.Sprintf("refused: %v, by the validator: %v", got.fields, want.fields), accepted
	case !reflect.DeepEqual(got.body, want.body):
		return fmt.Sprintf("bound to %+v, by the validator to %+v", got.body, want.body), accepted
	}
	return "", accepted
}

// question is a request: path parameters in order, query, headers and body.
type question struct {
	path   []string
	query  string
	header http.Header
	body   string
}

func (q question) String() string {
	return fmt.Sprintf("%q ?%s %v %s", q.path, q.query, q.header, q.body)
}

func (q question) request(p pair) *http.Request {
	target := p.path
	for _, value := range q.path {
		before, after, _ := strings.Cut(target, ":")
		_, after, more := strings.Cut(after, "/")
		target = before + url.PathEscape(value)
		if more {
			target += "/" + after
		}
	}
	r := httptest.NewRequest(p.route.Method, "http://localhost/", strings.NewReader(q.body))
	r.URL = &url.URL{Path: target, RawQuery: q.query}
	if u, err := url.Parse(target); err == nil {
		u.RawQuery = q.query
		r.URL = u
	}
	r.Header = q.header.Clone()
	if r.Header == nil {
		r.Header = http.Header{}
	}
	if p.op.MediaType != "" {
		r.Header.Set("Content-Type", p.op.MediaType)
	}
	return r
}

// questions generates requests of an operation: valid ones, and some with errors.
func questions(p pair) *rapid.Generator[question] {
	return rapid.Custom(func(t *rapid.T) question {
		w := newWriter(t)
		q := question{header: http.Header{}}
		var query []string
		item := p.route.PathItem
		for _, ref := range append(slices.Clone(item.Parameters), p.route.Operation.Parameters...) {
			value := w.word(ref.Value.Schema.Value)
			if value == "" || strings.Contains(value, "/") && ref.Value.In == "path" {
				value = "x"
			}
			switch in := ref.Value.In; {
			case in == "path":
				q.path = append(q.path, value)
			case !ref.Value.Required && rapid.Bool().Draw(t, "absent"):
			case in == "header":
				q.header.Add(ref.Value.Name, value)
				if w.slips() {
					q.header.Add(ref.Value.Name, value)
				}
			case in == "query":
				if rapid.Bool().Draw(t, "escaped") {
					value = url.QueryEscape(value)
				}
				query = append(query, ref.Value.Name+"="+value)
				if w.slips() {
					query = append(query, rapid.SampledFrom([]string{query[0], "x=1", "%", ";", "limit", "&"}).Draw(t, "extra"))
				}
			}
		}
		q.query = strings.Join(query, "&")
		if p.op.MediaType != "" {
			w.value(p.route.Operation.RequestBody.Value.Content.Get(p.op.MediaType).Schema.Value)
			q.body = w.scratch(w.String())
		}
		return q
	})
}
