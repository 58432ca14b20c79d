package tenancy_test

import (
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// actions is every action that is declared, so that a new one is denied by default like the others.
func actions(t *testing.T) []tenancy.Action {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "authorize.go", nil, 0)
	require.NoError(t, err)
	var out []tenancy.Action
	ast.Inspect(file, func(n ast.Node) bool {
		if v, ok := n.(*ast.ValueSpec); ok {
			if kind, ok := v.Type.(*ast.Ident); ok && kind.Name == "Action" {
				s, err := strconv.Unquote(v.Values[0].(*ast.BasicLit).Value)
				require.NoError(t, err)
				out = append(out, tenancy.Action(s))
			}
		}
		return true
	})
	require.Contains(t, out, tenancy.ClaimsWrite)
	return append(out, "what.nobody.has.thought.of")
}

func TestNobodyMayDoAnything(t *testing.T) {
	t.Parallel()
	for name, ctx := range map[string]context.Context{
		"NoPrincipal":      t.Context(),
		"NoSubject":        tenancy.WithPrincipal(t.Context(), tenancy.Principal{}),
		"AdminWithoutName": tenancy.WithPrincipal(t.Context(), tenancy.Principal{PlatformAdmin: true}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, a := range actions(t) {
				who, err := tenancy.Authorize(ctx, a, "acme")
				require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err), a)
				require.Zero(t, who)
			}
		})
	}
}

func TestStrangerLearnsNothingAboutAProject(t *testing.T) {
	t.Parallel()
	ctx := tenancy.WithPrincipal(t.Context(), tenancy.Principal{Subject: "stranger", Method: "dev"})
	for _, project := range []string{"acme", "does-not-exist", ipam.PlatformProject, ""} {
		for _, a := range actions(t) {
			who, err := tenancy.Authorize(ctx, a, project)
			require.Equal(t, ipam.CodeNotFound, ipam.CodeOf(err), "%s in %s", a, project)
			require.Zero(t, who)
			var e *ipam.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, ipam.Errorf(ipam.CodeNotFound, "Project %q was not found.", project), e, "as for one that does not exist")
		}
	}
}

func TestPlatformAdminMayActInEveryProject(t *testing.T) {
	t.Parallel()
	admin := tenancy.Principal{Subject: "root", Method: "dev", PlatformAdmin: true}
	ctx := tenancy.WithPrincipal(t.Context(), admin)
	for _, a := range actions(t) {
		who, err := tenancy.Authorize(ctx, a, "acme")
		require.NoError(t, err)
		require.Equal(t, admin, who)
	}
}

func TestPrincipalIsTheOneOfTheRequest(t *testing.T) {
	t.Parallel()
	_, ok := tenancy.From(t.Context())
	require.False(t, ok)
	outer := tenancy.WithPrincipal(t.Context(), tenancy.Principal{Subject: "outer"})
	inner := tenancy.WithPrincipal(outer, tenancy.Principal{Subject: "inner"})
	who, ok := tenancy.From(inner)
	require.True(t, ok)
	require.Equal(t, "inner", who.Subject)
	who, _ = tenancy.From(outer)
	require.Equal(t, "outer", who.Subject)
}
