package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/getkin/kin-openapi/openapi3filter"
	"github.com/getkin/kin-openapi/routers"
	"github.com/getkin/kin-openapi/routers/legacy"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/cli"
	"github.com/carve-ipam/carve/internal/cli/operate"
)

// contract is openapi.yaml with its router, read once.
var contract = sync.OnceValues(func() (*openapi3.T, error) {
	return openapi3.NewLoader().LoadFromFile("../../openapi.yaml")
})

var router = sync.OnceValues(func() (routers.Router, error) {
	doc, err := contract()
	if err != nil {
		return nil, err
	}
	return legacy.NewRouter(doc)
})

// example is one of the contract's own examples, as JSON.
func example(t *testing.T, name string) json.RawMessage {
	t.Helper()
	doc, err := contract()
	require.NoError(t, err)
	require.Contains(t, doc.Components.Examples, name)
	text, err := json.Marshal(doc.Components.Examples[name].Value.Value)
	require.NoError(t, err)
	return text
}

// reply is one answer of a double; without a status the connection is cut instead.
type reply struct {
	status int
	body   json.RawMessage
	header map[string]string
}

// sent is one request that reached a double.
type sent struct {
	method, uri string
	header      http.Header
	body        []byte
}

// double answers in the place of a server, in the order of a script, and holds both sides to the contract: a request that
// openapi.yaml does not allow, or an answer that it does not have, fails the test. It is for what a real server does not
// do when it is asked to: get lost, be busy, be of another version.
type double struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	script []reply
	seen   []sent

	// Of the command line that runs against it.
	env      map[string]string
	in       string
	secret   func(prompt string) ([]byte, error)
	database operate.Database
	pauses   []time.Duration
}

// answering makes a double that gives these answers, one a request.
func answering(t *testing.T, script ...reply) *double {
	t.Helper()
	_, err := router() // which takes its time, that is not to be one of a request's
	require.NoError(t, err)
	d := &double{t: t, script: script}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	d.env = map[string]string{"CARVE_SERVER": d.URL, "CARVE_PROJECT": "team-a"}
	return d
}

// ok, created, gone and refusal are the usual answers.
func ok(body json.RawMessage) reply { return reply{status: 200, body: body} }

func created(body json.RawMessage) reply { return reply{status: 201, body: body} }

func gone() reply { return reply{status: 204} }

// refusal is a problem document of the contract's examples, with the status it has.
func refusal(t *testing.T, name string) reply {
	t.Helper()
	body := example(t, name)
	var p struct{ Status int }
	require.NoError(t, json.Unmarshal(body, &p))
	return reply{status: p.Status, body: body}
}

func cut() reply { return reply{} }

// ServeHTTP implements http.Handler.
func (d *double) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(r.Body)
	assert.NoError(d.t, err)
	d.mu.Lock()
	d.seen = append(d.seen, sent{r.Method, r.URL.RequestURI(), r.Header.Clone(), body})
	if len(d.script) == 0 {
		d.mu.Unlock()
		d.t.Errorf("one request too many: %s %s", r.Method, r.URL)
		w.Header().Set("Content-Type", "application/problem+json") // refused for good: who would ask for ever does not
		w.WriteHeader(http.StatusTeapot)
		_, err = w.Write([]byte(`{"code": "internal", "status": 418, "detail": "One request too many."}`))
		assert.NoError(d.t, err)
		return
	}
	next := d.script[0]
	d.script = d.script[1:]
	d.mu.Unlock()
	if next.status == 0 {
		panic(http.ErrAbortHandler)
	}
	d.answer(w, r, body, next)
}

// answer validates the request, then the answer, and sends it.
func (d *double) answer(w http.ResponseWriter, r *http.Request, body []byte, next reply) {
	routes, err := router()
	assert.NoError(d.t, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := routes.FindRoute(r)
	if !assert.NoError(d.t, err, "%s %s", r.Method, r.URL) {
		return
	}
	for name, value := range params { // the router has them as they stand in the URL
		params[name], err = url.PathUnescape(value)
		assert.NoError(d.t, err)
	}
	in := &openapi3filter.RequestValidationInput{
		Request: r, PathParams: params, Route: route,
		Options: &openapi3filter.Options{AuthenticationFunc: openapi3filter.NoopAuthenticationFunc, IncludeResponseStatus: true},
	}
	assert.NoError(d.t, openapi3filter.ValidateRequest(r.Context(), in))
	header := http.Header{"X-Request-Id": {"req-1"}}
	switch {
	case next.status >= 400:
		header.Set("Content-Type", "application/problem+json")
	case next.body != nil:
		header.Set("Content-Type", "application/json")
		header.Set("Etag", `"some-revision"`)
		header.Set("Location", "/somewhere")
	}
	for name, value := range next.header {
		header.Set(name, value)
	}
	out := &openapi3filter.ResponseValidationInput{RequestValidationInput: in, Status: next.status, Header: header, Options: in.Options}
	out.SetBodyBytes(next.body)
	assert.NoError(d.t, openapi3filter.ValidateResponse(r.Context(), out))
	for name := range header {
		w.Header().Set(name, header.Get(name))
	}
	w.WriteHeader(next.status)
	_, err = w.Write(next.body)
	assert.NoError(d.t, err)
}

// result is what a command line left behind.
type result struct {
	code     int
	out, err string
}

// requests are those that reached the double, in order.
func (d *double) requests() []sent {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.seen)
}

func (d *double) unused() []reply {
	d.mu.Lock()
	defer d.mu.Unlock()
	return slices.Clone(d.script)
}

// noon is when every command line is run.
var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// run carries out one command line against the double. Nothing waits: the pauses are noted down.
func (d *double) run(args ...string) result {
	d.t.Helper()
	var out, err bytes.Buffer
	code := d.runUntil(d.t.Context(), &out, &err, args...)
	return result{code, out.String(), err.String()}
}

// runUntil carries out one command line that goes on until the context ends, and answers its exit code.
func (d *double) runUntil(ctx context.Context, out, err io.Writer, args ...string) int {
	return cli.Run(ctx, args, cli.Surroundings{
		In: bytes.NewBufferString(d.in), Out: out, Err: err, Version: "1.2.3", Database: d.database, Secret: d.secret,
		Now: func() time.Time { return noon },
		Env: func(name string) (string, bool) { v, found := d.env[name]; return v, found },
		Pause: func(_ context.Context, pause time.Duration) error {
			d.mu.Lock()
			defer d.mu.Unlock()
			d.pauses = append(d.pauses, pause)
			return nil
		},
	})
}

// done is run for a command line that must succeed and use up the script.
func (d *double) done(args ...string) result {
	d.t.Helper()
	r := d.run(args...)
	require.Zero(d.t, r.code, "%v: %s", args, r.err)
	require.Empty(d.t, d.unused(), "answers that nobody asked for")
	return r
}

// body is what a request carried.
func (s sent) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(s.body, &v), "%s", s.body)
	return v
}
