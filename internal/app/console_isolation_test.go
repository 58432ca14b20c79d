package app

import (
	"encoding/json"
	"net/http"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// neighbour is a project that has an object of each kind. It also has a browser, which is signed in with a key of the project.
type neighbour struct {
	*browser

	project string
}

// marked returns a name that only this project uses.
func (t neighbour) marked(what string) string { return what + "-" + t.project }

func newNeighbour(t *testing.T, admin *browser, project, octet string) neighbour {
	t.Helper()
	at := "/v1/projects/" + project
	in := neighbour{newBrowser(t, admin.base), project}
	create := func(path, body string) reply {
		t.Helper()
		w := admin.ask(http.MethodPost, path, body)
		require.Equal(t, http.StatusCreated, w.StatusCode, w.text)
		return w
	}
	create("/v1/projects", `{"metadata":{"name":"`+project+`"}}`)
	made := create(at+"/api-keys", `{"metadata":{"name":"`+in.marked("key")+`"},"spec":{"role":"admin"}}`)
	in.signIn(tokenIn.FindString(made.text))
	create(at+"/spaces", `{"metadata":{"name":"`+in.marked("space")+`"}}`)
	create(at+"/pools", `{"metadata":{"name":"`+in.marked("pool")+`"},"spec":{"cidr":"10.`+octet+`.0.0/16","description":"`+in.marked("note")+`"}}`)
	create(at+"/classes", `{"metadata":{"name":"`+in.marked("class")+`"},"spec":{"ipFamily":"IPv4"}}`)
	create(at+"/claims", `{"metadata":{"name":"`+in.marked("claim")+`","labels":{"owner":"`+in.marked("label")+`"}},"spec":{"poolRef":{"name":"`+in.marked("pool")+`"},"prefixLength":28}}`)
	create(at+"/alert-rules", `{"metadata":{"name":"`+in.marked("rule")+`"},"spec":{"about":"Pools","percent":90}}`)
	return in
}

// operation is one operation of the contract.
type operation struct{ method, path string }

// operationsOf reads the operations from the contract that the server serves.
func operationsOf(b *browser) (all []operation) {
	b.t.Helper()
	var document struct {
		Paths map[string]map[string]json.RawMessage `json:"paths"`
	}
	require.NoError(b.t, json.Unmarshal([]byte(b.ask(http.MethodGet, "/openapi.json", "").text), &document))
	for path, item := range document.Paths {
		for method := range item {
			if method = strings.ToUpper(method); method != "PARAMETERS" {
				all = append(all, operation{method, path})
			}
		}
	}
	require.Greater(b.t, len(all), 60)
	return all
}

var parameter = regexp.MustCompile(`\{(\w+)\}`)

// of returns the path with the names of a project, and with the query parameters that the operation requires.
func (o operation) of(in neighbour) string {
	path := parameter.ReplaceAllStringFunc(o.path, func(p string) string {
		switch p = strings.Trim(p, "{}"); p {
		case "project":
			return in.project
		case "pool", "space", "claim":
			return in.marked(p)
		case "className":
			return in.marked("class")
		case "key", "apiKey":
			return in.marked("key")
		default:
			return in.marked("other")
		}
	})
	return path + map[string]string{"/v1/projects/{project}/history": "?address=10.7.0.1", "/v1/search": "?q=heron"}[o.path]
}

// The test requests every operation three times: with the session of a project, without a session, and with a session cookie but without the
// console's header.
func TestConsoleHidesOtherTenants(t *testing.T) {
	t.Parallel()
	dsn := dbtest.New(t)
	a, _ := consoleServer(t, dsn, "--auth=keys", "--rate-limit-anonymous=10000")
	key, err := Bootstrap(t.Context(), dsn, "local")
	require.NoError(t, err)
	admin := newBrowser(t, "http://"+a.Addr())
	admin.signIn(key)
	mine, theirs := newNeighbour(t, admin, "quail", "6"), newNeighbour(t, admin, "heron", "7")
	nobody := newBrowser(t, admin.base)

	requireSameForAllUsers(t, nobody, mine, theirs, admin)
	sees := func(w reply, what string) {
		t.Helper()
		if strings.Contains(w.text, theirs.project) && !repeatsOnlySentNames(w.text, what, theirs) {
			t.Errorf("%s: %s", what, w.text)
		}
	}
	kept := func(w reply, what string) {
		t.Helper()
		require.Equal(t, "no-store", w.Header.Get("Cache-Control"), what)
		require.Empty(t, w.Header.Get("Access-Control-Allow-Origin"), what)
		require.Equal(t, "same-origin", w.Header.Get("Cross-Origin-Resource-Policy"), what)
		require.Empty(t, w.Header.Get("Set-Cookie"), what)
	}
	served := 0
	for _, o := range operationsOf(admin) {
		if !strings.HasPrefix(o.path, "/v1/") {
			continue
		}
		at, body := o.of(theirs), ""
		if o.method != http.MethodGet && o.method != http.MethodDelete {
			body = "{}"
		}
		w := mine.ask(o.method, at, body)
		kept(w, o.method+" "+at)
		if strings.Contains(o.path, "{project}") {
			require.Contains(t, []int{http.StatusNotFound, http.StatusForbidden, http.StatusBadRequest}, w.StatusCode, "%s %s: %s", o.method, at, w.text)
			missing := mine.ask(o.method, o.of(neighbour{mine.browser, "wren"}), body)
			require.Equal(t, missing.StatusCode, w.StatusCode, "%s %s: as if it did not exist", o.method, at)
			require.Equal(t, missing.body["code"], w.body["code"], "%s %s: as if it did not exist", o.method, at)
		}
		sees(w, o.method+" "+at)
		w = nobody.ask(o.method, at, body)
		kept(w, at)
		sees(w, o.method+" "+at)
		bare := mine.ask(o.method, at, body, "X-Carve-Console", "")
		require.Equal(t, w.StatusCode, bare.StatusCode, "%s %s: a cookie alone is nobody", o.method, at)
		if o.method == http.MethodGet {
			own := mine.ask(o.method, o.of(mine), "")
			kept(own, at)
			sees(own, o.method+" "+o.of(mine))
			if own.StatusCode == http.StatusOK {
				served++
			}
		}
	}
	require.Greater(t, served, 12, "a matrix of refusals would prove nothing")
}

// requireSameForAllUsers checks that pages and files do not depend on the session, because caches share them. Only one response depends on the
// session, and this response must not be cached.
func requireSameForAllUsers(t *testing.T, nobody *browser, mine, theirs neighbour, admin *browser) {
	t.Helper()
	for _, path := range append(consolePaths, "/console/projects/heron/pools/pool-heron", "/docs/", "/openapi.json", "/problems", "/healthz", "/readyz") {
		first := nobody.ask(http.MethodGet, path, "", "Accept", "text/html,*/*;q=0.5", "X-Request-Id", "one")
		for who, b := range map[string]*browser{"mine": mine.browser, "theirs": theirs.browser, "admin": admin} {
			w := b.ask(http.MethodGet, path, "", "Accept", "text/html,*/*;q=0.5", "X-Request-Id", "one")
			for _, c := range w.Cookies() {
				require.Empty(t, c.Value, path)
			}
			if path == "/console/session" {
				require.Equal(t, who == "theirs", strings.Contains(w.text, "heron"), "%s: %s", who, w.text)
				require.Equal(t, "no-store", w.Header.Get("Cache-Control"))
				continue
			}
			require.Equal(t, first.text, w.text, "%s is the same for everybody", path)
			require.Equal(t, first.StatusCode, w.StatusCode, path)
		}
	}
	for _, file := range regexp.MustCompile(`/console/assets/[\w.-]+`).FindAllString(nobody.ask(http.MethodGet, "/console/", "").text, -1) {
		require.Equal(t, nobody.ask(http.MethodGet, file, "").text, mine.ask(http.MethodGet, file, "").text, file)
		require.NotRegexp(t, `heron|quail|carve_[0-9a-f]{32}`, mine.ask(http.MethodGet, file, "").text)
	}
}

// repeatsOnlySentNames reports whether an error contains only names that the caller has sent.
func repeatsOnlySentNames(said, asked string, of neighbour) bool {
	for _, name := range regexp.MustCompile(`[a-z-]*`+of.project).FindAllString(said, -1) {
		if !strings.Contains(asked, name) {
			return false
		}
	}
	return true
}
