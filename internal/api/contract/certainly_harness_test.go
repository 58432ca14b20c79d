package contract

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/labstack/echo/v4"
	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"github.com/carve-ipam/carve/internal/api/gen"
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

// pair is one operation in two contracts: one with the fast path, the other with the validator alone.
type pair struct {
	certain, plain *judge
	op             *Operation
	path           string // in echo's syntax
}

// pairs loads the contract twice. loosen changes the document of the fast path, so that the fast path is wrong.
func pairs(t *testing.T, loosen func(*openapi3.T)) []pair {
	t.Helper()
	read := func(change func(*openapi3.T)) *Contract {
		doc, err := gen.GetSpec()
		require.NoError(t, err)
		change(doc)
		k, err := arrange(doc)
		require.NoError(t, err)
		return k
	}
	certain, plain := read(loosen), read(func(*openapi3.T) {})
	var all []pair
	for path, methods := range plain.paths {
		for method, op := range methods {
			op.fast = fastChecks{needsFullCheck: true}
			all = append(all, pair{
				certain: newJudge(certain.paths[path][method], path), plain: newJudge(op, path), op: op, path: path,
			})
		}
	}
	slices.SortFunc(all, func(x, y pair) int { return strings.Compare(x.op.ID, y.op.ID) })
	return all
}

// judge does the complete validation of a request and keeps the last result.
type judge struct {
	handler http.Handler
	last    outcome
}

type outcome struct {
	certain bool
	err     error
	body    any // the value that the handler received
}

func newJudge(op *Operation, path string) *judge {
	j := &judge{}
	e := echo.New()
	e.Add(op.route.Method, path, func(c echo.Context) error {
		if op.MediaType != "" {
			data, err := io.ReadAll(c.Request().Body)
			if err != nil {
				return err
			}
			if err := op.TakeBody(c.Request(), data); err != nil {
				return err
			}
		}
		j.last.certain = op.passesFastChecks(c)
		if err := op.Check(c); err != nil {
			return err
		}
		if body, ok := bodies[op.ID]; ok {
			j.last.body = body()
			return Binder{}.Bind(j.last.body, c)
		}
		return nil
	})
	e.HTTPErrorHandler = func(err error, _ echo.Context) { j.last.err = err }
	j.handler = e
	return j
}

func (j *judge) ask(r *http.Request) outcome {
	j.last = outcome{}
	j.handler.ServeHTTP(httptest.NewRecorder(), r)
	return j.last
}

// disagreement sends a request to both contracts. If the fast path accepts the request and the results differ, it returns the difference. Otherwise
// it returns "".
func (p pair) disagreement(q question) (wrong string, certain bool) {
	got := p.certain.ask(q.request(p))
	if !got.certain {
		return "", false
	}
	want := p.plain.ask(q.request(p))
	switch {
	case want.certain:
		return "the validator was not asked", true
	case want.err != nil:
		return fmt.Sprintf("refused without certainty: %v", want.err), true
	case got.err != nil:
		return fmt.Sprintf("not bound: %v", got.err), true
	case !reflect.DeepEqual(got.body, want.body):
		return fmt.Sprintf("bound to %+v, without certainty to %+v", got.body, want.body), true
	}
	return "", true
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
	r := httptest.NewRequest(p.op.route.Method, "http://localhost/", strings.NewReader(q.body))
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
		item := p.op.route.PathItem
		for _, ref := range append(slices.Clone(item.Parameters), p.op.route.Operation.Parameters...) {
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
			w.value(p.op.route.Operation.RequestBody.Value.Content.Get(p.op.MediaType).Schema.Value)
			q.body = w.scratch(w.String())
		}
		return q
	})
}
