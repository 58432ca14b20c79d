package conform

import (
	"net/http"
	"strings"

	"github.com/getkin/kin-openapi/openapi3"
)

// harmless returns requests that may succeed but must not write: reads, HEAD requests and dry runs.
func (w *world) harmless(base *request) (out []*request) {
	op := base.op
	add := func(r *request) { out = append(out, r) }
	if op.method == http.MethodGet {
		add(base.clone("valid: read"))
		head := base.clone("valid: HEAD")
		head.method = http.MethodHead
		add(head)
		add(base.clone("valid: with sense").set("Accept", "text/html;q=0.5, application/*;q=0.1").set("X-Request-Id", "conform-1").set(
			"Traceparent", "00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01"))
		add(base.clone("valid: If-None-Match").set("If-None-Match", "*").set("If-Modified-Since", "Thu, 01 Jan 2099 00:00:00 GMT").set("Range", "bytes=0-1"))
		for _, id := range []string{strings.Repeat("x", 129), "a b", "é"} {
			add(base.clone("valid: odd X-Request-Id").set("X-Request-Id", id))
		}
	}
	if op.has("consistency") {
		add(base.clone("valid: stale").without("consistency").with("consistency", "stale"))
	}
	if op.has("dryRun") {
		add(base.clone("valid: dry run").without("dryRun").with("dryRun", "true"))
		if op.has("Idempotency-Key") {
			add(base.clone("valid: dry run").with("dryRun", "true").set("Idempotency-Key", w.fresh("dry")))
		}
	}
	if op.body != nil && (op.has("dryRun") || op.reads()) { // any value that the schemas allow
		for range limit {
			r := base.clone("valid: by the schema alone")
			if r.body = mustJSON(w.value(op.body)); len(r.body) >= maxBody {
				continue
			}
			if op.has("dryRun") {
				r.with("dryRun", "true")
			}
			add(r)
		}
	}
	for _, r := range out {
		if op.method == http.MethodGet {
			w.anyQuery(r)
		}
	}
	return out
}

// anyQuery adds query parameters to a read. Their schemas allow the values, but the values need not be sensible.
func (w *world) anyQuery(r *request) {
	for _, p := range r.op.in("query") {
		if !w.one(6) || p.Name == "consistency" || p.Name == "waitSeconds" || p.Schema.Value.Type.Is(openapi3.TypeArray) || r.header.Get("Accept") != "" {
			continue
		}
		text, ok := w.value(p.Schema.Value).(string)
		if !ok {
			text = string(mustJSON(w.value(p.Schema.Value)))
		}
		r.without(p.Name).with(p.Name, text)
		r.kind = "valid: by the schema alone"
	}
}
