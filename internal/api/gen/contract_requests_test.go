package gen_test

import (
	"strings"
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"
)

// requireBounded checks the schema of request data:
//
//   - Every string is an enum, or has a maximum length and a pattern that refuses control characters. The database cannot store U+0000.
//   - Every list and map has a size limit.
//   - Every object is closed, so that the server refuses misspelled and read-only fields and does not ignore them. Only merge patches are open,
//     because there the server itself distinguishes an immutable field from an unknown one.
func requireBounded(t *testing.T, at string, ref *openapi3.SchemaRef, patch bool) {
	t.Helper()
	s := ref.Value
	for _, part := range s.AllOf {
		requireBounded(t, at, part, patch)
	}
	switch {
	case s.Type.Is("string") && len(s.Enum) == 0:
		require.NotNil(t, s.MaxLength, "%s has no maxLength", at)
		require.NotEmpty(t, s.Pattern, "%s has no pattern", at)
		for _, control := range []string{"\x00", "a\x00", "\x1b[0m", "\u0085"} {
			require.Error(t, s.VisitJSON(control), "%s lets %q through", at, control)
		}
	case s.Type.Is("integer"):
		require.NotNil(t, s.Min, "%s has no minimum", at)
		require.NotNil(t, s.Max, "%s has no maximum", at)
	case s.Type.Is("array"):
		require.NotNil(t, s.MaxItems, "%s has no maxItems", at)
		requireBounded(t, at+"[]", s.Items, patch)
	case s.Type.Is("object"):
		for name, property := range s.Properties {
			requireBounded(t, at+"/"+name, property, patch)
		}
		if values := s.AdditionalProperties.Schema; values != nil {
			require.NotNil(t, s.MaxProps, "%s has no maxProperties", at)
			requireBounded(t, at+"/*", values, patch)
			return
		}
		require.NotNil(t, s.AdditionalProperties.Has, "%s does not say whether it is closed", at)
		require.True(t, patch || !*s.AdditionalProperties.Has, "%s is open", at)
	}
}

func TestRequestSchemasAreClosedAndLimited(t *testing.T) {
	t.Parallel()
	for _, op := range operations(document(t)) {
		t.Run(op.OperationID, func(t *testing.T) {
			t.Parallel()
			for _, p := range op.params {
				requireBounded(t, p.Value.In+":"+p.Value.Name, p.Value.Schema, false)
			}
			if op.RequestBody == nil {
				return
			}
			for mediaType, body := range op.RequestBody.Value.Content {
				requireBounded(t, "", body.Schema, strings.Contains(mediaType, "merge-patch"))
			}
		})
	}
}

func TestPatchesAreMergePatchesThatAcceptNull(t *testing.T) {
	t.Parallel()
	doc := document(t)
	for name, document := range map[string]map[string]any{
		"ProjectPatch": {"displayName": nil, "description": nil},
		"SpacePatch":   {"description": nil},
		"IPPoolPatch":  {"visibility": nil, "allocation": nil, "reservations": nil, "description": nil, "classNames": nil, "reuseAfter": nil, "regions": nil, "drain": nil},
		"IPClassPatch": {
			"visibility": nil, "isDefault": nil, "strategy": nil, "allowedPrefixLengths": nil, "defaultPrefixLength": nil, "reclaimPolicy": nil,
			"reuseAfter": nil, "reuseAfterLost": nil, "poolSelection": nil, "emptyPoolTTL": nil, "parameters": nil, "description": nil,
		},
		"IPClaimPatch": {"reclaimPolicy": nil},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			schema := doc.Components.Schemas[name].Value
			require.Len(t, schema.Properties["spec"].Value.Properties, len(document), "a mutable field without a test")
			require.NoError(t, schema.VisitJSON(map[string]any{
				"metadata": map[string]any{"labels": map[string]any{"env": nil}, "annotations": nil},
				"spec":     document,
			}))
			require.NoError(t, schema.VisitJSON(map[string]any{
				"metadata": map[string]any{"labels": nil, "name": "other"},
				"spec":     map[string]any{"cidr": "10.0.0.0/8"},
			}), "immutable fields are the server's to refuse, with immutable_field")
		})
	}
}
