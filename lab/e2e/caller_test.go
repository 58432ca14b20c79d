package e2e

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"sync/atomic"
	"testing"

	"github.com/stretchr/testify/require"
)

// obj is a JSON object as tests write it.
type obj = map[string]any

// caller sends requests to one server and checks each response against the contract.
type caller struct {
	addr atomic.Pointer[string] // host:port, which changes when the server restarts
	http *http.Client
	// outages is set by a test that breaks the database. The responses 503 and 504 are then allowed. They are checked like all others.
	outages bool
	token   string   // credentials of the requests; empty for none
	unseen  []string // words of other tenants; a response may contain one only if the request does
	behind  []string // pools behind classes; a response may name one only as the origin of the caller's block
	seen    tally
}

func newCaller(addr string) *caller {
	c := &caller{http: &http.Client{
		Transport:     &http.Transport{MaxIdleConnsPerHost: 128, DisableCompression: true},
		CheckRedirect: func(*http.Request, []*http.Request) error { return http.ErrUseLastResponse },
	}}
	c.follow(addr)
	return c
}

// as returns another caller of the same server.
func (c *caller) as(token string, unseen ...string) *caller {
	other := &caller{http: c.http, outages: c.outages, token: token, unseen: unseen, behind: c.behind}
	other.addr.Store(c.addr.Load())
	return other
}

// follow sends the next requests to another server, such as the one that replaces a stopped server.
func (c *caller) follow(addr string) { c.addr.Store(&addr) }

func (c *caller) url(path string) string { return "http://" + *c.addr.Load() + path }

// answer is a response that was completely read and checked.
type answer struct {
	method, path string
	status       int
	header       http.Header
	body         []byte
}

func (a answer) ok() bool { return a.status >= 200 && a.status <= 299 }

// etag returns the ETag of the resource in the response.
func (a answer) etag() string { return a.header.Get("ETag") }

// option changes a request before it is sent.
type option func(*http.Request)

func header(name, value string) option {
	return func(r *http.Request) { r.Header.Add(name, value) }
}

func without(name string) option {
	return func(r *http.Request) { r.Header.Del(name) }
}

func ifMatch(etag string) option { return header("If-Match", etag) }

func key(k string) option { return header("Idempotency-Key", k) }

// query appends raw text to the query without escaping it.
func query(raw string) option {
	return func(r *http.Request) {
		if r.URL.RawQuery != "" {
			r.URL.RawQuery += "&"
		}
		r.URL.RawQuery += raw
	}
}

var dryRun = query("dryRun=true")

// chunked sends the body without its length.
func chunked(r *http.Request) {
	if r.Body != nil {
		r.ContentLength, r.Body = -1, io.NopCloser(r.Body)
	}
}

// do sends a request and requires a response with any status. body is nil for no body, []byte for raw bytes, and otherwise a value to encode as JSON.
func (c *caller) do(t testing.TB, method, path string, body any, options ...option) answer {
	t.Helper()
	a, err := c.try(t.Context(), t, method, path, body, options...)
	require.NoError(t, err)
	return a
}

// try sends a request. An error means that there was no response. Any goroutine of the test may call it.
func (c *caller) try(ctx context.Context, t testing.TB, method, path string, body any, options ...option) (answer, error) {
	t.Helper()
	r, err := c.request(ctx, method, path, body, options...)
	if err != nil {
		return answer{}, err
	}
	resp, err := c.http.Do(r)
	if err != nil {
		return answer{}, err
	}
	return c.read(t, r, resp)
}

func (c *caller) request(ctx context.Context, method, path string, body any, options ...option) (*http.Request, error) {
	raw, isRaw := body.([]byte)
	if body != nil && !isRaw {
		var err error
		if raw, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	var reader io.Reader
	if raw != nil {
		reader = bytes.NewReader(raw)
	}
	r, err := http.NewRequestWithContext(ctx, method, c.url(path), reader)
	if err != nil {
		return nil, err
	}
	if raw != nil {
		r.Header.Set("Content-Type", "application/json")
		if method == http.MethodPatch {
			r.Header.Set("Content-Type", "application/merge-patch+json")
		}
	}
	if c.token != "" {
		r.Header.Set("Authorization", "Bearer "+c.token)
	}
	for _, o := range options {
		o(r)
	}
	return r, nil
}

// read reads the complete response and checks it against the contract.
func (c *caller) read(t testing.TB, r *http.Request, resp *http.Response) (answer, error) {
	t.Helper()
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	if err != nil {
		return answer{}, err
	}
	a := answer{method: r.Method, path: r.URL.EscapedPath(), status: resp.StatusCode, header: resp.Header, body: body}
	op := contract().operation(a.method, a.path)
	c.seen.add(op, a)
	wrong := contract().violations(op, a)
	if a.status >= 500 && (!c.outages || a.status == http.StatusInternalServerError) {
		wrong = append(wrong, "a fault of the server")
	}
	if sent := r.Header.Get("X-Request-Id"); sent != "" && a.header.Get("X-Request-Id") != sent {
		wrong = append(wrong, "X-Request-Id is not the one that was sent")
	}
	for _, word := range c.unseen {
		if a.says(word) && !said(r, word) {
			wrong = append(wrong, fmt.Sprintf("says %q, which is none of the caller's business", word))
		}
	}
	for _, pool := range c.behind {
		if a.says(pool) && a.withoutOrigins().says(pool) && !said(r, pool) {
			wrong = append(wrong, fmt.Sprintf("names %q, a pool behind a class", pool))
		}
	}
	if len(wrong) > 0 {
		t.Errorf("%s %s: %d breaks the contract:\n  %s\n%s", r.Method, short([]byte(r.URL.RequestURI())), a.status, strings.Join(wrong, "\n  "), short(a.body))
	}
	return a, nil
}

// says reports whether a response contains a word.
func (a answer) says(word string) bool {
	if bytes.Contains(a.body, []byte(word)) {
		return true
	}
	for name, values := range a.header {
		if strings.Contains(name+strings.Join(values, ""), word) {
			return true
		}
	}
	return false
}

// said reports whether a request contains a word.
func said(r *http.Request, word string) bool {
	if strings.Contains(r.URL.String(), word) {
		return true
	}
	for _, values := range r.Header {
		if strings.Contains(strings.Join(values, ""), word) {
			return true
		}
	}
	if r.GetBody == nil {
		return false
	}
	body, err := r.GetBody()
	if err != nil {
		return false
	}
	text, err := io.ReadAll(body)
	return err == nil && bytes.Contains(text, []byte(word))
}

// decode parses a response's body.
func decode[T any](t testing.TB, a answer) T {
	t.Helper()
	var v T
	require.NoError(t, json.Unmarshal(a.body, &v), string(a.body))
	return v
}

// doer returns an HTTP client for the generated API client. The requests go through the caller, which checks the responses.
func (c *caller) doer(t testing.TB) doerFunc {
	t.Helper()
	return func(r *http.Request) (*http.Response, error) {
		resp, err := c.http.Do(r)
		if err != nil {
			return nil, err
		}
		a, err := c.read(t, r, resp)
		resp.Body = io.NopCloser(bytes.NewReader(a.body))
		return resp, err
	}
}

type doerFunc func(*http.Request) (*http.Response, error)

func (f doerFunc) Do(r *http.Request) (*http.Response, error) { return f(r) }
