package conform

import (
	"encoding/json"
	"net/http"
	"net/url"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// problem holds the fields that all problem documents share.
type problem struct {
	Type, Title, Detail, Instance, Code, TraceID, CurrentETag string
	Status                                                    int
	Errors                                                    []struct{ Pointer, Detail string }
}

// problem checks the problem document of a refusal.
func (m *mismatches) problem(k *contractDoc, r *request, a answer) {
	if ct := a.header.Get("Content-Type"); ct != "application/problem+json" {
		m.add("a refusal is %q", ct)
		return
	}
	if r.method == http.MethodHead {
		return
	}
	var value any
	var p problem
	if err := json.Unmarshal(a.body, &p); err != nil {
		m.add("a refusal is no JSON: %v", err)
		return
	}
	if r.op == nil { // with an operation, its own declaration checks the code
		_ = json.Unmarshal(a.body, &value)
		if err := k.doc.Components.Schemas["Problem"].Value.VisitJSON(value, openapi3.VisitAsResponse()); err != nil {
			m.add("the body: %v", err)
		}
	}
	if p.Status != a.status || k.statuses[p.Code] != a.status {
		m.add("code %q, which is %d, and status %d in the document", p.Code, k.statuses[p.Code], p.Status)
	}
	if r.op != nil && !r.op.codes[a.status][p.Code] {
		m.add("%s does not say that it refuses with %q", r.op.id, p.Code)
	}
	if r.code != "" && r.code != p.Code {
		m.add("code %q, want %q", p.Code, r.code)
	}
	if p.Type != "/problems/"+p.Code || p.Title == "" || p.Detail == "" || p.TraceID == "" {
		m.add("type %q, title %q, detail %q, traceId %q", p.Type, p.Title, p.Detail, p.TraceID)
	}
	if !samePath(p.Instance, r.path) {
		m.add("instance %q", p.Instance)
	}
	m.figures(p, r, a)
}

// figures checks the fields that only a certain status has.
func (m *mismatches) figures(p problem, r *request, a answer) {
	switch a.status {
	case http.StatusBadRequest:
		if len(p.Errors) == 0 {
			m.add("no place is named")
		}
	case http.StatusUnauthorized:
		if a.header.Get("WWW-Authenticate") == "" {
			m.add("there is no WWW-Authenticate")
		}
	case http.StatusMethodNotAllowed:
		if allow := a.header.Get("Allow"); allow == "" || r.allow != nil && allow != strings.Join(r.allow, ", ") {
			m.add("Allow is %q, want %v", allow, r.allow)
		}
	case http.StatusPreconditionFailed:
		// A missing object has no ETag, and only a PUT can name a missing object.
		if p.CurrentETag != a.etag() || p.CurrentETag == "" && r.method != http.MethodPut {
			m.add("currentETag %q, ETag %q", p.CurrentETag, a.etag())
		}
	}
	for _, e := range p.Errors {
		known := e.Pointer == ""
		for _, start := range []string{"/", "query", "header:", "path:"} {
			known = known || strings.HasPrefix(e.Pointer, start)
		}
		if !known || e.Detail == "" {
			m.add("an error at %q: %q", e.Pointer, e.Detail)
		}
	}
}

// samePath reports whether two texts are spellings of the same path.
func samePath(a, b string) bool {
	x, errX := url.PathUnescape(a)
	y, errY := url.PathUnescape(b)
	return errX == nil && errY == nil && x == y
}

// escaped returns a name in the form that a path contains.
func escaped(name string) string {
	return strings.ReplaceAll(url.PathEscape(name), "%3A", ":")
}
