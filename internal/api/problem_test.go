package api

import (
	"go/ast"
	"go/parser"
	"go/token"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/docs/problems"
	"github.com/carve-ipam/carve/internal/api/gen"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The same error codes must be in package ipam, in the contract and in the pages.
func TestErrorCodesAgreeEverywhere(t *testing.T) {
	t.Parallel()
	doc, err := gen.GetSpec()
	require.NoError(t, err)
	schema := doc.Components.Schemas["ProblemCode"].Value

	file, err := parser.ParseFile(token.NewFileSet(), "../ipam/code.go", nil, 0)
	require.NoError(t, err)
	var declared, inContract, withPage []string
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok && len(v.Values) == 1 {
			code, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
			require.NoError(t, err)
			declared = append(declared, code)
		}
		return true
	})
	for _, v := range schema.Enum {
		c, ok := v.(string)
		require.True(t, ok)
		inContract = append(inContract, c)
	}
	require.Equal(t, inContract, declared, "the contract and package ipam must know the same codes, in the same order")
	for _, p := range problems.All() {
		withPage = append(withPage, p.Code)
	}
	require.ElementsMatch(t, declared, withPage)

	documented := regexp.MustCompile("(?m)^\\| `([a-z_]+)` \\| ([0-9]{3}) \\|").FindAllStringSubmatch(schema.Description, -1)
	require.Len(t, documented, len(declared))
	for _, row := range documented {
		require.Equal(t, row[2], strconv.Itoa(kinds[ipam.Code(row[1])].Status), row[1])
	}
}

func TestEveryProblemPageHasItsSections(t *testing.T) {
	t.Parallel()
	for code, k := range kinds {
		text, ok := problems.Page(string(code))
		require.True(t, ok, code)
		parts := strings.Split(text, "\n\n")
		require.Len(t, parts, 8, code)
		require.NotEmpty(t, strings.TrimSpace(k.Title), code)
		require.Equal(t, "`"+string(code)+"`, status "+strconv.Itoa(k.Status), parts[1])
		require.Equal(t, "## Meaning", parts[2])
		require.Equal(t, "## For the caller", parts[4])
		require.Equal(t, "## For the operator", parts[6])
	}
}
