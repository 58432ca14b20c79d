package conform

import (
	"context"
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/app"
	"github.com/carve-ipam/carve/internal/crdb/audit"
	"github.com/carve-ipam/carve/internal/crdb/schema"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

const (
	home    = "local" // the server's region
	tenant  = "north" // the project of most requests
	foreign = "south" // a project whose callers must learn nothing about the tenant
	realm   = "default"
)

// world is a service on its own database. It has two tenants with callers in each role, and a list of the existing objects.
type world struct {
	random
	t      testing.TB
	addr   string
	via    http.RoundTripper
	sql    *pgx.Conn
	report *report

	root   string                       // API key of a platform admin
	tokens map[string]map[string]string // by project and role
	dead   map[string]string            // invalid tokens, by fault
	things map[string][]string          // paths of the existing objects by path template, in the order of their creation
	scopes string                       // path of the scopes of a class that has scopes
	serial int
}

var roles = []string{"viewer", "consumer", "provider", "admin"}

// setup starts a service. At the end of the test, the service stops and the audit must find no fault.
func setup(t testing.TB, seed uint64, r *report) *world {
	t.Helper()
	dsn := dbtest.New(t)
	require.NoError(t, schema.Migrate(t.Context(), dsn, schema.MigrateOptions{Regions: []string{home, "eu", "us"}}))
	t.Cleanup(func() {
		found, err := audit.Run(context.Background(), dsn)
		require.NoError(t, err)
		require.Empty(t, found.Findings, "the audit")
	})
	key := filepath.Join(t.TempDir(), "webhook-key")
	require.NoError(t, os.WriteFile(key, []byte(strings.Repeat("k", 32)), 0o600))
	config, _, err := app.ParseConfig([]string{
		"--webhook-key-file=" + key,
		"--listen=127.0.0.1:0", "--database-url=" + dsn, "--request-timeout=60s", "--max-connections=12", "--log-level=error",
		"--auth=keys", "--rate-limit-reads=0", "--rate-limit-writes=0", "--rate-limit-work=0", "--rate-limit-project-work=0", "--rate-limit-anonymous=0",
	}, nil)
	require.NoError(t, err)
	a, err := app.Start(t.Context(), config, t.Output())
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, a.Close(context.Background())) })
	via := &http.Transport{DisableCompression: true}
	t.Cleanup(via.CloseIdleConnections)
	w := &world{
		random: newRandom(seed), t: t, addr: a.Addr(), via: via, report: r,
		tokens: map[string]map[string]string{}, dead: map[string]string{}, things: map[string][]string{},
	}
	w.sql, err = pgx.Connect(t.Context(), dsn)
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, w.sql.Close(context.Background())) })
	w.root, err = app.Bootstrap(t.Context(), dsn, home)
	require.NoError(t, err)
	w.settle()
	w.exists("/v1/projects/" + tenant + "/realms/" + realm)
	return w
}

// settle makes the tenants and all kinds of credentials.
func (w *world) settle() {
	for _, project := range []string{tenant, foreign} {
		w.made("createProject", "/v1/projects", obj{"metadata": obj{"name": project}})
		w.tokens[project] = map[string]string{}
		for _, role := range roles {
			w.tokens[project][role] = w.key(project, "as-"+role, role)
		}
	}
	revoked, expired := w.key(tenant, "revoked", "admin"), w.key(tenant, "expired", "admin")
	gone := w.plain(contract().named("deleteApiKey"), "/v1/projects/"+tenant+"/api-keys/revoked")
	require.Equal(w.t, http.StatusNoContent, w.do(gone).status)
	tag, err := w.sql.Exec(w.t.Context(), "UPDATE api_keys SET expires_at = now() - INTERVAL '1 minute' WHERE name = 'expired'")
	require.NoError(w.t, err)
	require.EqualValues(w.t, 1, tag.RowsAffected())
	delete(w.things, contract().named("getApiKey").template) // random requests must not change the keys of the run itself
	admin := w.tokens[tenant]["admin"]
	w.dead = map[string]string{
		"revoked key": revoked, "expired key": expired, "unknown key": "carve_00000000000000000000000000000000_" + strings.Repeat("a", 52),
		"wrong secret": admin[:len(admin)-52] + strings.Repeat("a", 52), "no key": "x", "half a key": admin[:20], "JWT of nobody": "e30.e30.e30",
	}
}

func (w *world) key(project, name, role string) string {
	a := w.made("createApiKey", "/v1/projects/"+project+"/api-keys", obj{"metadata": obj{"name": name}, "spec": obj{"role": role}})
	var key struct{ Token string }
	require.NoError(w.t, json.Unmarshal(a.body, &key))
	return key.Token
}

// made sends a request and requires success.
func (w *world) made(id, path string, body any) answer {
	r := w.plain(contract().named(id), path)
	r.body = mustJSON(body)
	a := w.do(r)
	require.True(w.t, a.ok(), "%s: %d %s", r, a.status, a.body)
	return a
}

// plain returns a request with only the usual headers.
func (w *world) plain(op *operation, path string) *request {
	r := &request{op: op, kind: "setup", method: op.method, path: path, header: http.Header{}, token: w.root}
	if op.body != nil {
		r.header.Set("Content-Type", op.media)
	}
	if op.method == http.MethodPatch {
		r.header.Set("If-Match", "*")
	}
	return r
}

// do sends a request, judges the response, and updates the list of existing objects.
func (w *world) do(r *request) answer {
	a, err := r.send(w.t.Context(), w.via, w.addr)
	require.NoError(w.t, err, "%s", r)
	wrong := contract().judge(r, a)
	w.report.add(r, a, wrong)
	if a.ok() && a.header.Get("Dry-Run") == "" {
		w.remember(r, a)
	}
	return a
}

// remember updates the list of existing objects. The service may delete further objects together with one, such as the grants of a pool. A later
// request notices that.
func (w *world) remember(r *request, a answer) {
	switch {
	case r.op == nil || r.op.reads():
	case r.method == http.MethodDelete:
		for template, paths := range w.things {
			w.things[template] = slices.DeleteFunc(paths, func(p string) bool { return p == r.path || strings.HasPrefix(p, r.path+"/") })
		}
	case a.header.Get("Location") != "":
		w.exists(a.header.Get("Location"))
	}
	var claim struct {
		Status struct {
			AllocationRef struct{ Name, Project string }
		}
	}
	if r.op != nil && !r.op.reads() && json.Unmarshal(a.body, &claim) == nil && claim.Status.AllocationRef.Name != "" {
		w.exists("/v1/projects/" + claim.Status.AllocationRef.Project + "/allocations/" + claim.Status.AllocationRef.Name)
	}
}

func (w *world) exists(path string) {
	op := contract().operation(http.MethodGet, path)
	if op != nil && !slices.Contains(w.things[op.template], path) && !strings.Contains(path, "/projects/"+foreign) {
		w.things[op.template] = append(w.things[op.template], path)
	}
}

// forget removes an object from the list of existing objects.
func (w *world) forget(path string) {
	for template, paths := range w.things {
		w.things[template] = slices.DeleteFunc(paths, func(p string) bool { return p == path })
	}
}

// fresh returns an unused name.
func (w *world) fresh(prefix string) string {
	w.serial++
	n := w.serial
	name := prefix + "-"
	for range 3 {
		name += string(rune('a' + n%26))
		n /= 26
	}
	return name
}

// names returns the names of a project's existing objects of one kind. A name is the last segment of an object's path.
func (w *world) names(project, collection string) []string {
	var out []string
	for _, template := range sorted(w.things) {
		for _, p := range w.things[template] {
			rest, ok := strings.CutPrefix(p, "/v1/projects/"+project+"/"+collection+"/")
			if ok && !strings.Contains(rest, "/") {
				out = append(out, rest)
			}
		}
	}
	return out
}

// projectOf returns the project in a path, or "".
func projectOf(path string) string {
	segments := strings.Split(path, "/")
	if len(segments) > 3 && segments[2] == "projects" {
		return segments[3]
	}
	return ""
}
