package conform

import (
	"bytes"
	"encoding/json"
	"net/http"
	"regexp"
	"slices"
	"strings"
)

// live sends sensible requests for an operation, which may write.
func (w *world) live(op *operation) {
	r, ok := w.sense(op)
	if !ok {
		return
	}
	if op.reads() || op.has("dryRun") && op.body == nil && w.one(3) {
		r.want = nil
	}
	switch {
	case op.has("Idempotency-Key"):
		w.repeated(r)
	case op.has("If-Match") && op.method != http.MethodPut:
		w.conditional(r)
	case op.has("If-None-Match") && op.method == http.MethodPut && w.one(3):
		w.createdOnly(r)
	default:
		w.sensible(r)
	}
}

// sensible sends a request that follows all rules of the contract. So its response must not be 400.
func (w *world) sensible(r *request) answer {
	a := w.do(r)
	if a.status == http.StatusBadRequest && !w.bounded(a) {
		w.report.wrong(r, a, "a request that makes sense is not valid")
	}
	if a.status == http.StatusNotFound && r.op.reads() {
		w.forget(r.path)
	}
	location := a.header.Get("Location")
	if made := contract().operation(http.MethodGet, location); made != nil && !r.asked("dryRun", "true") {
		get := w.plain(made, location)
		get.kind, get.want = "valid: link", []int{http.StatusOK}
		if read := w.do(get); read.etag() != a.etag() {
			w.report.wrong(get, read, "is not what was just made: ETag "+read.etag()+" and "+a.etag())
		}
	}
	return a
}

// bounded reports whether a refusal depends on data that the generator does not know: the entries that a patched object has already, the position of a
// pool, the possible lengths of its blocks and the existing names. The contract defines these refusals as 400. A limit on the number of a project's
// objects is 409.
func (*world) bounded(a answer) bool {
	return bytes.Contains(a.body, []byte("at most")) || bytes.Contains(a.body, []byte("query:prefixLength must be ")) ||
		bytes.Contains(a.body, []byte("query:within must be inside ")) || bytes.Contains(a.body, []byte("which does not exist or is not available to"))
}

// repeated sends a request twice with one Idempotency-Key. Then it sends a different request with the same key.
func (w *world) repeated(r *request) {
	r.set("Idempotency-Key", w.fresh("key"))
	first := w.sensible(r)
	again := r.clone("valid: same key again", first.status)
	second := w.do(again)
	switch {
	case !first.ok():
	case second.header.Get("Idempotency-Replayed") != "true":
		w.report.wrong(again, second, "is not marked as a replay")
	case !bytes.Equal(first.body, second.body) || first.etag() != second.etag() || first.header.Get("Location") != second.header.Get("Location"):
		if r.op.id != "createApiKey" && r.op.id != "createWebhook" { // the service does not store the secrets in these responses
			w.report.wrong(again, second, "is not the stored answer: "+short(first.body))
		}
	}
	if !first.ok() {
		return
	}
	other := r.clone("same key, another body", http.StatusUnprocessableEntity)
	other.code, other.body = "idempotency_mismatch", bytes.Replace(r.body, []byte("{"), []byte(`{ `), 1)
	var body obj
	if json.Unmarshal(r.body, &body) == nil {
		if claims, ok := body["claims"].([]any); ok {
			body["claims"] = append(claims, obj{"metadata": obj{"name": w.fresh("other")}, "spec": obj{}})
		} else {
			body["metadata"] = obj{"name": w.fresh("other")}
		}
		other.body = mustJSON(body)
	}
	taken := r.clone("the name is taken", http.StatusConflict).set("Idempotency-Key", "")
	if metadata, ok := body["metadata"].(obj); !ok || metadata["name"] == nil || !bytes.Contains(r.body, []byte(`"name"`)) || bytes.Contains(r.body, []byte(`"generateName"`)) {
		taken = taken.clone("valid: dry run").without("dryRun").with("dryRun", "true")
	}
	w.writesNothing([]*request{other, taken})
}

// createdOnly creates a missing object with If-None-Match. A second such request must be refused.
func (w *world) createdOnly(r *request) {
	r.kind = "valid: If-None-Match"
	r.set("If-None-Match", "*")
	if a := w.sensible(r); a.status != http.StatusCreated || r.asked("dryRun", "true") {
		return
	}
	again := r.clone("If-None-Match: exists", http.StatusPreconditionFailed)
	again.code = "precondition_failed"
	w.writesNothing([]*request{again})
}

// conditional changes or deletes an object with its current ETag. Then it tries again with the same ETag, which is now out of date.
func (w *world) conditional(r *request) {
	etag, ok := w.revision(r)
	if !ok {
		w.forget(r.path)
		return
	}
	r.kind = "valid: If-Match"
	if w.one(2) {
		etag = `"other", ` + etag
	}
	r.set("If-Match", etag)
	a := w.sensible(r)
	if a.status == http.StatusPreconditionFailed && !strings.HasSuffix(r.op.permission(), "keys.write") {
		w.report.wrong(r, a, "the ETag that was just read is refused")
	}
	if !a.ok() || a.etag() == "" || strings.Contains(etag, a.etag()) {
		return
	}
	again := r.clone("If-Match: stale", http.StatusPreconditionFailed)
	again.code = "precondition_failed"
	w.writesNothing([]*request{again})
}

// page is one page of a list.
type page struct {
	Items      []json.RawMessage
	NextCursor string
}

// paged reads a list in very small pages. It must get the same items as a single read.
func (w *world) paged(op *operation) {
	if path, ok := w.place(op); ok && op.has("cursor") {
		w.pagedAt(op, path, pick(w.random, []string{"1", "2", "3", "7"}))
	}
}

func (w *world) pagedAt(op *operation, path, size string) {
	read := func(kind string, queries ...string) (page, answer, *request) {
		r := w.plain(op, path)
		r.kind, r.want = kind, []int{http.StatusOK}
		for _, p := range op.in("query") {
			if p.Required {
				r.with(p.Name, w.address(path))
			}
		}
		for _, q := range queries {
			r.raw(q)
		}
		a := w.do(r)
		var out page
		_ = json.Unmarshal(a.body, &out)
		return out, a, r
	}
	if op.id == "listAuditEvents" { // the audit trail grows during the read
		first, _, _ := read("valid: page", "limit=2")
		if first.NextCursor != "" {
			read("valid: page", "limit=2", "cursor="+first.NextCursor)
		}
		return
	}
	whole, a, r := read("valid: page", "limit=500")
	if a.status != http.StatusOK || whole.NextCursor != "" {
		w.forget(path)
		return
	}
	var got []string
	cursor := ""
	for range 40 {
		queries := []string{"limit=" + size}
		if cursor != "" {
			queries = append(queries, "cursor="+cursor)
		}
		part, _, _ := read("valid: page", queries...)
		for _, item := range part.Items {
			got = append(got, unmoving(item))
		}
		if cursor = part.NextCursor; cursor == "" {
			break
		}
		if w.one(4) { // the service may accept or refuse a modified cursor
			at := w.IntN(len(cursor))
			r := w.plain(op, path).raw("cursor=" + cursor[:at] + "A" + cursor[at+1:]).raw(required(op))
			r.kind, r.want = "query: a cursor that was changed", []int{http.StatusOK, http.StatusBadRequest}
			w.do(r)
		}
	}
	if cursor != "" {
		return // the list is too long for such small pages
	}
	want := []string{}
	for _, item := range whole.Items {
		want = append(want, unmoving(item))
	}
	if !slices.Equal(want, got) {
		w.report.wrong(r, a, "pages of "+size+" do not make the whole list: "+strings.Join(got, " "))
	}
	for _, bad := range []string{"e30", "AAAA", "x", strings.Repeat("A", 1024)} {
		r := w.plain(op, path)
		r.kind, r.want, r.code = "query: a cursor that is none", []int{http.StatusBadRequest}, "invalid_argument"
		w.do(r.raw("cursor="+bad).with("limit", "1").raw(required(op)))
	}
}

var lastUsed = regexp.MustCompile(`,?"lastUsedAt":"[^"]*"`)

// unmoving returns an item without the time of a key's last use, which the service writes at any time.
func unmoving(item []byte) string { return lastUsed.ReplaceAllString(string(item), "") }

// address returns an address that some claim has held, for the history.
func (*world) address(string) string { return "10.0.16.0" }

func required(op *operation) string {
	switch op.id {
	case "getHistory":
		return "address=10.0.16.0"
	case "search":
		return "q=10.0.16.0"
	default:
		return ""
	}
}

// compared reads an object with GET and with HEAD. The status, Content-Type and ETag must be the same.
func (w *world) compared(op *operation) {
	if path, ok := w.place(op); ok && op.method == http.MethodGet {
		w.comparedAt(op, path)
	}
}

func (w *world) comparedAt(op *operation, path string) {
	get := w.plain(op, path).raw(required(op))
	get.kind = "valid: read"
	head := get.clone("valid: HEAD")
	head.method = http.MethodHead
	x, y := w.do(get), w.do(head)
	for _, name := range []string{"Content-Type", "Etag"} {
		if x.status != y.status || x.header.Get(name) != y.header.Get(name) {
			w.report.wrong(head, y, "is not what GET answers: "+name+" "+x.header.Get(name))
		}
	}
	if x.status == http.StatusNotFound {
		w.forget(path)
	}
}
