package e2e

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"

	"github.com/carve-ipam/carve/client"
)

// plainHeaders are the headers that any response may have.
var plainHeaders = []string{
	"Content-Type", "Content-Length", "Date", "Connection", "Transfer-Encoding", "Cache-Control", "Vary",
	"X-Request-Id", "X-Content-Type-Options", "X-Frame-Options", "Referrer-Policy", "Content-Security-Policy", "Cross-Origin-Resource-Policy", "Strict-Transport-Security",
	"Carve-Auth", "Accept-Patch", "Ratelimit", "Ratelimit-Policy",
}

// violations returns all differences between a response and the contract. op is nil if the contract does not have the path or method, and for files
// that the service serves beside the contract.
func (k *contractDoc) violations(op *operation, a answer) []string {
	var v violations
	if a.header.Get("X-Request-Id") == "" {
		v.add("has no X-Request-Id")
	}
	switch {
	case op != nil:
		v.declared(op, k.refusals(op, a), a)
	case a.status >= 400:
		v.body(k.doc.Components.Schemas["Problem"].Value, a)
	}
	if a.status >= 400 {
		v.problem(k, a)
	}
	return v
}

type violations []string

func (v *violations) add(format string, args ...any) { *v = append(*v, fmt.Sprintf(format, args...)) }

// declared checks the status, the headers and the body against the operation's declaration. For a success, this is the declaration of its status. For
// a refusal, it is the shared declaration of refusals, with the codes that fit the response.
func (v *violations) declared(op *operation, refusals []string, a answer) {
	ref := op.Responses.Status(a.status)
	if len(refusals) > 0 {
		ref = op.Responses.Default()
	}
	if ref == nil {
		v.add("%s does not declare this status, or this code", op.id)
		return
	}
	v.headers(ref.Value, refusals, a)
	if len(ref.Value.Content) == 0 {
		if len(a.body) > 0 {
			v.add("has a body where none is declared")
		}
		return
	}
	content, ok := ref.Value.Content[a.header.Get("Content-Type")]
	if !ok {
		v.add("Content-Type %q is not declared", a.header.Get("Content-Type"))
		return
	}
	v.body(content.Schema.Value, a)
}

func (v *violations) headers(r *openapi3.Response, refusals []string, a answer) {
	known := slices.Clone(plainHeaders)
	for name, ref := range r.Headers {
		if codes := listed(ref.Value.Extensions); len(refusals) > 0 && codes != nil && !among(codes, refusals) {
			continue // the header belongs to other codes
		}
		known = append(known, http.CanonicalHeaderKey(name))
		values := a.header.Values(name)
		switch {
		case len(values) > 1:
			v.add("header %s is there %d times", name, len(values))
		case len(values) == 1:
			if err := ref.Value.Schema.Value.VisitJSON(headerValue(ref.Value.Schema.Value, values[0])); err != nil {
				v.add("header %s: %q: %v", name, values[0], err)
			}
		case ref.Value.Required:
			v.add("header %s is missing", name)
		}
	}
	for name := range a.header {
		if !slices.Contains(known, name) {
			v.add("header %s is not declared", name)
		}
	}
}

// headerValue returns a header as a JSON value of the type that its schema describes. If the header does not parse, it returns a string.
func headerValue(s *openapi3.Schema, value string) any {
	var parsed any
	if !s.Type.Is(openapi3.TypeString) && json.Unmarshal([]byte(value), &parsed) == nil {
		return parsed
	}
	return value
}

func (v *violations) body(s *openapi3.Schema, a answer) {
	if a.method == http.MethodHead {
		if len(a.body) > 0 {
			v.add("answers HEAD with a body")
		}
		return
	}
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		v.add("the body is no JSON: %v", err)
		return
	}
	if err := s.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.MultiErrors()); err != nil {
		v.add("the body: %v", err)
	}
}

// problem checks the rules for problem documents that a schema cannot express.
func (v *violations) problem(k *contractDoc, a answer) {
	if ct := a.header.Get("Content-Type"); ct != "application/problem+json" {
		v.add("a refusal is %q", ct)
	}
	if a.method == http.MethodHead {
		return
	}
	p, _ := problemOf(a)
	if p.Status != a.status || k.statuses[p.Code] != a.status {
		v.add("code %q, which is %d, with status %d in the document", p.Code, k.statuses[p.Code], p.Status)
	}
	if p.Type != "/problems/"+p.Code || p.Title == "" || p.Detail == "" {
		v.add("type %q, title %q, detail %q", p.Type, p.Title, p.Detail)
	}
	if p.Instance != a.path {
		v.add("instance %q", p.Instance)
	}
	if p.TraceID == "" {
		v.add("there is no traceId")
	}
	switch a.status {
	case http.StatusBadRequest:
		if len(p.Errors) == 0 {
			v.add("no place is named")
		}
	case http.StatusMethodNotAllowed:
		if a.header.Get("Allow") == "" {
			v.add("there is no Allow")
		}
	case http.StatusPreconditionFailed:
		// A missing object has no ETag, and only a PUT can name a missing object.
		missing := a.method == http.MethodPut && p.CurrentETag == "" && slices.Contains(p.pointers(), "header:If-Match")
		if p.CurrentETag != a.etag() || p.CurrentETag == "" && !missing {
			v.add("currentETag %q, ETag %q", p.CurrentETag, a.etag())
		}
	case http.StatusTooManyRequests, http.StatusServiceUnavailable:
		if _, err := strconv.Atoi(a.header.Get("Retry-After")); err != nil {
			v.add("there is no Retry-After")
		}
	}
	for _, e := range p.Errors {
		if e.Pointer != "" && !strings.HasPrefix(e.Pointer, "/") && !strings.HasPrefix(e.Pointer, "query") &&
			!strings.HasPrefix(e.Pointer, "header:") && !strings.HasPrefix(e.Pointer, "path:") {
			v.add("pointer %q points nowhere", e.Pointer)
		}
	}
}

// problem is a problem document. Its code is a plain string, so that tests can name it.
type problem struct {
	client.Problem
	Code string `json:"code"`
}

func problemOf(a answer) (p problem, ok bool) {
	if a.header.Get("Content-Type") != "application/problem+json" {
		return p, false
	}
	return p, json.Unmarshal(a.body, &p) == nil
}

// pointers returns the places to which a problem document points.
func (p problem) pointers() []string {
	var out []string
	for _, e := range p.Errors {
		out = append(out, e.Pointer)
	}
	return out
}
