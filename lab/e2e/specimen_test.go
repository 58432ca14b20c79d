package e2e

import (
	"fmt"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// specimen is a request that succeeds on the stage. It is an example of the contract. If the names in the example are already used, it has other
// names.
type specimen struct {
	op      *operation
	example string
	path    string
	body    obj               // nil for an operation without a body
	query   map[string]string // the required parameters
	options []option
}

func (s specimen) String() string {
	if s.example == "" {
		return s.op.id
	}
	return s.op.id + "/" + s.example
}

// send sends the specimen's request.
func (s specimen) send(t testing.TB, c *caller, options ...option) answer {
	t.Helper()
	return s.sendBody(t, c, s.body, options...)
}

func (s specimen) sendBody(t testing.TB, c *caller, body any, options ...option) answer {
	t.Helper()
	if s.op.RequestBody == nil {
		body = nil
	}
	return c.do(t, s.op.method, s.path, body, slices.Concat(s.always(), options)...)
}

// always returns the options that each request of the specimen needs.
func (s specimen) always() []option {
	out := slices.Clone(s.options)
	for _, name := range slices.Sorted(maps.Keys(s.query)) {
		out = append(out, query(name+"="+url.QueryEscape(s.query[name])))
	}
	return out
}

// otherNames maps an operation or a specimen to names that replace the names in its path. A deletion needs an object that no other request needs, and
// a creation needs a new name.
var otherNames = map[string]map[string]string{
	"deleteProject":    {"project": idleProject},
	"deleteSpace":      {"space": "idle"},
	"deletePool":       {"pool": "idle"},
	"deleteClass":      {"className": "idle"},
	"putQuota/project": {"quota": "all"},
	"putClaim":         {"claim": "web-eu-c"},
	"putScopePool":     {"className": "per-cluster", "scope": "cluster=new"},
	"getScopePool":     {"className": "per-cluster"},
	"listScopePools":   {"className": "per-cluster"},
	"putPoolGrant":     {"consumer": "team-new"},

	"attachConsumer":         {"claim": "used"},
	"attachConsumer/nothing": {"uid": "vm-2"},
	"detachConsumer":         {"claim": "used", "uid": "vm-3"},
	"endConsumer":            {"uid": "idle"},
	"deleteWebhook":          {"webhook": "idle"},
	"deleteAlertRule":        {"alertRule": "idle"},
	"deleteWebhookDelivery":  {"delivery": droppedDelivery},
	"putSpaceGrant":          {"consumer": "team-new"},
}

// adapted changes the examples whose bodies cannot be sent unchanged, or not twice, to the same service.
var adapted = map[string]func(s *stage, body obj){
	"createProject/team":    rename("team-b"),
	"createSpace/lab":       rename("lab-b"),
	"createPool/child":      rename("prod-eu-k8s-b"),
	"createPool/backing":    func(_ *stage, b obj) { rename("standard-us")(nil, b); b["spec"].(obj)["cidr"] = "10.97.0.0/16" },
	"patchPool/regions":     func(_ *stage, b obj) { b["spec"].(obj)["regions"] = []any{region, "us"} },
	"createClass/minimal":   rename("web-b"),
	"createClass/scoped":    rename("per-cluster-b"),
	"createClaim/byClass":   rename("node-0"),
	"createClaim/byLength":  rename("web-eu-b"),
	"createClaim/byAddress": rename("ingress-vip"),
	"createApiKey/pipeline": func(_ *stage, b obj) { rename("pipeline-b")(nil, inTime(b)) },
	"createAlertRule/pools": rename("nearly-full-b"),
	"createWebhook/claims":  func(_ *stage, b obj) { rename("inventory-b")(nil, b); b["spec"].(obj)["paused"] = true },
	"patchWebhook/pause":    func(_ *stage, b obj) { b["spec"] = obj{"resourceName": "web-eu"} },
	// With the original time to live, these consumers could expire during other requests on a slow machine.
	"attachConsumer/vm":     func(_ *stage, b obj) { b["ttlSeconds"] = 86400 },
	"putConsumer/vm":        func(_ *stage, b obj) { b["spec"].(obj)["ttlSeconds"] = 86400 },
	"createPool/root":       func(_ *stage, b obj) { rename("prod-us")(nil, b); b["spec"].(obj)["cidr"] = "10.21.0.0/16" },
	"createClaim/withScope": func(_ *stage, b obj) { b["spec"].(obj)["scope"] = obj{"cluster": "web-us"} },
	// These requests must not release objects that other specimens need.
	"releaseClaims/names": func(_ *stage, b obj) { b["select"], b["createdBefore"] = obj{"names": []any{"nobody"}}, soon() },
	"releaseClaims/shown": func(_ *stage, b obj) {
		delete(b, "token")
		b["select"], b["createdBefore"] = obj{"owner": "Nobody"}, soon()
	},
	"createClaim/rebind": func(s *stage, b obj) {
		rename("rebound")(nil, b)
		b["spec"].(obj)["allocationRef"] = obj{"name": s.spare}
	},
}

// pathOf returns the path of an operation. It uses the names of the stage, or the names of the specimen if it has its own.
func (s *stage) pathOf(op *operation, specimen string) string {
	names := maps.Clone(s.names)
	maps.Copy(names, otherNames[op.id])
	maps.Copy(names, otherNames[specimen])
	return op.path(names)
}

// inTime moves the expiry of the key in an example to a time that is always in the future.
func inTime(body obj) obj {
	body["spec"].(obj)["expiresAt"] = time.Now().Add(365 * 24 * time.Hour).UTC().Format(time.RFC3339)
	return body
}

// soon returns a time that is later than the creation of all objects on the stage.
func soon() string { return time.Now().Add(time.Hour).UTC().Format(time.RFC3339) }

func rename(name string) func(*stage, obj) {
	return func(_ *stage, body obj) { body["metadata"].(obj)["name"] = name }
}

// specimens returns one request for each example, and one for each operation without a body. Deletions come last.
func (s *stage) specimens(t testing.TB) []specimen {
	t.Helper()
	var out []specimen
	for _, op := range contract().operations {
		one := specimen{op: op, path: s.pathOf(op, op.id), query: map[string]string{}}
		for _, p := range op.in("query") {
			if p.Required {
				one.query[p.Name] = fmt.Sprint(p.Example)
			}
		}
		for _, p := range op.in("header") {
			if p.Name == "If-Match" && op.method == http.MethodPatch {
				one.options = append(one.options, ifMatch("*"))
			}
		}
		mediaType, _ := op.bodySchema()
		if mediaType == "" {
			out = append(out, one)
			continue
		}
		examples := op.RequestBody.Value.Content[mediaType].Examples
		require.NotEmpty(t, examples, "%s has no example of a request", op.id)
		for _, name := range slices.Sorted(maps.Keys(examples)) {
			each := one
			each.example = name
			each.path = s.pathOf(op, each.String())
			each.body = clone(examples[name].Value.Value.(obj))
			if adapt := adapted[each.String()]; adapt != nil {
				adapt(s, each.body)
			}
			out = append(out, each)
		}
	}
	// Patches come after the reads, which need unchanged examples. Deletions come last.
	order := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	rank := func(s specimen) int {
		if s.op.id == "putScopePool" { // before the quotas
			return slices.Index(order, http.MethodPost)
		}
		return slices.Index(order, s.op.method)
	}
	slices.SortStableFunc(out, func(a, b specimen) int { return rank(a) - rank(b) })
	return out
}
