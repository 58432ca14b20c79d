package client_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// If an optional parameter is not set, the client must not send it. The generated code sends each parameter that is not a pointer, even if it is
// empty.
func TestOptionalParameterIsAPointerSoThatItIsNotSentEmpty(t *testing.T) {
	t.Parallel()
	file, err := parser.ParseFile(token.NewFileSet(), "client.gen.go", nil, parser.SkipObjectResolution)
	require.NoError(t, err)
	lists, optional := map[string]bool{}, 0
	ast.Inspect(file, func(n ast.Node) bool {
		if spec, ok := n.(*ast.TypeSpec); ok {
			_, lists[spec.Name.Name] = spec.Type.(*ast.ArrayType)
		}
		return true
	})
	ast.Inspect(file, func(n ast.Node) bool {
		spec, ok := n.(*ast.TypeSpec)
		if !ok || !strings.HasSuffix(spec.Name.Name, "Params") {
			return true
		}
		params, ok := spec.Type.(*ast.StructType)
		if !ok {
			return true
		}
		for _, field := range params.Fields.List {
			if field.Tag == nil || !strings.Contains(field.Tag.Value, `form:"`) || !strings.Contains(field.Tag.Value, ",omitempty") {
				continue
			}
			optional++
			if name, ok := field.Type.(*ast.Ident); ok && lists[name.Name] {
				continue // the generated code does not send an empty list
			}
			require.IsType(t, &ast.StarExpr{}, field.Type, "%s.%s", spec.Name.Name, field.Names[0].Name)
		}
		return true
	})
	require.Greater(t, optional, 20)
}
