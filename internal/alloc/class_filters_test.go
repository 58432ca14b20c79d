package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestListsFilterByClass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("std"))
	b.class(t, project, class("big"))
	b.class(t, project, class("per", poolPer(26)))
	b.pool(t, root("a", "10.0.0.0/16", backing("std")))
	b.pool(t, root("b", "10.1.0.0/16", backing("big", "std")))
	b.pool(t, root("c", "10.2.0.0/16"))
	b.pool(t, root("d", "10.3.0.0/16", backing("per")))
	b.claim(t, byClass("by-std", "std", length(24)))
	b.claim(t, byClass("by-big", "big", length(24)))
	scoped := b.claim(t, byClass("by-per", "per", length(28)))
	b.claim(t, claim("by-pool", "a", 24))
	for class, want := range map[string]struct{ pools, claims []string }{
		"std": {[]string{"a", "b"}, []string{"by-std"}},
		"big": {[]string{"b"}, []string{"by-big"}},
		"per": {[]string{"d", scoped.Pool.Name}, []string{"by-per"}},
	} {
		f := paging.Filter{Class: class}
		pools, held := []string{}, []string{}
		for _, p := range all(t, 2, func(n int, c string) (paging.Page[ipam.Pool], error) {
			return b.ListPools(b.ctx, project, f, n, c, usecase.Reading{})
		}) {
			pools = append(pools, p.Name)
		}
		require.Equal(t, want.pools, pools, class)
		require.Equal(t, want.claims, names(all(t, 2, func(n int, c string) (paging.Page[ipam.Claim], error) {
			return b.ListClaims(b.ctx, project, f, n, c, usecase.Reading{})
		})), class)
		for _, a := range all(t, 2, func(n int, c string) (paging.Page[ipam.Allocation], error) {
			return b.ListAllocations(b.ctx, project, f, n, c, usecase.Reading{})
		}) {
			held = append(held, a.Holder.Name)
		}
		require.Equal(t, want.claims, held, class)
	}
	f := paging.Filter{Class: "std", Pool: ref("a")}
	require.Equal(t, []string{"by-std"}, names(all(t, 2, func(n int, c string) (paging.Page[ipam.Claim], error) {
		return b.ListClaims(b.ctx, project, f, n, c, usecase.Reading{})
	})), "in one pool")
	f.Pool = ref("b")
	require.Empty(t, all(t, 2, func(n int, c string) (paging.Page[ipam.Claim], error) {
		return b.ListClaims(b.ctx, project, f, n, c, usecase.Reading{})
	}))
}

func ofClass(c ipam.Ref) quotaOption { return func(s *ipam.QuotaSpec) { s.Scope.Class = c } }

func TestQuotaOfAClassCountsEarlierClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, ipam.PlatformProject, class("std", sharedClass))
	b.class(t, project, class("own"))
	b.pool(t, root("net", "10.0.0.0/16", backing("std", "own")))
	b.claim(t, byClass("before", "std", length(24)))
	b.claim(t, byClass("other", "own", length(24)))
	std := ipam.Ref{Project: ipam.PlatformProject, Name: "std"}
	made := b.set(t, quota("q", maxClaims(2), ofClass(std)))
	require.Equal(t, [3]string{"256", "1", "0"}, figures(made.Used), "what is held already")
	b.set(t, quota("no-such", maxClaims(0), ofClass(ipam.Ref{Project: other, Name: "std"}))) // a class with the same name in another project
	b.claim(t, byClass("second", "std", length(25)))
	e := b.refuseClaim(t, byClass("third", "std", length(25)), ipam.CodeQuotaExceeded)
	require.Equal(t, "acme/q", e.Figures.Quota)
	b.claim(t, byClass("more", "own", length(25)))
	b.claim(t, claim("by-pool", "net", 25))
	require.Equal(t, [3]string{"384", "2", "0"}, b.usage(t, "q"))
	b.release(t, "second")
	require.Equal(t, [3]string{"256", "1", "0"}, b.usage(t, "q"))
	b.claim(t, byClass("third", "std", length(25)))
	read, err := b.GetQuota(b.ctx, project, "q")
	require.NoError(t, err)
	require.Equal(t, ipam.QuotaScope{Class: std}, read.Spec.Scope)

	for _, wrong := range []ipam.Ref{{Project: "acme"}, {Name: "std"}, {Project: "Acme", Name: "std"}, {Project: "acme", Name: "s/td"}} {
		_, err := b.PutQuota(b.ctx, project, quota("x", maxClaims(1), ofClass(wrong)), usecase.Request{})
		require.Equal(t, "/spec/scope/classRef", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
	}
	_, err = b.PutQuota(b.ctx, project, quota("q", maxClaims(2), ofClass(ref("own"))), usecase.Request{})
	require.Equal(t, "/spec/scope", refused(t, err, ipam.CodeImmutableField).Fields[0].Pointer)
}
