package tenancy_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestEachRoleIncludesTheOnesBeforeIt(t *testing.T) {
	t.Parallel()
	all := tenancy.Roles()
	require.Equal(t, []tenancy.Role{"viewer", "consumer", "provider", "admin"}, all)
	for i, a := range all {
		require.True(t, a.Valid())
		for j, b := range all {
			require.Equal(t, i >= j, a.Includes(b), "%s includes %s", a, b)
			require.Equal(t, all[max(i, j)], tenancy.Larger(a, b))
		}
		for _, no := range []tenancy.Role{"", "owner", "Admin"} {
			require.False(t, no.Valid())
			require.False(t, a.Includes(no), "%s includes %q", a, no)
			require.False(t, no.Includes(a), "%q includes %s", no, a)
			require.False(t, no.Includes(no))
			require.Equal(t, a, tenancy.Larger(a, no))
			require.Equal(t, a, tenancy.Larger(no, a))
		}
	}
}

func TestPlatformAdminIsAdminEverywhere(t *testing.T) {
	t.Parallel()
	root := tenancy.Principal{Roles: map[string]tenancy.Role{"platform": tenancy.Admin, "acme": tenancy.Viewer}}
	require.True(t, root.PlatformAdmin())
	require.Equal(t, tenancy.Admin, root.RoleIn("acme"), "the larger role counts")
	require.Equal(t, tenancy.Admin, root.RoleIn("other"))
	require.True(t, tenancy.System().PlatformAdmin())
	some := tenancy.Principal{Roles: map[string]tenancy.Role{"platform": tenancy.Provider, "acme": tenancy.Viewer, "b": tenancy.Admin}}
	require.False(t, some.PlatformAdmin())
	require.Equal(t, tenancy.Viewer, some.RoleIn("acme"))
	require.Empty(t, some.RoleIn("other"))
	require.Equal(t, []string{"acme", "b", "platform"}, some.Projects())
	require.Empty(t, tenancy.Principal{}.Projects())
}
