package conform

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// twin is a service with one fault. It changes responses on their way to the judge, or has a forbidden effect.
type twin struct {
	http.RoundTripper
	when  func(r *http.Request, a *answer) bool
	fault func(a *answer)
	did   int
}

// RoundTrip implements http.RoundTripper.
func (t *twin) RoundTrip(r *http.Request) (*http.Response, error) {
	resp, err := t.RoundTripper.RoundTrip(r)
	if err != nil {
		return nil, err
	}
	body, err := io.ReadAll(resp.Body)
	if err != nil {
		return nil, err
	}
	_ = resp.Body.Close()
	a := answer{status: resp.StatusCode, header: resp.Header, body: body}
	if t.when(r, &a) {
		t.did++
		t.fault(&a)
	}
	resp.StatusCode, resp.Header, resp.Body = a.status, a.header, io.NopCloser(bytes.NewReader(a.body))
	return resp, nil
}

func drop(name string) func(*answer) { return func(a *answer) { a.header.Del(name) } }

func put(name, value string) func(*answer) { return func(a *answer) { a.header.Set(name, value) } }

func status(n int) func(*answer) { return func(a *answer) { a.status = n } }

// swap replaces a text in the body. The body must contain the text.
func swap(old, replacement string) func(*answer) {
	return func(a *answer) { a.body = bytes.Replace(a.body, []byte(old), []byte(replacement), 1) }
}

// member changes the object in the body.
func member(change func(obj)) func(*answer) {
	return func(a *answer) {
		var body obj
		if json.Unmarshal(a.body, &body) == nil {
			change(body)
			a.body = mustJSON(body)
		}
	}
}

func is(method string, statuses ...int) func(*http.Request, *answer) bool {
	return func(r *http.Request, a *answer) bool {
		for _, each := range statuses {
			if r.Method == method && a.status == each {
				return true
			}
		}
		return false
	}
}

// says adds a condition to is(method, status): the response must contain a text.
func says(method string, status int, text string) func(*http.Request, *answer) bool {
	return func(r *http.Request, a *answer) bool {
		return is(method, status)(r, a) && bytes.Contains(a.body, []byte(text))
	}
}

// The judge must detect each kind of mismatch and describe it.
func TestJudgeDetectsEachKindOfMismatch(t *testing.T) {
	t.Parallel()
	w := setup(t, 7, newReport())
	sound := w.via
	for name, tc := range map[string]struct {
		when  func(*http.Request, *answer) bool
		fault func(*answer)
		says  string
	}{
		"NoETag":                      {is("GET", 200), drop("Etag"), "header ETag is missing"},
		"AnotherETag":                 {is("GET", 200), put("Etag", `"x"`), `ETag "x" of revision`},
		"NoLocation":                  {is("POST", 201), drop("Location"), "header Location is missing"},
		"ALocationOfAnother":          {is("POST", 201), put("Location", "/v1/projects/north/pools/other"), "Location /v1/projects/north/pools/other of"},
		"ALocationThatLeadsNowhere":   {is("POST", 201), put("Location", "/elsewhere"), "Location /elsewhere of"},
		"NoRequestID":                 {is("GET", 200), drop("X-Request-Id"), `X-Request-Id ""`},
		"AnotherRequestID":            {is("GET", 200), put("X-Request-Id", "other"), `X-Request-Id "other"`},
		"AHeaderThatIsNotDeclared":    {is("GET", 200), put("X-Secret", "1"), "header X-Secret is not declared"},
		"AHeaderOfAnotherCode":        {is("GET", 404), put("Www-Authenticate", "Bearer"), "header Www-Authenticate is not declared"},
		"AHeaderTwice":                {is("GET", 200), func(a *answer) { a.header.Add("Etag", `"y"`) }, "header ETag is there 2 times"},
		"AHeaderOfTheWrongType":       {is("POST", 201), put("Idempotency-Replayed", "perhaps"), "header Idempotency-Replayed"},
		"AStatusThatIsNotDeclared":    {is("GET", 200), status(202), "does not declare status 202"},
		"AFaultOfTheServer":           {is("GET", 404), status(500), "a fault of the server"},
		"NoRetryAfter":                {is("GET", 404), status(503), "Retry-After is missing"},
		"AnInvalidRequestThatIsTaken": {is("POST", 400), status(201), "status 201, want [400]"},
		"ARefusalOfAnotherStatus":     {is("POST", 400), status(409), "status 409, want [400]"},
		"AnotherMediaType":            {is("GET", 200), put("Content-Type", "text/html"), `Content-Type "text/html" is not declared`},
		"ARefusalAsPlainJSON":         {is("GET", 404), put("Content-Type", "application/json"), `a refusal is "application/json"`},
		"NoJSON":                      {is("GET", 200), swap("{", "<"), "the body is no JSON"},
		"AMemberMore":                 {is("GET", 200), member(func(o obj) { o["secret"] = 1 }), "secret"},
		"AMemberLess":                 {says("GET", 200, `"spec"`), member(func(o obj) { delete(o, "spec") }), `property "spec" is missing`},
		"AMemberOfTheWrongType":       {says("GET", 200, `"spec"`), member(func(o obj) { o["spec"] = "x" }), "value must be an object"},
		"AValueThatIsNoChoice":        {says("GET", 200, `"phase"`), swap(`"phase":"`, `"phase":"Un`), "phase"},
		"ATimeThatIsNone":             {says("GET", 200, `"createdAt"`), swap(`"createdAt":"20`, `"createdAt":"x`), "createdAt"},
		"ACodeOfAnotherOperation":     {says("POST", 409, "already_exists"), func(a *answer) { a.body = bytes.ReplaceAll(a.body, []byte("already_exists"), []byte("last_admin")) }, `createSpace does not say that it refuses with "last_admin"`},
		"ACodeOfAnotherStatus":        {says("GET", 404, "not_found"), swap(`"code":"not_found"`, `"code":"in_use"`), `code "in_use", which is 409`},
		"AnotherCodeThanWanted":       {says("POST", 400, "invalid_argument"), swap(`"code":"invalid_argument"`, `"code":"not_found"`), `want "invalid_argument"`},
		"AnotherStatusInTheDocument":  {is("GET", 404), swap(`"status":404`, `"status":400`), "status 400 in the document"},
		"AnotherInstance":             {is("GET", 404), swap(`"instance":"`, `"instance":"/x`), "instance"},
		"NoTraceID":                   {is("GET", 404), member(func(o obj) { o["traceId"] = "" }), `traceId ""`},
		"NoPlaceIsNamed":              {is("POST", 400), member(func(o obj) { delete(o, "errors") }), "no place is named"},
		"APointerThatPointsNowhere":   {is("POST", 400), swap(`"pointer":"/`, `"pointer":"spec`), "an error at"},
		"TheDriversWords":             {is("GET", 404), swap(`"detail":"`, `"detail":"ERROR: relation \"pools\" (SQLSTATE 42P01) `), "which is of the inside"},
		"NoChallenge":                 {is("GET", 401), drop("Www-Authenticate"), "there is no WWW-Authenticate"},
		"CredentialsThatAreNotAsked":  {is("GET", 401), status(200), "status 200, want [401]"},
		"ARoleThatIsNotAsked":         {is("POST", 403), status(201), "status 201, want [403]"},
		"ABorderThatTells":            {says("GET", 404, `\"north\"`), swap(`"detail":"`, `"detail":"North: `), "differs from the answer about a missing project"},
		"NoAllow":                     {is("PROPFIND", 405), drop("Allow"), `Allow is ""`},
		"AnotherAllow":                {is("PROPFIND", 405), put("Allow", "GET"), `Allow is "GET"`},
		"NoCurrentETag":               {is("PATCH", 412), drop("Etag"), "currentETag"},
		"ADryRunThatIsNotMarked":      {is("POST", 201), drop("Dry-Run"), `Dry-Run is ""`},
		"AStaleReadThatIsNotMarked":   {is("GET", 200), drop("Carve-Consistency"), `Carve-Consistency is ""`},
		"AReplayThatIsNotMarked":      {is("POST", 201), drop("Idempotency-Replayed"), "is not marked as a replay"},
		"AReplayOfAnother":            {func(_ *http.Request, a *answer) bool { return a.header.Get("Idempotency-Replayed") != "" }, swap(`"generation":1`, `"generation":2`), "is not the stored answer"},
		"HeadWithABody":               {is("HEAD", 200), func(a *answer) { a.body = []byte("{}") }, "answers HEAD with a body"},
		"HeadThatDiffers":             {is("HEAD", 200), put("Etag", `"other"`), "is not what GET answers"},
		"ABodyWhereNoneIs":            {is("DELETE", 204), func(a *answer) { a.body = []byte("{}") }, "has a body where none is declared"},
		"APageThatRepeats":            {says("GET", 200, "nextCursor"), member(func(o obj) { o["items"] = append(o["items"].([]any), o["items"].([]any)...) }), "do not make the whole list"},
		"ARefusalThatWrites":          {is("POST", 400), func(*answer) { w.behind(sound) }, "quiet requests wrote: new is spaces"},
		"ADryRunThatWrites":           {func(r *http.Request, a *answer) bool { return a.header.Get("Dry-Run") == "true" }, func(*answer) { w.behind(sound) }, "quiet requests wrote: new is spaces"},
		"AnotherSpellingThatIsRefused": {func(r *http.Request, _ *answer) bool {
			return strings.Contains(r.Header.Get("Content-Type"), "Charset")
		}, status(400), "status 400, want [201]"},
		"ASensibleRequestThatIsNotOne": {says("POST", 201, `"description":"fine"`), func(a *answer) { *a = w.refusal(sound) }, "a request that makes sense is not valid"},
	} {
		t.Run(name, func(t *testing.T) {
			b := &twin{RoundTripper: sound, when: tc.when, fault: tc.fault}
			w.report, w.via = newReport(), sound
			w.tour(func() { w.via = b })
			w.via = sound
			w.tidy()
			require.NotZero(t, b.did, "the tour never met the fault")
			require.Contains(t, strings.Join(w.report.found, "\n"), tc.says)
		})
	}
	w.report = newReport()
	w.tour(func() {})
	require.Empty(t, w.report.found, "the sound one")
}

// tour sends a few requests of many kinds. When the objects that they need exist, it calls altered.
func (w *world) tour(altered func()) {
	name, second := w.fresh("tour"), w.fresh("tour")
	pools := "/v1/projects/" + tenant + "/pools"
	base := w.plain(contract().named("createSpace"), "/v1/projects/"+tenant+"/spaces")
	base.body = mustJSON(obj{"metadata": obj{"name": name}, "spec": obj{"description": "fine"}})
	w.do(base)
	altered()
	again := base.clone("taken", http.StatusConflict)
	w.do(again)
	pool := w.plain(contract().named("createPool"), pools)
	pool.body = mustJSON(obj{"metadata": obj{"name": second}, "spec": obj{"cidr": fmt.Sprintf("172.20.%d.0/24", w.serial%256)}})
	w.do(pool)
	w.do(pool.clone("taken"))
	next := *base
	next.header = http.Header{"Content-Type": {"application/json"}}
	next.body = mustJSON(obj{"metadata": obj{"name": w.fresh("tour")}, "spec": obj{"description": "fine"}})
	w.repeated(&next)
	dry := next.clone("dry").with("dryRun", "true").set("Idempotency-Key", "")
	dry.body = mustJSON(obj{"metadata": obj{"name": w.fresh("tour")}})
	path := base.path + "/" + name
	get := w.plain(contract().named("getSpace"), path).set("X-Request-Id", "tour")
	patch := w.plain(contract().named("patchSpace"), path)
	patch.body = []byte(`{"spec":{"description":"other"}}`)
	wrong := base.clone("body: wrong type", http.StatusBadRequest)
	wrong.code, wrong.body = "invalid_argument", []byte(`{"metadata":{"name":1}}`)
	method := get.clone("method", http.StatusMethodNotAllowed)
	method.method, method.op, method.allow = "PROPFIND", nil, contract().methods(get.op.template)
	small := base.clone("auth: role too small", http.StatusForbidden)
	small.token = w.tokens[tenant]["viewer"]
	nobody := get.clone("auth: none", http.StatusUnauthorized)
	nobody.token = ""
	missing := w.plain(contract().named("getSpace"), base.path+"/nothing")
	w.writesNothing([]*request{
		get, wrong, method, small, nobody, missing, dry,
		w.plain(contract().named("getPool"), pools+"/"+second).with("consistency", "stale"), patch.clone("stale", http.StatusPreconditionFailed).set("If-Match", `"stale"`),
	})
	w.indistinguishable(get)
	w.respelled(base)
	w.comparedAt(contract().named("getSpace"), path)
	w.pagedAt(contract().named("listSpaces"), base.path, "1")
	w.do(w.plain(contract().named("deleteSpace"), path))
}

// behind makes a space without the judge's knowledge.
func (w *world) behind(via http.RoundTripper) {
	r := w.plain(contract().named("createSpace"), "/v1/projects/"+tenant+"/spaces")
	r.body = mustJSON(obj{"metadata": obj{"name": w.fresh("s")}})
	a, err := r.send(w.t.Context(), via, w.addr)
	require.NoError(w.t, err)
	require.Equal(w.t, http.StatusCreated, a.status)
}

// refusal returns the service's response to an invalid space.
func (w *world) refusal(via http.RoundTripper) answer {
	r := w.plain(contract().named("createSpace"), "/v1/projects/"+tenant+"/spaces")
	r.body = []byte("{}")
	a, err := r.send(w.t.Context(), via, w.addr)
	require.NoError(w.t, err)
	return a
}

// tidy deletes the spaces of a tour, so that later lists stay short.
func (w *world) tidy() {
	kept := w.report
	w.report = newReport()
	r := w.plain(contract().named("listSpaces"), "/v1/projects/"+tenant+"/spaces").raw("limit=500")
	var all struct{ Items []resource }
	require.NoError(w.t, json.Unmarshal(w.do(r).body, &all))
	for _, each := range all.Items {
		if each.Metadata.Name != "default" {
			w.do(w.plain(contract().named("deleteSpace"), r.path+"/"+each.Metadata.Name))
		}
	}
	w.report = kept
}
