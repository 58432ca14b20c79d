// Package gen_test checks openapi.yaml itself, without the server.
package gen_test

import (
	"context"
	"net/http"
	"regexp"
	"slices"
	"sort"
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/gen"
)

// operation is one operation of the document, with its path and method.
type operation struct {
	*openapi3.Operation
	path, method string
	params       openapi3.Parameters // parameters of the operation and of its path
}

// document loads openapi.yaml.
func document(t *testing.T) *openapi3.T {
	t.Helper()
	doc, err := openapi3.NewLoader().LoadFromFile("../../../openapi.yaml")
	require.NoError(t, err)
	return doc
}

// operations returns every operation of the document, ordered by operationId.
func operations(doc *openapi3.T) []operation {
	var all []operation
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			params := append(append(openapi3.Parameters{}, item.Parameters...), op.Parameters...)
			all = append(all, operation{Operation: op, path: path, method: method, params: params})
		}
	}
	sort.Slice(all, func(i, j int) bool { return all[i].OperationID < all[j].OperationID })
	return all
}

// has reports whether the operation takes a parameter.
func (op operation) has(in, name string) bool {
	return op.params.GetByInAndName(in, name) != nil
}

// hosted reports whether the operation is outside /v1. Such operations are for the programs that run and monitor the server.
func (op operation) hosted() bool { return !strings.HasPrefix(op.path, "/v1/") }

func TestContractIsValidAndItsExamplesFitTheirSchemas(t *testing.T) {
	t.Parallel()
	doc := document(t)
	require.NoError(t, doc.Validate(context.Background(), openapi3.EnableExamplesValidation()))
}

func TestEmbeddedContractMatchesTheFile(t *testing.T) {
	t.Parallel()
	embedded, err := gen.GetSpec()
	require.NoError(t, err)
	want, err := document(t).MarshalJSON()
	require.NoError(t, err)
	got, err := embedded.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got), "openapi.yaml changed after internal/api/gen was generated")
	require.NotContains(t, string(got), "x-order", "the order of members is in tools/openapi/order.yaml")
}

func TestEveryOperationHasIDSummaryAndDescription(t *testing.T) {
	t.Parallel()
	lowerCamelCase := regexp.MustCompile(`^[a-z]+([A-Z][a-z0-9]+)*$`)
	doc := document(t)
	for _, op := range operations(doc) {
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			require.Regexp(t, lowerCamelCase, op.OperationID)
			require.NotEmpty(t, op.Summary)
			require.NotEmpty(t, op.Description)
			require.Len(t, op.Tags, 1)
			tag := doc.Tags.Get(op.Tags[0])
			require.NotNil(t, tag, "tag %s is not declared", op.Tags[0])
			require.NotEmpty(t, tag.Description)
			for _, p := range op.params {
				require.NotEmpty(t, p.Value.Description, p.Value.Name)
				// Swagger UI sends the examples of parameters. So only the parameters that an operation requires may have an example.
				needed := p.Value.Required || op.method == http.MethodPatch && p.Value.Name == "If-Match"
				require.Equal(t, needed, p.Value.Example != nil, "whether %s has an example", p.Value.Name)
				require.Empty(t, p.Value.Examples, p.Value.Name)
			}
			if op.RequestBody != nil {
				require.True(t, op.RequestBody.Value.Required)
				for mediaType, body := range op.RequestBody.Value.Content {
					require.NotEmpty(t, body.Examples, mediaType)
				}
			}
		})
	}
}

func TestEverySuccessHasAnExampleAndItsHeaders(t *testing.T) {
	t.Parallel()
	for _, op := range operations(document(t)) {
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			for status, response := range op.Responses.Map() {
				if !strings.HasPrefix(status, "2") {
					continue
				}
				requireSuccess(t, op, status, response.Value)
			}
		})
	}
}

// Reads of one project can return stale data of the region, and the contract must declare that. Writes cannot, and neither can reads of global data
// and reads that must see the latest write.
func TestReadsDeclareStaleConsistency(t *testing.T) {
	t.Parallel()
	single := []string{"getPool", "getPoolMap", "getPoolUtilization", "getClaim", "getAllocation", "getClass"}
	for _, op := range operations(document(t)) {
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			reads := op.method == http.MethodGet && (op.has("query", "limit") && op.OperationID != "listChanges" || slices.Contains(single, op.OperationID))
			require.Equal(t, reads, op.has("query", "consistency"))
			if reads {
				headers := op.Responses.Value("200").Value.Headers
				require.Contains(t, headers, "Carve-Consistency")
				require.Contains(t, headers, "Carve-Read-At")
			}
		})
	}
}

// requireSuccess checks a success response. It must have an example, an ETag for a single resource and a Location for a new one. If the operation has
// a dry run or an idempotency key, the response must have the headers for them.
func requireSuccess(t *testing.T, op operation, status string, response *openapi3.Response) {
	t.Helper()
	if op.has("query", "dryRun") {
		require.Contains(t, response.Headers, "Dry-Run")
	}
	if op.has("header", "Idempotency-Key") {
		require.Contains(t, response.Headers, "Idempotency-Replayed")
	}
	for name, header := range response.Headers {
		// The generated code always writes a required header. It writes an optional header only if the header is set.
		required := name == "ETag" || name == "Location"
		require.Equal(t, required, header.Value.Required, name)
	}
	if status == "204" {
		require.Empty(t, response.Content)
		return
	}
	body := response.Content["application/json"]
	require.NotNil(t, body)
	require.NotEmpty(t, body.Examples)
	if body.Schema.Value.Properties["metadata"] != nil {
		require.Contains(t, response.Headers, "ETag")
		require.Equal(t, status == "201", response.Headers["Location"] != nil)
	}
}
