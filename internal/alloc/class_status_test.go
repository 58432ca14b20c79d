package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// statusOf returns the status of a class for a project, and requires that reads and lists agree.
func (b *bundle) statusOf(t testing.TB, in, name string) ipam.ClassStatus {
	t.Helper()
	c, err := b.GetClass(b.ctx, in, name, usecase.Reading{})
	require.NoError(t, err)
	page, err := b.ListClasses(b.ctx, in, paging.Filter{}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Contains(t, page.Items, c)
	return c.Status
}

func TestClassStatusIsExact(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("std"))
	b.class(t, project, class("narrow", within(26, 28)))
	b.class(t, project, class("wide", within(8, 15)))
	names := []string{"std", "narrow", "wide"}
	b.pool(t, root("net", "10.0.0.0/16", backing(names...)))
	for _, c := range []struct {
		name, total, available string
		largest                *int
	}{
		{"std", "65536", "65536", new(16)},
		{"narrow", "65536", "65536", new(26)},
		{"wide", "65536", "65536", nil},
	} {
		require.Equal(t, ipam.ClassStatus{BackingPools: 1, Total: c.total, Available: c.available, LargestFree: c.largest}, b.statusOf(t, project, c.name), c.name)
	}
	b.pool(t, root("other", "10.1.0.0/24", backing("std"), bounds(25, 30)))
	b.pool(t, child("inner", "net", 20, backing("std")))
	b.claim(t, claim("c", "net", 17))
	// Free are net without a /20 and a /17, all of inner (a /20), and all of other (a /24).
	require.Equal(t, ipam.ClassStatus{BackingPools: 3, Total: "65792", Available: "33024", LargestFree: new(18)}, b.statusOf(t, project, "std"))
	_, err := b.patch("net", usecase.Request{}, backing())
	require.NoError(t, err)
	require.Equal(t, ipam.ClassStatus{BackingPools: 2, Total: "4352", Available: "4352", LargestFree: new(20)}, b.statusOf(t, project, "std"))
	_, err = b.patch("inner", usecase.Request{}, backing())
	require.NoError(t, err)
	require.Equal(t, ipam.ClassStatus{BackingPools: 1, Total: "256", Available: "256", LargestFree: new(25)}, b.statusOf(t, project, "std"), "within the pool's bounds")
	b.claim(t, claim("half", "other", 25))
	b.claim(t, claim("rest", "other", 25))
	require.Equal(t, ipam.ClassStatus{BackingPools: 1, Total: "256", Available: "0"}, b.statusOf(t, project, "std"))
}

func TestClassStatusCountsPoolsVisibleToTheCaller(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.neighbour(t)
	b.class(t, ipam.PlatformProject, class("std", sharedClass))
	require.Equal(t, ipam.ClassStatus{Total: "0", Available: "0"}, b.statusOf(t, project, "std"))
	b.poolIn(t, ipam.PlatformProject, root("net", "10.0.0.0/24", backing("std")))
	b.pool(t, root("net", "10.0.0.0/25", backing("std")))
	b.poolIn(t, other, root("net", "10.0.0.0/26", backing("std")))
	for in, want := range map[string]ipam.ClassStatus{
		ipam.PlatformProject: {BackingPools: 1, Total: "256", Available: "256", LargestFree: new(24)},
		project:              {BackingPools: 2, Total: "384", Available: "384", LargestFree: new(24)},
		other:                {BackingPools: 2, Total: "320", Available: "320", LargestFree: new(24)},
	} {
		require.Equal(t, want, b.statusOf(t, in, "std"), in)
	}
	now, err := b.PatchClass(b.ctx, ipam.PlatformProject, "std", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) { c.Spec.Description = "x"; return c, nil })
	require.NoError(t, err)
	require.Equal(t, "256", now.Status.Total, "so is the answer to a change")
}

func TestScopedClassStatusCountsScopedPools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.neighbour(t)
	b.class(t, ipam.PlatformProject, class("std", sharedClass, poolPer(26, "cluster"), within(28, 32)))
	b.poolIn(t, ipam.PlatformProject, root("net", "10.0.0.0/24", backing("std")))
	require.Equal(t, ipam.ClassStatus{BackingPools: 1, Total: "256", Available: "256", LargestFree: new(28)}, b.statusOf(t, project, "std"))
	for name, cluster := range map[string]string{"a": "1", "b": "2", "c": "2"} {
		b.claim(t, byClass(name, "std", length(28), inScope("cluster", cluster)))
	}
	_, err := b.CreateClaim(b.ctx, other, byClass("a", "std", length(28), inScope("cluster", "1")), usecase.Request{})
	require.NoError(t, err)
	want := ipam.ClassStatus{BackingPools: 1, Total: "256", Available: "64", LargestFree: new(28)}
	for in, pools := range map[string]int64{project: 2, other: 1, ipam.PlatformProject: 3} {
		want.ScopedPools = pools
		require.Equal(t, want, b.statusOf(t, in, "std"), in)
	}
	e := refused(t, b.DeleteClass(b.ctx, ipam.PlatformProject, "std", usecase.Request{}), ipam.CodeInUse)
	require.Equal(t, []int64{4, 4}, []int64{*e.Figures.Pools, *e.Figures.Claims})
}
