package conform

import (
	"fmt"
	"net/http"
	"strings"

	"github.com/stretchr/testify/require"
)

// place returns a path for an operation. It is the path of an existing object, or a new path for a PUT.
func (w *world) place(op *operation) (path string, ok bool) {
	if !strings.Contains(op.template, "{") {
		return op.template, true
	}
	if op.id == "deleteProject" { // a project that no other request needs
		a := w.made("createProject", "/v1/projects", obj{"metadata": obj{"name": w.fresh("gone")}})
		return a.header.Get("Location"), true
	}
	if op.id == "putScopePool" { // only the class in w.scopes has scopes
		return w.scopes + "/cluster=" + w.fresh("n"), w.scopes != ""
	}
	if op.id == "detachConsumer" {
		return w.attached(), true
	}
	if strings.Contains(op.template, "{delivery}") {
		return w.letter() + strings.SplitAfter(op.template, "{delivery}")[1], true
	}
	if op.method == http.MethodPut && (w.one(2) || len(w.things[op.template]) == 0) {
		return w.vacant(op)
	}
	if i := strings.LastIndex(op.template, "/"); !strings.HasPrefix(op.template[i+1:], "{") { // a collection
		path, ok = w.holder(op.template[:i])
		return path + op.template[i:], ok
	}
	return w.holder(op.template)
}

// attached makes a claim with a consumer and returns the consumer's path.
func (w *world) attached() string {
	team, name := "/v1/projects/"+tenant, w.fresh("used")
	w.serial++
	w.made("createPool", team+"/pools", obj{"metadata": obj{"name": name}, "spec": obj{"cidr": fmt.Sprintf("100.%d.%d.0/24", 64+w.serial/256%64, w.serial%256)}})
	w.made("createClaim", team+"/claims", obj{"metadata": obj{"name": name}, "spec": obj{"poolRef": obj{"name": name}, "prefixLength": 30, "maxConsumers": 9}})
	path := team + "/claims/" + name + "/consumers/" + w.fresh("vm")
	w.made("attachConsumer", path, obj{})
	return path
}

// letter makes an undeliverable webhook message and returns its path. Only the database can make one at once.
func (w *world) letter() string {
	team := "/v1/projects/" + tenant + "/webhooks"
	if len(w.names(tenant, "webhooks")) == 0 {
		w.made("createWebhook", team, obj{"metadata": obj{"name": w.fresh("letters")}, "spec": obj{"url": "https://receiver.example/", "paused": true}})
	}
	name, id := pick(w.random, w.names(tenant, "webhooks")), ""
	require.NoError(w.t, w.sql.QueryRow(w.t.Context(), `INSERT INTO deliveries
		SELECT w.region, w.project_id, w.id, gen_random_uuid(), 'c', convert_to('{"type":"resync","webhook":"' || w.name || '","project":"p","cursor":"c"}', 'UTF8'), 1, now(),
			'{"reason":"timeout","at":"2026-03-02T09:30:00Z"}', now(), false
		FROM webhooks AS w JOIN projects AS p ON p.id = w.project_id WHERE w.name = $1 AND p.name = $2 RETURNING id::TEXT`, name, tenant).Scan(&id))
	return team + "/" + name + "/deliveries/" + id
}

// vacant returns the path of a missing object below an existing parent.
func (w *world) vacant(op *operation) (path string, ok bool) {
	i := strings.LastIndex(op.template, "/")
	parent := op.template[:i]
	if j := strings.LastIndex(parent, "/"); strings.HasPrefix(op.template[i+1:], "{") {
		path, ok = w.holder(parent[:j])
		if op.template == "/v1/projects/{project}" {
			path, ok = "/v1", true
		}
		return path + parent[j:] + "/" + w.unused(op.template[i+1:]), ok
	}
	return "", false
}

// unused returns an unused name that a parameter allows.
func (w *world) unused(parameter string) string {
	switch parameter {
	case "{subject}":
		return w.fresh("corp:somebody") + "@example.com"
	case "{allocation}":
		return "00000000-0000-4000-8000-000000000000"
	case "{delivery}":
		return "00000000-0000-7000-8000-000000000000"
	case "{scope}":
		return "cluster=" + w.fresh("n")
	default:
		return w.fresh("n")
	}
}

// holder returns the path of an existing object. It is mostly in the tenant's project.
func (w *world) holder(template string) (string, bool) {
	if template == "/v1/projects/{project}" && !w.one(8) {
		return "/v1/projects/" + tenant, true
	}
	if len(w.things[template]) == 0 {
		w.supply(template)
	}
	paths := w.things[template]
	if len(paths) == 0 {
		return "", false
	}
	return pick(w.random, paths), true
}

// missing returns the path of a missing object, for an operation on a single object.
func (w *world) missing(op *operation) (path string, ok bool) {
	segments := strings.Split(op.template, "/")
	last := len(segments) - 1
	if !strings.HasPrefix(segments[last], "{") {
		last-- // a collection of an object that does not exist
		if !strings.HasPrefix(segments[last], "{") {
			return "", false
		}
	}
	one := operation{template: strings.Join(segments[:last+1], "/")}
	path, ok = w.vacant(&one)
	return path + strings.TrimPrefix(op.template, one.template), ok
}

// supply makes an object of a kind that does not yet exist.
func (w *world) supply(template string) {
	for _, op := range contract().operations {
		collection := template[:strings.LastIndex(template, "/")]
		if op.method == http.MethodPut && op.template == template || op.method == http.MethodPost && op.template == collection {
			for range 10 {
				if len(w.things[template]) == 0 {
					w.live(op)
				}
			}
			return
		}
	}
}
