package api

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	carve "github.com/carve-ipam/carve"
)

// A refused stale read says that it was one (consistency.go), so the contract declares it wherever that can happen: behind the door,
// where the request is known to be one.
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
			for _, status := range []string{"200", "400", "404", "500", "503", "504"} {
				response := op.Responses.Value(status)
				if response == nil {
					require.Equal(t, "404", status, "%s %s: all others can happen to each", method, path)
					continue
				}
				require.Contains(t, response.Value.Headers, "Carve-Consistency", "%s %s: %s", method, path, status)
				require.Contains(t, response.Value.Headers, "Carve-Read-At", "%s %s: %s", method, path, status)
			}
		}
	}
	require.NotZero(t, stale)
}
