package e2e

import (
	"maps"
	"net/http"
	"slices"
	"testing"

	"github.com/stretchr/testify/require"
)

// specimen is a request that the stage answers with success: an example of the contract, with other names where the
// example's own are taken.
type specimen struct {
	op      *operation
	example string
	path    string
	body    obj // nil when the operation takes none
	options []option
}

func (s specimen) String() string {
	if s.example == "" {
		return s.op.id
	}
	return s.op.id + "/" + s.example
}

// send sends the specimen's request, with other bytes for a body if there are any.
func (s specimen) send(t testing.TB, c *caller, options ...option) answer {
	t.Helper()
	return s.sendBody(t, c, s.body, options...)
}

func (s specimen) sendBody(t testing.TB, c *caller, body any, options ...option) answer {
	t.Helper()
	if s.op.RequestBody == nil {
		body = nil
	}
	return c.do(t, s.op.method, s.path, body, slices.Concat(s.options, options)...)
}

// otherNames are the names that an operation needs in its path instead of those of the examples: deleting wants something
// idle.
var otherNames = map[string]map[string]string{
	"deleteProject": {"project": "team-idle"},
	"deleteSpace":   {"space": "idle"},
	"deletePool":    {"pool": "idle"},
}

// adapted are the examples whose bodies cannot be sent twice to the same service.
var adapted = map[string]func(s *stage, body obj){
	"createProject/team":    rename("team-b"),
	"createSpace/lab":       rename("lab-b"),
	"createPool/child":      rename("prod-eu-k8s-b"),
	"createClaim/byLength":  rename("web-eu-b"),
	"createClaim/byAddress": rename("ingress-vip"),
	"createPool/root":       func(_ *stage, b obj) { rename("prod-us")(nil, b); b["spec"].(obj)["cidr"] = "10.21.0.0/16" },
	"createClaim/rebind": func(s *stage, b obj) {
		rename("rebound")(nil, b)
		b["spec"].(obj)["allocationRef"] = obj{"name": s.spare}
	},
}

func rename(name string) func(*stage, obj) {
	return func(_ *stage, body obj) { body["metadata"].(obj)["name"] = name }
}

// specimens makes the requests: one for each example, or one for an operation without a body. What deletes comes last.
func (s *stage) specimens(t testing.TB) []specimen {
	t.Helper()
	var out []specimen
	for _, op := range contract().operations {
		names := maps.Clone(s.names)
		maps.Copy(names, otherNames[op.id])
		one := specimen{op: op, path: op.path(names)}
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
			each.body = clone(examples[name].Value.Value.(obj))
			if adapt := adapted[each.String()]; adapt != nil {
				adapt(s, each.body)
			}
			out = append(out, each)
		}
	}
	// Patches after what looks at the things as the examples made them, and what deletes at the end.
	order := []string{http.MethodGet, http.MethodPost, http.MethodPut, http.MethodPatch, http.MethodDelete}
	slices.SortStableFunc(out, func(a, b specimen) int {
		return slices.Index(order, a.op.method) - slices.Index(order, b.op.method)
	})
	return out
}
