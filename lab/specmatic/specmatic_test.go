package specmatic

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

func log(t *testing.T, lines string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "log")
	require.NoError(t, os.WriteFile(path, []byte(lines), 0o600))
	return path
}

// What a log says decides: a failure that nobody excused, an excuse that nobody needs, and nothing at all.
func TestVerdicts(t *testing.T) {
	t.Parallel()
	const passed = "+ve  Scenario: GET /v1/projects -> 200 with a request has SUCCEEDED\n"
	const excused = `-ve  Scenario: PUT /v1/projects/(project:string)/claims/(claim:string) -> 4xx with a request where REQUEST.PARAMETERS.PATH.claim is mutated from ("new") to number has FAILED` + "\n"
	const end = "Tests run: 2, Successes: 1, Failures: 1, WIP: 0, Errors: 0\n"
	for name, tc := range map[string]struct {
		lines string
		ok    bool
	}{
		"AllIsWell":                 {passed + excused + end, true},
		"AFailure":                  {passed + excused + "+ve  Scenario: POST /v1/projects -> 201 with a request has FAILED\n" + end, false},
		"AFailureLikeTheExcusedOne": {passed + excused + `-ve  Scenario: GET /v1/projects/(project:string) -> 4xx with a request where REQUEST.PARAMETERS.PATH.claim is mutated has FAILED` + "\n" + end, false},
		"AnExcuseThatNobodyNeeds":   {passed + end, false},
		"NothingWasTested":          {excused + end, false},
		"NoEnd":                     {passed + excused, false},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			c, err := count(log(t, tc.lines))
			require.NoError(t, err)
			require.Equal(t, tc.ok, c.report("log"))
		})
	}
}

// The copy is a contract, of the same operations, and judges answers by the schemas of the original.
func TestAdaptedContract(t *testing.T) {
	t.Parallel()
	to := filepath.Join(t.TempDir(), "openapi.yaml")
	require.NoError(t, adapt("../../openapi.yaml", to, map[string]string{"project": "team-a"}))
	load := func(path string) *openapi3.T {
		doc, err := openapi3.NewLoader().LoadFromFile(path)
		require.NoError(t, err)
		return doc
	}
	original, copied := load("../../openapi.yaml"), load(to)
	require.NoError(t, copied.Validate(t.Context()))
	seen := map[*openapi3.Schema]bool{}
	for path, item := range original.Paths.Map() {
		for method, op := range item.Operations() {
			other := copied.Paths.Value(path).GetOperation(method)
			require.NotNil(t, other, "%s %s", method, path)
			for status, response := range other.Responses.Map() {
				require.NotNil(t, op.Responses.Value(status))
				for media, content := range response.Value.Content {
					asIs(t, seen, op.Responses.Value(status).Value.Content[media].Schema.Value, content.Schema.Value)
				}
			}
		}
	}
	require.Greater(t, len(seen), 50)
}

// asIs compares two schemas and all that they are made of.
func asIs(t *testing.T, seen map[*openapi3.Schema]bool, original, copied *openapi3.Schema) {
	t.Helper()
	if seen[original] {
		return
	}
	seen[original] = true
	want, err := original.MarshalJSON()
	require.NoError(t, err)
	got, err := copied.MarshalJSON()
	require.NoError(t, err)
	require.JSONEq(t, string(want), string(got))
	for name, property := range original.Properties {
		asIs(t, seen, property.Value, copied.Properties[name].Value)
	}
	if original.Items != nil {
		asIs(t, seen, original.Items.Value, copied.Items.Value)
	}
}
