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

// request is a request as it is to be sent, with what its answer must be.
type request struct {
	op     *operation // nil for what the contract does not have
	kind   string
	method string
	path   string // as it is written in the request line
	query  string // likewise, without the question mark
	header http.Header
	body   []byte // nil for none
	token  string // "" for none
	// chunked leaves the length of the body out.
	chunked bool

	want  []int    // the answer has one of these statuses; nil: one that the operation declares, and no fault of the server
	code  string   // "" for any that the operation declares
	allow []string // what a refusal of the method has to name
}

// answer is an answer that has been read.
type answer struct {
	status int
	header http.Header
	body   []byte
}

func (a answer) ok() bool { return a.status >= 200 && a.status <= 299 }

func (a answer) etag() string { return a.header.Get("ETag") }

// clone is a request that can be changed without changing the one it is made of.
func (r *request) clone(kind string, want ...int) *request {
	c := *r
	c.kind, c.want, c.code, c.header = kind, want, "", maps.Clone(r.header)
	return &c
}

// with adds a query parameter, escaped.
func (r *request) with(name, value string) *request {
	return r.raw(url.QueryEscape(name) + "=" + url.QueryEscape(value))
}

// raw appends to the query as it is.
func (r *request) raw(query string) *request {
	if r.query != "" {
		r.query += "&"
	}
	r.query += query
	return r
}

// without takes a query parameter away.
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

// set sets a header; "" takes it away.
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

// send sends a request as it is written: the path is not cleaned and not escaped again.
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
