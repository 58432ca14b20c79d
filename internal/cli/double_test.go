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

// contract loads openapi.yaml once.
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

// example returns one of the contract's own examples as JSON.
func example(t *testing.T, name string) json.RawMessage {
	t.Helper()
	doc, err := contract()
	require.NoError(t, err)
	require.Contains(t, doc.Components.Examples, name)
	text, err := json.Marshal(doc.Components.Examples[name].Value.Value)
	require.NoError(t, err)
	return text
}

// reply is one response of a double. Without a status, the double cuts the connection.
type reply struct {
	status int
	body   json.RawMessage
	header map[string]string
}

// sent is one request that a double received.
type sent struct {
	method, uri string
	header      http.Header
	body        []byte
}

// double is a scripted server. It compares both sides with the contract. The test fails if a request or a response is not in openapi.yaml. The double
// simulates situations that a real server does not produce on demand, such as a lost response, an overloaded server or another version.
type double struct {
	*httptest.Server
	t *testing.T

	mu     sync.Mutex
	script []reply
	seen   []sent

	// These fields configure the command line that runs against the double.
	env      map[string]string
	in       string
	secret   func(prompt string) ([]byte, error)
	database operate.Database
	pauses   []time.Duration
}

// answering returns a double that sends these replies, one for each request.
func answering(t *testing.T, script ...reply) *double {
	t.Helper()
	_, err := router() // this is slow, and must not count as part of a request
	require.NoError(t, err)
	d := &double{t: t, script: script}
	d.Server = httptest.NewServer(d)
	t.Cleanup(d.Close)
	d.env = map[string]string{"CARVE_SERVER": d.URL, "CARVE_PROJECT": "team-a"}
	return d
}

// ok, created, gone and refusal return the usual replies.
func ok(body json.RawMessage) reply { return reply{status: 200, body: body} }

func created(body json.RawMessage) reply { return reply{status: 201, body: body} }

func gone() reply { return reply{status: 204} }

// refusal returns a problem document of the contract's examples as a reply with the document's status.
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
		w.Header().Set("Content-Type", "application/problem+json") // a permanent refusal, which ends retries
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

// answer validates the request and the reply, and sends the reply.
func (d *double) answer(w http.ResponseWriter, r *http.Request, body []byte, next reply) {
	routes, err := router()
	assert.NoError(d.t, err)
	r.Body = io.NopCloser(bytes.NewReader(body))
	route, params, err := routes.FindRoute(r)
	if !assert.NoError(d.t, err, "%s %s", r.Method, r.URL) {
		return
	}
	for name, value := range params { // the router returns the values escaped, as in the URL
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

// result is the outcome of a command line.
type result struct {
	code     int
	out, err string
}

// requests returns the requests that the double received, in order.
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

// noon is the time at which every command line runs.
var noon = time.Date(2026, 3, 6, 12, 0, 0, 0, time.UTC)

// run runs one command line against the double. It does not wait in pauses but records them.
func (d *double) run(args ...string) result {
	d.t.Helper()
	var out, err bytes.Buffer
	code := d.runUntil(d.t.Context(), &out, &err, args...)
	return result{code, out.String(), err.String()}
}

// runUntil runs one command line until the context ends, and returns its exit code.
func (d *double) runUntil(ctx context.Context, out, err io.Writer, args ...string) int {
	return cli.Run(ctx, args, cli.Environment{
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

// done runs a command line. The command must succeed and use all replies.
func (d *double) done(args ...string) result {
	d.t.Helper()
	r := d.run(args...)
	require.Zero(d.t, r.code, "%v: %s", args, r.err)
	require.Empty(d.t, d.unused(), "answers that nobody asked for")
	return r
}

// json decodes the body of a request.
func (s sent) json(t *testing.T) map[string]any {
	t.Helper()
	var v map[string]any
	require.NoError(t, json.Unmarshal(s.body, &v), "%s", s.body)
	return v
}
