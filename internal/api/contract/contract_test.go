package contract

import (
	"testing"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/api/gen"
)

func TestContractDeclaresAPermissionForEveryOperation(t *testing.T) {
	t.Parallel()
	k, err := Load()
	require.NoError(t, err)
	open, guarded := 0, 0
	for path, methods := range k.paths {
		for method, op := range methods {
			require.NotEmpty(t, op.ID, "%s %s", method, path)
			require.NotEqual(t, op.Public, op.Permission.Known(), "%s %s", method, path)
			if op.Public {
				open++
				continue
			}
			guarded++
		}
	}
	require.Equal(t, 2, open, "health and readiness alone need no credentials")
	require.Greater(t, guarded, 40)
}

func TestContractWithoutAPermissionIsRefused(t *testing.T) {
	t.Parallel()
	for name, tc := range map[string]struct {
		damage func(op *openapi3.Operation)
		wrong  string
	}{
		"NoPermission":                 {func(op *openapi3.Operation) { delete(op.Extensions, permissionExtension) }, "neither"},
		"UnknownAction":                {func(op *openapi3.Operation) { op.Extensions[permissionExtension] = "claims.frobnicate" }, "not an action"},
		"PermissionNotText":            {func(op *openapi3.Operation) { op.Extensions[permissionExtension] = true }, "not an action"},
		"EmptyPermission":              {func(op *openapi3.Operation) { op.Extensions[permissionExtension] = "" }, "not an action"},
		"PermissionWithoutCredentials": {func(op *openapi3.Operation) { op.Security = openapi3.NewSecurityRequirements() }, "needs no credentials"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			doc, err := gen.GetSpec()
			require.NoError(t, err)
			tc.damage(doc.Paths.Value("/v1/projects/{project}/claims").Post)
			_, err = newContract(doc)
			require.ErrorContains(t, err, tc.wrong)
			require.ErrorContains(t, err, "POST /v1/projects/{project}/claims")
		})
	}
}
