package conform

import (
	"encoding/json"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// plainHeaders are the headers that any response may have.
var plainHeaders = []string{
	"Content-Type", "Content-Length", "Date", "Connection", "Transfer-Encoding", "Cache-Control", "Vary", "X-Request-Id", "X-Content-Type-Options",
	"X-Frame-Options", "Referrer-Policy", "Content-Security-Policy", "Strict-Transport-Security", "Cross-Origin-Resource-Policy", "Carve-Auth", "Accept-Patch", "Ratelimit", "Ratelimit-Policy",
}

// inside matches internal words of the driver, the database and the program. No response may contain them.
var inside = regexp.MustCompile(`(?i)sqlstate|\bpgx\b|pgconn|libpq|\bpq:|relation "|column "|syntax error at|duplicate key value|violates|goroutine \d|runtime error|panic|\.go:\d+|` +
	`invalid memory|nil pointer|json: |strconv\.|openapi3|kin-openapi|echo\.|code=\d{3}, message=|unmarshal|/root/|/home/|/tmp/|postgres(ql)?://`)

type mismatches []string

func (m *mismatches) add(format string, args ...any) { *m = append(*m, fmt.Sprintf(format, args...)) }

// judge returns all differences between a response and the contract, or the expectations of its request.
func (k *contractDoc) judge(r *request, a answer) []string {
	var m mismatches
	if beforeUs(a) { // net/http refuses invalid HTTP before any handler of the service
		if !slices.Contains(r.want, http.StatusBadRequest) {
			m.add("is refused by net/http")
		}
		return m
	}
	if r.want != nil && !slices.Contains(r.want, a.status) {
		m.add("status %d, want %v", a.status, r.want)
	}
	if a.status >= http.StatusInternalServerError {
		m.add("a fault of the server")
	}
	id := a.header.Get("X-Request-Id")
	if sent := r.header.Get("X-Request-Id"); id == "" || sent != "" && readable(sent) && sent != id {
		m.add("X-Request-Id %q", id)
	}
	if found := inside.Find(a.body); found != nil {
		m.add("says %q, which is of the inside", found)
	}
	if a.status >= http.StatusBadRequest {
		m.problem(k, r, a)
	}
	if r.op == nil {
		if a.status < http.StatusBadRequest {
			m.add("answers what the contract does not have")
		}
		return m
	}
	declared := r.op.declared(a.status)
	if declared == nil {
		m.add("%s does not declare status %d", r.op.id, a.status)
		return m
	}
	m.headers(r.op, declared, a)
	m.content(declared, r, a)
	if a.ok() {
		m.marks(r, a)
	}
	return m
}

// beforeUs reports whether net/http itself sent this response, because the request was not valid HTTP.
func beforeUs(a answer) bool {
	return a.status == http.StatusBadRequest && a.header.Get("Content-Type") == "text/plain; charset=utf-8" && strings.HasPrefix(string(a.body), "400 Bad Request")
}

func readable(id string) bool {
	return len(id) <= 128 && !strings.ContainsFunc(id, func(r rune) bool { return r < 0x21 || r > 0x7e })
}

// headers checks the declared headers. The response must have no others.
func (m *mismatches) headers(op *operation, declared *openapi3.Response, a answer) {
	known := slices.Clone(plainHeaders)
	var refusal problem
	_ = json.Unmarshal(a.body, &refusal)
	for name, ref := range declared.Headers {
		if codes := listed(ref.Value.Extensions); codes != nil && op.codes[a.status] != nil && !slices.ContainsFunc(codes, func(code string) bool {
			return op.codes[a.status][code] && (refusal.Code == "" || refusal.Code == code)
		}) {
			continue // the header belongs to other codes
		}
		known = append(known, http.CanonicalHeaderKey(name))
		switch values := a.header.Values(name); {
		case len(values) > 1:
			m.add("header %s is there %d times", name, len(values))
		case len(values) == 1:
			if err := ref.Value.Schema.Value.VisitJSON(headerValue(ref.Value.Schema.Value, values[0])); err != nil {
				m.add("header %s: %q: %v", name, values[0], err)
			}
		case ref.Value.Required:
			m.add("header %s is missing", name)
		}
	}
	for name := range a.header {
		if !slices.Contains(known, name) {
			m.add("header %s is not declared", name)
		}
	}
	if (a.status == http.StatusServiceUnavailable || a.status == http.StatusTooManyRequests) && a.header.Get("Retry-After") == "" {
		m.add("header Retry-After is missing")
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

// content checks the media type and the body.
func (m *mismatches) content(declared *openapi3.Response, r *request, a answer) {
	if len(declared.Content) == 0 {
		if len(a.body) > 0 {
			m.add("has a body where none is declared")
		}
		return
	}
	content, ok := declared.Content[a.header.Get("Content-Type")]
	if !ok {
		m.add("Content-Type %q is not declared", a.header.Get("Content-Type"))
		return
	}
	if r.method == http.MethodHead {
		if len(a.body) > 0 {
			m.add("answers HEAD with a body")
		}
		return
	}
	var value any
	if err := json.Unmarshal(a.body, &value); err != nil {
		m.add("the body is no JSON: %v", err)
		return
	}
	if err := content.Schema.Value.VisitJSON(value, openapi3.VisitAsResponse(), openapi3.MultiErrors(), openapi3.EnableFormatValidation()); err != nil {
		m.add("the body: %v", err)
	}
}

// marks checks the headers that the contract promises if a request has certain parameters.
func (m *mismatches) marks(r *request, a answer) {
	if dry := a.header.Get("Dry-Run") == "true"; dry != r.asked("dryRun", "true") {
		m.add("Dry-Run is %q", a.header.Get("Dry-Run"))
	}
	if stale := a.header.Get("Carve-Consistency") == "stale"; stale != r.asked("consistency", "stale") {
		m.add("Carve-Consistency is %q", a.header.Get("Carve-Consistency"))
	}
	if a.header.Get("Idempotency-Replayed") == "true" && r.header.Get("Idempotency-Key") == "" {
		m.add("is marked as a replay without a key")
	}
	var thing resource
	if r.method == http.MethodHead || json.Unmarshal(a.body, &thing) != nil || thing.Metadata.Revision == "" {
		return
	}
	if a.etag() != `"`+thing.Metadata.Revision+`"` {
		m.add("ETag %s of revision %s", a.etag(), thing.Metadata.Revision)
	}
	location := a.header.Get("Location")
	// The path of a scope contains the values of the scope. The path of its pool contains the name of the pool.
	if location == "" || r.op.id == "putScopePool" && location == r.path {
		return
	}
	if made := contract().operation(http.MethodGet, location); made == nil || !strings.HasSuffix(location, "/"+escaped(thing.Metadata.Name)) {
		m.add("Location %s of %s", location, thing.Metadata.Name)
	}
}

// resource holds the fields that all resources share.
type resource struct {
	Metadata struct {
		Name, Revision, Project string
	}
}
