package e2e

import (
	"fmt"
	"net/http"
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"go.yaml.in/yaml/v3"

	carve "github.com/carve-ipam/carve"
)

// beyondAClick lists the operations that cannot succeed with the contract's examples alone, with the object that they need.
var beyondAClick = map[string]string{
	"getScopePool":          "a class with `poolPer`, and a pool that backs it",
	"putScopePool":          "a class with `poolPer`, and a pool that backs it",
	"getAllocation":         "the UID that the server gave it",
	"deleteAllocation":      "the UID that the server gave it",
	"retryWebhookDelivery":  "a receiver that failed for 24 hours",
	"deleteWebhookDelivery": "a receiver that failed for 24 hours",
}

// A user opens Swagger UI and presses Execute from top to bottom, without any input. All requests must succeed on a fresh server, after the README's
// example, and a second time.
func TestEveryOperationWorksAtTheFirstClick(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(testing.TB, *caller){
		"OnAFreshServer": func(testing.TB, *caller) {}, "AfterTheREADME": readme,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := setupEmpty(t)
			before(t, w.caller)
			for range 2 { // deletions must leave nothing that would make the second round fail
				for _, each := range clicks(t) {
					a := each.send(t, w.caller)
					require.Equal(t, beyondAClick[each.op.id] == "", a.ok(), "%s: %d %s", each, a.status, a.body)
				}
			}
		})
	}
}

// clicks returns the requests that Swagger UI sends without any input, in the order of the page (internal/api/docs/page/initializer.js). It uses the
// examples of parameters and the first example of a body.
func clicks(t testing.TB) []specimen {
	t.Helper()
	var doc yaml.Node
	require.NoError(t, yaml.Unmarshal(carve.OpenAPI, &doc))
	var out, deletes []specimen
	turn := map[string]int{http.MethodPut: -2, http.MethodGet: -1} // first an object's creation, then its reads, then the rest
	for _, tag := range contract().doc.Tags {
		for _, path := range keys(member(doc.Content[0], "paths")) {
			var here []specimen
			for _, method := range keys(member(doc.Content[0], "paths", path)) {
				op := contract().operation(strings.ToUpper(method), path)
				switch {
				case method == "parameters" || op.Tags[0] != tag.Name:
				case op.method == http.MethodDelete:
					deletes = append(deletes, click(op, nil))
				default:
					here = append(here, click(op, member(doc.Content[0], "paths", path, method)))
				}
			}
			slices.SortStableFunc(here, func(a, b specimen) int { return turn[a.op.method] - turn[b.op.method] })
			out = append(out, here...)
		}
	}
	slices.Reverse(deletes)
	return append(out, deletes...)
}

// click returns the request of the page for an operation. node is the operation's YAML node in the contract.
func click(op *operation, node *yaml.Node) specimen {
	names := map[string]string{}
	out := specimen{op: op, query: map[string]string{}}
	for _, p := range op.params {
		value := fmt.Sprint(p.Value.Example)
		switch {
		case p.Value.Example == nil:
		case p.Value.In == "path":
			names[p.Value.Name] = value
		case p.Value.In == "query":
			out.query[p.Value.Name] = value
		default:
			out.options = append(out.options, header(p.Value.Name, value))
		}
	}
	out.path = op.path(names)
	if mediaType, _ := op.bodySchema(); mediaType != "" {
		out.example = keys(member(node, "requestBody", "content", mediaType, "examples"))[0]
		out.body = clone(op.RequestBody.Value.Content[mediaType].Examples[out.example].Value.Value.(obj))
	}
	return out
}

// readme sends the requests of the README's example.
func readme(t testing.TB, c *caller) {
	t.Helper()
	text, err := os.ReadFile("../../README.md")
	require.NoError(t, err)
	requests := regexp.MustCompile(`(?m)^\$ curl .*\$URL(\S*) .*-d '([^']+)'`).FindAllSubmatch(text, -1)
	require.Len(t, requests, 3)
	for _, each := range requests {
		c.created(t, c.do(t, http.MethodPost, "/v1/projects"+string(each[1]), each[2]))
	}
}

// member returns a nested member of a YAML map, or nil.
func member(node *yaml.Node, names ...string) *yaml.Node {
	for _, name := range names {
		i := slices.Index(keys(node), name)
		if i < 0 {
			return nil
		}
		node = node.Content[2*i+1]
	}
	return node
}

// keys returns the names in a YAML map, in their order.
func keys(node *yaml.Node) (out []string) {
	for i := 0; node != nil && i < len(node.Content); i += 2 {
		out = append(out, node.Content[i].Value)
	}
	return out
}
