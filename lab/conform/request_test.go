package conform

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net/http"
	"net/url"
	"strings"
)

// request is a request with the expected properties of its response.
type request struct {
	op     *operation // nil if the contract has none
	kind   string
	method string
	path   string // as it is in the request line
	query  string // as it is in the request line, without the question mark
	header http.Header
	body   []byte // nil for no body
	token  string // empty for no token
	// chunked sends the body without its length.
	chunked bool

	want  []int    // allowed statuses; nil allows each declared status except a 5xx
	code  string   // expected code; empty allows each declared code
	allow []string // methods that a 405 must list
}

// answer is a response that was completely read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) ok() bool { return a.status >= 200 && a.status <= 299 }

func (a answer) etag() string { return a.header.Get("ETag") }

// clone returns an independent copy of a request.
func (r *request) clone(kind string, want ...int) *request {
	c := *r
	c.kind, c.want, c.code, c.header = kind, want, "", maps.Clone(r.header)
	return &c
}

// with adds a query parameter, escaped.
func (r *request) with(name, value string) *request {
	return r.raw(url.QueryEscape(name) + "=" + url.QueryEscape(value))
}

// raw appends unescaped text to the query.
func (r *request) raw(query string) *request {
	if r.query != "" {
		r.query += "&"
	}
	r.query += query
	return r
}

// without removes a query parameter.
func (r *request) without(name string) *request {
	var kept []string
	for part := range strings.SplitSeq(r.query, "&") {
		if key, _, _ := strings.Cut(part, "="); key != name && part != "" {
			kept = append(kept, part)
		}
	}
	r.query = strings.Join(kept, "&")
	return r
}

// set sets a header. An empty value removes the header.
func (r *request) set(name, value string) *request {
	if value == "" {
		r.header.Del(name)
	} else {
		r.header.Set(name, value)
	}
	return r
}

func (r *request) asked(name, value string) bool {
	values, err := url.ParseQuery(r.query)
	return err == nil && len(values[name]) == 1 && values.Get(name) == value
}

func (r *request) String() string {
	s := r.method + " " + r.path
	if r.query != "" {
		s += "?" + r.query
	}
	for name, values := range r.header {
		s += " [" + name + ": " + strings.Join(values, " | ") + "]"
	}
	if r.body != nil {
		s += " " + strings.ToValidUTF8(string(r.body), "?")
	}
	if len(s) > 1500 {
		s = s[:1500] + "…"
	}
	return r.kind + ": " + s
}

// send sends a request exactly as it is written. It neither cleans the path nor escapes it again.
func (r *request) send(ctx context.Context, via http.RoundTripper, addr string) (answer, error) {
	var body io.Reader
	if r.body != nil {
		body = bytes.NewReader(r.body)
	}
	req, err := http.NewRequestWithContext(ctx, r.method, "http://"+addr+"/", body)
	if err != nil {
		return answer{}, err
	}
	if r.chunked && body != nil {
		req.ContentLength, req.Body = -1, io.NopCloser(body)
	}
	req.URL.Opaque, req.URL.RawQuery = r.path, r.query
	req.Header = maps.Clone(r.header)
	if r.token != "" && req.Header.Get("Authorization") == "" {
		req.Header.Set("Authorization", "Bearer "+r.token)
	}
	resp, err := via.RoundTrip(req)
	if err != nil {
		return answer{}, err
	}
	defer func() { _ = resp.Body.Close() }()
	text, err := io.ReadAll(resp.Body)
	return answer{status: resp.StatusCode, header: resp.Header, body: text}, err
}
