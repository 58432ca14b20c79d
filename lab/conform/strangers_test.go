package conform

import (
	"bytes"
	"net/http"
	"slices"
	"strings"

	"github.com/stretchr/testify/require"
)

// leastRoles maps a permission to the smallest role that has it. It repeats the product's policy on purpose, because the contract lists the roles of
// a permission only as text.
var leastRoles = map[string]string{
	"projects.read": "viewer", "projects.write": "admin", "projects.create": "", "projects.delete": "",
	"spaces.read": "viewer", "spaces.write": "provider", "pools.read": "viewer", "pools.write": "provider",
	"claims.read": "viewer", "claims.write": "consumer", "classes.read": "viewer", "classes.write": "provider",
	"allocations.read": "viewer", "allocations.write": "provider", "grants.read": "provider", "grants.write": "provider",
	"members.read": "admin", "members.write": "admin", "keys.read": "admin", "keys.write": "admin",
	"quotas.read": "viewer", "quotas.write": "admin", "audit.read": "admin", "history.read": "viewer",
	"consumers.read": "viewer", "consumers.write": "consumer", "realms.confirm": "admin", "changes.read": "viewer",
	"webhooks.read": "viewer", "webhooks.write": "admin", "deliveries.read": "admin", "deliveries.write": "admin",
	"alertrules.read": "viewer", "alertrules.write": "provider", "alerts.read": "viewer",
}

// strangers returns requests that must be refused: from callers without permission, or with invalid credentials.
func (w *world) strangers(base *request) (out []*request) {
	if base.op.public {
		return nil
	}
	as := func(kind, token string, want int) *request {
		r := base.clone("auth: "+kind, want)
		r.token = token
		out = append(out, r)
		return r
	}
	as("none", "", http.StatusUnauthorized)
	for _, what := range sorted(w.dead) {
		as(what, w.dead[what], http.StatusUnauthorized)
	}
	for _, value := range []string{"Basic YTpi", "Bearer", "bearer", "Bearer  ", "Token " + w.root, "Bearer " + w.root + " x", w.root, "Bearer \x80"} {
		as("malformed", "", http.StatusUnauthorized).set("Authorization", value)
	}
	permission := base.op.permission()
	if projectOf(base.path) == tenant {
		least, known := leastRoles[permission]
		require.True(w.t, known, "who may do %s?", permission)
		for _, role := range roles {
			if role == least {
				break
			}
			r := as("role too small", w.tokens[tenant][role], http.StatusForbidden)
			r.code = "permission_denied"
		}
		as("another tenant's key", w.tokens[foreign]["admin"], http.StatusNotFound).code = "not_found"
	}
	if permission == "projects.create" {
		as("role too small", w.tokens[tenant]["admin"], http.StatusForbidden)
	}
	return out
}

// indistinguishable sends one request as another tenant, for an existing object and for a missing object. The responses must be the same.
func (w *world) indistinguishable(base *request) {
	if projectOf(base.path) != tenant {
		return
	}
	there := base.clone("auth: another tenant's key", http.StatusNotFound)
	there.token = w.tokens[foreign]["admin"]
	gone := *there
	gone.path = strings.Replace(base.path, "/projects/"+tenant, "/projects/n0rth", 1)
	gone.header = there.header
	x, y := w.do(there), w.do(&gone)
	if first, second := lasting(x), bytes.ReplaceAll(lasting(y), []byte("n0rth"), []byte(tenant)); !bytes.Equal(first, second) {
		w.report.wrong(there, x, "differs from the answer about a missing project: "+string(second))
	}
}

// lasting returns a response without the parts that differ in each response.
func lasting(a answer) []byte {
	id := a.header.Get("X-Request-Id")
	text := bytes.ReplaceAll(a.body, []byte(id), nil)
	for _, name := range sorted(a.header) {
		if !slices.Contains([]string{"X-Request-Id", "Date", "Content-Length"}, name) {
			text = append(text, name+": "+strings.Join(a.header[name], ",")+"\n"...)
		}
	}
	return text
}
