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

const (
	project  = "acme"
	unknown  = tenancy.Action("what.nobody.has.thought.of")
	nobody   = tenancy.Role("")
	platform = ipam.PlatformProject
)

// least repeats the policy, written by hand from the design. For each action it has the lowest role, and the project in which the caller needs this
// role.
var least = map[tenancy.Action]struct {
	in   string
	role tenancy.Role
}{
	tenancy.ProjectsList:     {},
	tenancy.Whoami:           {},
	tenancy.Search:           {},
	tenancy.ProjectsCreate:   {platform, tenancy.Admin},
	tenancy.ProjectsDelete:   {platform, tenancy.Admin},
	tenancy.ProjectsRead:     {project, tenancy.Viewer},
	tenancy.ProjectsWrite:    {project, tenancy.Admin},
	tenancy.SpacesRead:       {project, tenancy.Viewer},
	tenancy.SpacesWrite:      {project, tenancy.Provider},
	tenancy.PoolsRead:        {project, tenancy.Viewer},
	tenancy.PoolsWrite:       {project, tenancy.Provider},
	tenancy.ClassesRead:      {project, tenancy.Viewer},
	tenancy.ClassesWrite:     {project, tenancy.Provider},
	tenancy.ClaimsRead:       {project, tenancy.Viewer},
	tenancy.ClaimsWrite:      {project, tenancy.Consumer},
	tenancy.AllocationsRead:  {project, tenancy.Viewer},
	tenancy.AllocationsWrite: {project, tenancy.Provider},
	tenancy.GrantsRead:       {project, tenancy.Provider},
	tenancy.GrantsWrite:      {project, tenancy.Provider},
	tenancy.MembersRead:      {project, tenancy.Admin},
	tenancy.MembersWrite:     {project, tenancy.Admin},
	tenancy.KeysRead:         {project, tenancy.Admin},
	tenancy.KeysWrite:        {project, tenancy.Admin},
	tenancy.QuotasRead:       {project, tenancy.Viewer},
	tenancy.QuotasWrite:      {project, tenancy.Admin},
	tenancy.AuditRead:        {project, tenancy.Admin},
	tenancy.HistoryRead:      {project, tenancy.Viewer},
	tenancy.ChangesRead:      {project, tenancy.Viewer},
	tenancy.ConsumersRead:    {project, tenancy.Viewer},
	tenancy.ConsumersWrite:   {project, tenancy.Consumer},
	tenancy.RealmsConfirm:    {project, tenancy.Admin},
	tenancy.WebhooksRead:     {project, tenancy.Viewer},
	tenancy.WebhooksWrite:    {project, tenancy.Admin},
	tenancy.DeliveriesRead:   {project, tenancy.Admin},
	tenancy.DeliveriesWrite:  {project, tenancy.Admin},
	tenancy.AlertRulesRead:   {project, tenancy.Viewer},
	tenancy.AlertRulesWrite:  {project, tenancy.Provider},
	tenancy.AlertsRead:       {project, tenancy.Viewer},
}

// declared returns all actions in the source file, so that the test fails if the table above lacks a new action.
func declared(t *testing.T) []tenancy.Action {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), "action.go", nil, 0)
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
	return out
}

func as(ctx context.Context, roles map[string]tenancy.Role) context.Context {
	return tenancy.WithPrincipal(ctx, tenancy.Principal{Subject: "somebody", Method: "dev", Roles: roles})
}

func TestEveryActionHasAMinimumRole(t *testing.T) {
	t.Parallel()
	all := declared(t)
	require.Len(t, least, len(all))
	for _, a := range all {
		require.Contains(t, least, a)
		require.True(t, a.Known(), a)
	}
	require.False(t, unknown.Known())
	require.False(t, tenancy.Action("").Known())
}

func TestRolesAllowTheActionsOfThePolicy(t *testing.T) {
	t.Parallel()
	rank := map[tenancy.Role]int{nobody: 0, tenancy.Viewer: 1, tenancy.Consumer: 2, tenancy.Provider: 3, tenancy.Admin: 4}
	for _, where := range []string{project, platform, "other"} {
		for role := range rank {
			roles := map[string]tenancy.Role{where: role}
			if role == nobody {
				roles = nil
			}
			ctx := as(t.Context(), roles)
			for action, need := range least {
				want := ipam.Code("")
				inProject, everywhere := where == project && role != nobody, where == platform && role == tenancy.Admin
				switch {
				case need.in == "" || everywhere:
				case !inProject:
					want = ipam.CodeNotFound
				case need.in == platform || rank[role] < rank[need.role]:
					want = ipam.CodePermissionDenied
				}
				who, err := tenancy.Authorize(ctx, action, project)
				require.Equal(t, want, ipam.CodeOf(err), "%s in %s: %s", role, where, action)
				if want != "" {
					require.Zero(t, who)
					continue
				}
				require.Equal(t, "somebody", who.Subject)
			}
		}
	}
}

func TestCallerWithoutASubjectIsRefused(t *testing.T) {
	t.Parallel()
	for name, ctx := range map[string]context.Context{
		"NoPrincipal": t.Context(),
		"NoSubject":   tenancy.WithPrincipal(t.Context(), tenancy.Principal{}),
		"AdminWithoutName": tenancy.WithPrincipal(t.Context(),
			tenancy.Principal{Roles: map[string]tenancy.Role{platform: tenancy.Admin, project: tenancy.Admin}}),
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			for _, a := range append(declared(t), unknown) {
				who, err := tenancy.Authorize(ctx, a, project)
				require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err), a)
				require.Zero(t, who)
			}
		})
	}
}

func TestUnknownActionsAreRefusedForAllRoles(t *testing.T) {
	t.Parallel()
	for _, ctx := range []context.Context{
		as(t.Context(), map[string]tenancy.Role{platform: tenancy.Admin}), as(t.Context(), map[string]tenancy.Role{project: tenancy.Admin}),
		as(t.Context(), nil), tenancy.WithPrincipal(t.Context(), tenancy.System()),
	} {
		for _, a := range []tenancy.Action{unknown, "", "claims", "CLAIMS.READ"} {
			_, err := tenancy.Authorize(ctx, a, project)
			require.Equal(t, ipam.CodePermissionDenied, ipam.CodeOf(err), a)
		}
	}
}

func TestRefusalHidesWhetherAProjectExists(t *testing.T) {
	t.Parallel()
	ctx := as(t.Context(), map[string]tenancy.Role{"other": tenancy.Admin})
	for _, asked := range []string{project, "does-not-exist", platform} {
		for a, need := range least {
			if need.in == "" {
				continue
			}
			_, err := tenancy.Authorize(ctx, a, asked)
			var e *ipam.Error
			require.ErrorAs(t, err, &e)
			require.Equal(t, ipam.Errorf(ipam.CodeNotFound, "Project %q was not found.", asked), e, "%s: as for one that does not exist", a)
		}
	}
}

func TestRefusalNamesTheRequiredRole(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		action tenancy.Action
		roles  map[string]tenancy.Role
		in     string
		says   []string
	}{
		{tenancy.ClaimsWrite, map[string]tenancy.Role{project: tenancy.Viewer}, project, []string{"role consumer", `"acme"`, "role viewer"}},
		{tenancy.MembersRead, map[string]tenancy.Role{project: tenancy.Provider}, project, []string{"role admin", `"acme"`, "role provider"}},
		{tenancy.ProjectsDelete, map[string]tenancy.Role{project: tenancy.Admin}, project, []string{"role admin", `"platform"`, "no role"}},
		{tenancy.ProjectsCreate, map[string]tenancy.Role{platform: tenancy.Viewer}, "", []string{"role admin", `"platform"`, "role viewer"}},
		{tenancy.ProjectsCreate, nil, "", []string{"role admin", `"platform"`, "no role"}},
	} {
		t.Run(string(c.action), func(t *testing.T) {
			t.Parallel()
			_, err := tenancy.Authorize(as(t.Context(), c.roles), c.action, c.in)
			require.Equal(t, ipam.CodePermissionDenied, ipam.CodeOf(err))
			for _, part := range append(c.says, "somebody") {
				require.ErrorContains(t, err, part)
			}
		})
	}
}

// A role with an invalid name gives no rights, whether it comes from a rule or from a membership.
func TestMisspelledRoleGivesNoRights(t *testing.T) {
	t.Parallel()
	for _, role := range []tenancy.Role{"Admin", "owner", " admin", "admin\x00"} {
		ctx := as(t.Context(), map[string]tenancy.Role{platform: role, project: role})
		for a, need := range least {
			_, err := tenancy.Authorize(ctx, a, project)
			require.Equal(t, need.in == "", err == nil, "%s: %s", role, a)
		}
	}
}

func TestPrincipalComesFromTheInnermostContext(t *testing.T) {
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

func TestOriginComesFromTheContext(t *testing.T) {
	t.Parallel()
	require.Zero(t, tenancy.OriginOf(t.Context()))
	from := tenancy.Origin{RequestID: "r", Remote: "192.0.2.1", Operation: "createClaim", Resource: "web"}
	require.Equal(t, from, tenancy.OriginOf(tenancy.WithOrigin(t.Context(), from)))
}

// A name does not identify a project. A role in one project gives no role in a later project that has the same name.
func TestHeldRoleAppliesToOneProject(t *testing.T) {
	t.Parallel()
	first, second := ipam.ProjectKey{ID: ipam.NewID(), Name: project}, ipam.ProjectKey{ID: ipam.NewID(), Name: project}
	in := func(held tenancy.Role, byName map[string]tenancy.Role) context.Context {
		return tenancy.WithPrincipal(t.Context(), tenancy.Principal{
			Subject: "somebody", Roles: byName, Held: map[string]tenancy.Held{project: {Project: first.ID, Role: held}},
		})
	}
	for action, need := range least {
		if need.in != project {
			continue
		}
		pass, err := tenancy.Authorize(in(tenancy.Admin, nil), action, project)
		require.NoError(t, err)
		require.NoError(t, pass.CheckProject(first), action)
		require.Equal(t, tenancy.ProjectNotFound(project), pass.CheckProject(second), action)
	}
	t.Run("ConfiguredRoleAppliesToTheProjectName", func(t *testing.T) {
		t.Parallel()
		pass, err := tenancy.Authorize(in(tenancy.Admin, map[string]tenancy.Role{project: tenancy.Viewer}), tenancy.PoolsRead, project)
		require.NoError(t, err)
		require.NoError(t, pass.CheckProject(first))
		require.NoError(t, pass.CheckProject(second))
	})
	t.Run("LargerRoleIsNotInherited", func(t *testing.T) {
		t.Parallel()
		pass, err := tenancy.Authorize(in(tenancy.Admin, map[string]tenancy.Role{project: tenancy.Viewer}), tenancy.PoolsWrite, project)
		require.NoError(t, err)
		require.NoError(t, pass.CheckProject(first))
		err = pass.CheckProject(second)
		require.Equal(t, ipam.CodePermissionDenied, ipam.CodeOf(err))
		require.ErrorContains(t, err, "with the role viewer there")
	})
	t.Run("PlatformRoleAppliesEverywhere", func(t *testing.T) {
		t.Parallel()
		ctx := tenancy.WithPrincipal(t.Context(), tenancy.Principal{
			Subject: "root", Held: map[string]tenancy.Held{platform: {Project: ipam.NewID(), Role: tenancy.Admin}},
		})
		pass, err := tenancy.Authorize(ctx, tenancy.ProjectsDelete, project)
		require.NoError(t, err)
		require.NoError(t, pass.CheckProject(second))
	})
}
