package api

import (
	"slices"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	carve "github.com/carve-ipam/carve"
)

// The error of a stale read has headers that show that the read was stale (consistency.go). The contract must declare them for every operation that
// can read stale data.
func TestRefusalsOfStaleReadsAreDeclared(t *testing.T) {
	t.Parallel()
	doc, err := openapi3.NewLoader().LoadFromData(carve.OpenAPI)
	require.NoError(t, err)
	stale := 0
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			if append(op.Parameters, item.Parameters...).GetByInAndName(openapi3.ParameterInQuery, "consistency") == nil {
				continue
			}
			stale++
			for _, name := range []string{"Carve-Consistency", "Carve-Read-At"} {
				require.Contains(t, op.Responses.Value("200").Value.Headers, name, "%s %s", method, path)
				refused := op.Responses.Default().Value.Headers[name]
				require.NotNil(t, refused, "%s %s", method, path)
				for code, k := range kinds {
					behindTheDoor := slices.Contains([]int{400, 404, 500, 503, 504}, k.Status)
					require.Equal(t, behindTheDoor, slices.Contains(refused.Value.Extensions["x-problems"].([]any), any(string(code))), "%s: %s", name, code)
				}
			}
		}
	}
	require.NotZero(t, stale)
}
