package conform

import (
	"net/http"
	"net/url"
	"regexp"
	"slices"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// limit is the maximum number of requests of one kind for an operation in a round. If there are more, the seed chooses.
const limit = 3

// otherMethod is the kind of request without a limit: each path gets each method that it does not have.
const otherMethod = "method: none of the path"

// quiet returns requests for an operation that must not write a row, some of each kind. They are changes of base, which is sensible.
func (w *world) quiet(base *request) []*request {
	var out []*request
	for _, makers := range [][]*request{
		w.wrongBodies(base), w.wrongMedia(base), w.wrongQueries(base), w.wrongHeaders(base), w.wrongPaths(base), w.wrongMethods(base), w.strangers(base), w.harmless(base),
	} {
		byKind := map[string][]*request{}
		for _, r := range makers {
			byKind[r.kind] = append(byKind[r.kind], r)
		}
		for _, kind := range sorted(byKind) {
			of := byKind[kind]
			n := min(limit, len(of))
			if kind == otherMethod {
				n = len(of)
			}
			w.Shuffle(len(of), func(i, j int) { of[i], of[j] = of[j], of[i] })
			out = append(out, of[:n]...)
		}
	}
	return out
}

func (w *world) wrongBodies(base *request) (out []*request) {
	if base.op.body == nil {
		return nil
	}
	body := w.full(base)
	for _, m := range mutations(body, base.op.body, nil) {
		r := base.clone(m.kind, http.StatusBadRequest)
		r.code, r.body = "invalid_argument", written(m.apply(body))
		if len(r.body) <= maxBody { // a larger body would be refused for its size
			out = append(out, r)
		}
	}
	text := mustJSON(body)
	for _, g := range garbles(text) {
		r := base.clone(g.kind, g.want)
		r.body = g.body
		if len(g.body) == 0 {
			r.body = nil
		}
		if len(g.body) > 0 && w.one(3) {
			r.chunked = true
		}
		out = append(out, r)
	}
	if base.method == http.MethodPatch { // members that a patch may not change, and members that do not exist
		for _, patch := range []obj{{"unknown": 1}, {"status": obj{"phase": "x"}}, {"metadata": obj{"name": "x"}}, {"spec": obj{"unknown": 1}}, {"metadata": obj{"uid": "x"}}} {
			r := base.clone("body: unknown member", http.StatusBadRequest, http.StatusUnprocessableEntity)
			r.body = mustJSON(patch)
			out = append(out, r)
		}
	}
	return out
}

// full returns a large valid body, so that a fault can be put in many positions.
func (w *world) full(base *request) obj {
	best := obj{}
	for range 4 {
		if each, ok := w.value(base.op.body).(obj); ok && len(mustJSON(each)) > len(mustJSON(best)) && len(mustJSON(each)) < 100000 {
			best = each
		}
	}
	return best
}

func (w *world) wrongMedia(base *request) (out []*request) {
	for _, accept := range []string{"text/html", "application/xml", "application/json;q=0", "image/*", "*/*;q=0", "application/problem+json"} {
		if base.method == http.MethodDelete && accept == "application/problem+json" {
			continue // a successful deletion has no body, so a request may accept only refusals
		}
		out = append(out, base.clone("header: Accept", http.StatusNotAcceptable).set("Accept", accept))
	}
	if base.op.body == nil {
		return out
	}
	for _, media := range []string{"text/plain", "application/xml", "application/json; charset=latin1", "application/x-www-form-urlencoded", "multipart/form-data; boundary=x", "garbage", "", "application/jsonx"} {
		out = append(out, base.clone("header: Content-Type", http.StatusUnsupportedMediaType).set("Content-Type", media))
	}
	other := map[string]string{"application/json": "application/merge-patch+json", "application/merge-patch+json": "application/json"}[base.op.media]
	out = append(out, base.clone("header: Content-Type", http.StatusUnsupportedMediaType).set("Content-Type", other))
	for _, encoding := range []string{"gzip", "br", "x"} {
		out = append(out, base.clone("header: Content-Encoding", http.StatusUnsupportedMediaType).set("Content-Encoding", encoding))
	}
	return out
}

func (w *world) wrongQueries(base *request) (out []*request) {
	bad := func(kind, raw string) {
		name, _, _ := strings.Cut(raw, "=")
		r := base.clone("query: "+kind, http.StatusBadRequest).without(name).raw(raw)
		r.code = "invalid_argument"
		out = append(out, r)
	}
	for _, raw := range []string{"unknown=1", "Limit=1", "x", "=1", "limit%00=1", "%ff=1", "é=1", "dryrun=true", "fields=metadata"} {
		bad("unknown parameter", raw)
	}
	for _, raw := range []string{"a=%zz", "a=%", "a;b=1", "%=1"} {
		bad("bad encoding", raw)
	}
	for _, p := range base.op.in(openapi3.ParameterInQuery) {
		for _, text := range wrongTexts(flat(p.Schema.Value)) {
			bad("bad value", p.Name+"="+text)
		}
		if p.Name != "labelSelector" {
			bad("bad value", p.Name+"=")
		}
		if good := w.parameter(projectOf(base.path), p); good != "" {
			bad("repeated parameter", p.Name+"="+good+"&"+p.Name+"="+good)
		}
		if p.Required {
			r := base.clone("query: missing required", http.StatusBadRequest).without(p.Name)
			out = append(out, r)
		}
	}
	return out
}

// wrongTexts returns spellings of a parameter, escaped, that its schema does not allow.
func wrongTexts(s *openapi3.Schema) []string {
	return slices.DeleteFunc(wrongSpellings(s), func(text string) bool {
		plain, err := url.QueryUnescape(text)
		return err == nil && s.Pattern != "" && s.Format == "" && regexp.MustCompile(s.Pattern).MatchString(plain) && len(plain) <= int(*s.MaxLength) &&
			!strings.Contains(s.Pattern, "0-9A-Fa-f:.")
	})
}

func wrongSpellings(s *openapi3.Schema) []string {
	out := []string{"%00", "%ff", "a%00b", strings.Repeat("a", 5000)}
	switch {
	case s.Type.Is(openapi3.TypeBoolean):
		return append(out, "TRUE", "1", "yes", "null", "t", "True")
	case s.Type.Is(openapi3.TypeInteger):
		return append(out, "-1", "1.5", "%2B5", "007", "1e2", "0x10", "99999999999999999999", "501", "%C2%A01", "null", "NaN")
	case len(s.Enum) > 0:
		return append(out, "x", "READY", "ipv4", "null", "[]", "Bound,Ready")
	case s.Format == "date-time":
		return append(out, "now", "2026-02-30T00:00:00Z", "2026-01-01", "1767225600", "2026-01-01T00:00:00", "2026-01-01t00:00:00z")
	case strings.Contains(s.Pattern, "a-z0-9"):
		return append(out, "UPPER", "-a", "a-", "a/b/c/d", "%20", "a%20b", "%C3%A9")
	case strings.Contains(s.Pattern, "0-9A-Fa-f:."):
		return append(out, "x", "10.0.0.1/8/8", "%3A%3A%251", "300.1.1.1", "10.0.0.0/33", "1.2.3")
	}
	return out
}

func (w *world) wrongHeaders(base *request) (out []*request) {
	for _, p := range base.op.in(openapi3.ParameterInHeader) {
		values := []string{"é", strings.Repeat("k", 2000), "\t\x80"}
		if p.Name == "Idempotency-Key" {
			values = append(values, "a b", strings.Repeat("k", 256), "")
		}
		for _, value := range values {
			r := base.clone("header: bad value", http.StatusBadRequest)
			r.header[http.CanonicalHeaderKey(p.Name)] = []string{value}
			out = append(out, r)
		}
	}
	if base.op.has("Idempotency-Key") {
		r := base.clone("header: repeated", http.StatusBadRequest)
		r.header["Idempotency-Key"] = []string{"a", "b"}
		out = append(out, r)
	}
	out = append(out, w.preconditions(base)...)
	if !base.op.has("If-Match") {
		return out
	}
	_, exists := w.revision(base)
	if !exists {
		return out
	}
	for _, stale := range []string{`"stale"`, `W/"stale"`, `"stale", "other"`, `""`, `W/"*"`} {
		out = append(out, base.clone("If-Match: stale", http.StatusPreconditionFailed).set("If-Match", stale))
	}
	for _, malformed := range []string{"stale", `"stale`, `stale"`, "**", `"a" "b"`, ",", `*, "a"`} {
		out = append(out, base.clone("If-Match: malformed", http.StatusBadRequest).set("If-Match", malformed))
	}
	if base.op.codes[http.StatusPreconditionRequired] != nil {
		out = append(out, base.clone("If-Match: missing", http.StatusPreconditionRequired).set("If-Match", ""))
	}
	return out
}

// preconditions returns requests with wrong preconditions: a precondition that the operation does not have, or If-None-Match for an existing object.
func (w *world) preconditions(base *request) (out []*request) {
	for _, name := range []string{"If-Match", "If-None-Match"} {
		if base.op.has(name) || name == "If-None-Match" && base.method == http.MethodGet {
			continue
		}
		for _, value := range []string{`"x"`, "*", "x", `W/"x"`} {
			r := base.clone(name+": none of the operation", http.StatusBadRequest).set(name, value)
			r.code = "invalid_argument"
			out = append(out, r)
		}
	}
	if !base.op.has("If-None-Match") {
		return out
	}
	etag, exists := w.revision(base)
	if !exists {
		return out
	}
	if base.method == http.MethodPut {
		r := base.clone("If-None-Match: exists", http.StatusPreconditionFailed).set("If-None-Match", "*")
		r.code = "precondition_failed"
		out = append(out, r)
		for _, value := range []string{etag, "W/" + etag, "*, *", "x"} {
			out = append(out, base.clone("If-None-Match: malformed", http.StatusBadRequest).set("If-None-Match", value))
		}
		return out
	}
	for _, value := range []string{etag, "W/" + etag, `"x", ` + etag, "*"} {
		out = append(out, base.clone("If-None-Match: not modified", http.StatusNotModified).set("If-None-Match", value))
	}
	out = append(out, base.clone("If-None-Match: modified", http.StatusOK).set("If-None-Match", `"x", W/"y"`))
	for _, value := range []string{"x", `"x`, `*, "x"`, ","} {
		out = append(out, base.clone("If-None-Match: malformed", http.StatusBadRequest).set("If-None-Match", value))
	}
	return out
}

// revision returns the current ETag of a request's object.
func (w *world) revision(r *request) (string, bool) {
	op := contract().operation(http.MethodGet, r.path)
	if op == nil || r.method == http.MethodPost {
		return "", false
	}
	get := w.plain(op, r.path)
	get.kind = "valid: read"
	a := w.do(get)
	return a.etag(), a.ok() && a.etag() != ""
}

// wrongPaths replaces one name in the path with an invalid name.
func (w *world) wrongPaths(base *request) (out []*request) {
	segments, template := strings.Split(base.path, "/"), strings.Split(base.op.template, "/")
	for i, part := range template {
		if !strings.HasPrefix(part, "{") {
			continue
		}
		for _, name := range []string{"UPPER_", strings.Repeat("a", 300), "%00", "a%2Fb", "%ff", "%C3%A9", "-a", "a%20b", ".", "..", "%2e%2e", "a;b", "%zz", "%"} {
			changed := slices.Clone(segments)
			changed[i] = name
			r := base.clone("path: bad name", http.StatusBadRequest, http.StatusNotFound)
			r.path = strings.Join(changed, "/")
			if name == "." || name == ".." {
				r.want = []int{http.StatusBadRequest, http.StatusNotFound, http.StatusMethodNotAllowed}
			}
			if strings.HasPrefix(name, "%z") || name == "%" {
				r.kind = "path: bad encoding"
			}
			out = append(out, r)
		}
	}
	for _, path := range []string{base.path + "/", base.path + "/nothing", strings.Replace(base.path, "/v1/", "/v1//", 1) + "/", strings.ToUpper(base.path), base.path + "%00"} {
		r := base.clone("path: none of the contract", http.StatusNotFound, http.StatusMethodNotAllowed, http.StatusBadRequest)
		r.path, r.op = path, contract().operation(base.method, path)
		out = append(out, r)
	}
	if path, ok := w.missing(base.op); ok && base.method != http.MethodPut && !slices.Contains(implicit, base.op.id) {
		r := base.clone("path: nothing there", http.StatusNotFound)
		r.path, r.code = path, "not_found"
		out = append(out, r)
	}
	return out
}

// implicit lists the operations that never return 404. A realm exists as soon as a request names it. The end or detachment of an unknown consumer
// succeeds.
var implicit = []string{"getRealm", "listConsumers", "confirmExpiry", "endConsumer", "detachConsumer"}

func (w *world) wrongMethods(base *request) (out []*request) {
	has := contract().methods(base.op.template)
	for _, method := range []string{
		http.MethodGet, http.MethodHead, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete, http.MethodOptions, http.MethodTrace, "PROPFIND", "get", "QUERY",
	} {
		if slices.Contains(has, method) {
			continue
		}
		r := base.clone(otherMethod, http.StatusMethodNotAllowed)
		r.method, r.op, r.allow = method, nil, has
		if method == http.MethodHead || method == http.MethodTrace {
			r.body = nil
		}
		out = append(out, r)
	}
	return out
}
