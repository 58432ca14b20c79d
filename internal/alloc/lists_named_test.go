package alloc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// listed reads one list with a filter. It returns the number of items, or the refusal.
type listed func(ctx context.Context, project string, f paging.Filter) (int, error)

func (b *bundle) lists() map[string]listed {
	return map[string]listed{
		"pools": func(ctx context.Context, in string, f paging.Filter) (int, error) {
			page, err := b.ListPools(ctx, in, f, 10, "", usecase.Reading{})
			return len(page.Items), err
		},
		"claims": func(ctx context.Context, in string, f paging.Filter) (int, error) {
			page, err := b.ListClaims(ctx, in, f, 10, "", usecase.Reading{})
			return len(page.Items), err
		},
		"allocations": func(ctx context.Context, in string, f paging.Filter) (int, error) {
			page, err := b.ListAllocations(ctx, in, f, 10, "", usecase.Reading{})
			return len(page.Items), err
		},
		"holdings": func(ctx context.Context, in string, f paging.Filter) (int, error) {
			f.Own = true
			page, err := b.ListAllocations(ctx, in, f, 10, "", usecase.Reading{})
			return len(page.Items), err
		},
	}
}

// A cleanup script trusts an empty list, so a misspelt name in a filter would be dangerous. The server refuses a filter by a missing name, and names
// the parameter.
func TestFilterByAMissingNameIsRefusedByParameter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("std"))
	b.pool(t, root("net", "10.0.0.0/16", backing("std")))
	b.claim(t, claim("one", "net", 24))
	for name, c := range map[string]struct {
		f     paging.Filter
		in    []string
		param string
		what  string
	}{
		"APool":                 {paging.Filter{Pool: ref("typo")}, []string{"claims", "allocations", "holdings"}, "query:pool", `"typo"`},
		"APoolOfAnother":        {paging.Filter{Pool: ipam.Ref{Project: other, Name: "typo"}}, []string{"claims", "allocations", "holdings"}, "query:pool", `"` + other + `/typo"`},
		"APoolOfNobody":         {paging.Filter{Pool: ipam.Ref{Project: "nobody", Name: "net"}}, []string{"claims", "allocations", "holdings"}, "query:pool", `"nobody/net"`},
		"AClass":                {paging.Filter{Class: "typo"}, []string{"pools", "claims", "allocations", "holdings"}, "query:class", `"typo"`},
		"AClassWithinAPool":     {paging.Filter{Pool: ref("net"), Class: "typo"}, []string{"claims", "allocations", "holdings"}, "query:class", `"typo"`},
		"ASpace":                {paging.Filter{Space: ref("typo")}, []string{"pools"}, "query:space", `"typo"`},
		"ASpaceOfAnother":       {paging.Filter{Space: ipam.Ref{Project: other, Name: "default"}}, []string{"pools"}, "query:space", `"` + other + `/default"`},
		"AParent":               {paging.Filter{Parent: ref("typo")}, []string{"pools"}, "query:parent", `"typo"`},
		"AParentOfAnother":      {paging.Filter{Parent: ipam.Ref{Project: other, Name: "net"}}, []string{"pools"}, "query:parent", `"` + other + `/net"`},
		"WithAnImpossiblePhase": {paging.Filter{Class: "typo", Phase: string(ipam.PhaseCoolingDown)}, []string{"holdings"}, "query:class", `"typo"`},
	} {
		for _, list := range c.in {
			t.Run(name+"/"+list, func(t *testing.T) {
				t.Parallel()
				_, err := b.lists()[list](b.ctx, project, c.f)
				e := refused(t, err, ipam.CodeInvalidArgument)
				require.Len(t, e.Fields, 1)
				require.Equal(t, c.param, e.Fields[0].Pointer)
				require.Contains(t, e.Fields[0].Detail, c.what)
			})
		}
	}
	t.Run("BothNamesAreReported", func(t *testing.T) {
		t.Parallel()
		_, err := b.ListPools(b.ctx, project, paging.Filter{Parent: ref("typo"), Space: ref("typo")}, 10, "", usecase.Reading{})
		require.Len(t, refused(t, err, ipam.CodeInvalidArgument).Fields, 2)
	})
}

// A filter by an existing name without matches returns an empty list.
func TestFilterByAnExistingNameMayReturnAnEmptyList(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	b.class(t, project, class("std"))
	b.class(t, ipam.PlatformProject, class("open", sharedClass))
	b.pool(t, root("net", "10.0.0.0/16", visible(ipam.VisibilityShared)))
	_, err := b.PutPoolGrant(b.ctx, project, "net", other, usecase.Request{})
	require.NoError(t, err)
	for name, f := range map[string]paging.Filter{
		"APool": {Pool: ref("net"), Parent: ref("net")}, "AClass": {Class: "std"}, "AClassOfThePlatform": {Class: "open"}, "ASpace": {Space: ref("default")}, "AParent": {Parent: ref("net")},
	} {
		for list, ask := range b.lists() {
			if f.Space.Name != "" && list != "pools" {
				continue
			}
			if f.Space.Name != "" {
				f.Phase = "Error" // the space contains a pool, so another filter makes the list empty
			}
			n, err := ask(b.ctx, project, f)
			require.NoError(t, err, "%s %s", name, list)
			require.Zero(t, n, "%s %s", name, list)
		}
	}
	n, err := b.lists()["claims"](neighbour, other, paging.Filter{Pool: ref("net")})
	require.NoError(t, err, "granted")
	require.Zero(t, n)
}

// A filter by another project's pool must not reveal whether the pool exists.
func TestFilterByAForeignNameIsRefusedLikeAMissingOne(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	b.class(t, project, class("std"))
	b.pool(t, root("net", "10.0.0.0/16", backing("std")))
	b.pool(t, root("open", "10.1.0.0/16", visible(ipam.VisibilityShared))) // shared, but granted to no project
	for list, ask := range b.lists() {
		_, missing := ask(neighbour, other, paging.Filter{Pool: ref("typo"), Parent: ref("typo"), Class: "typo"})
		refused(t, missing, ipam.CodeInvalidArgument)
		for _, name := range []string{"net", "open"} {
			_, foreign := ask(neighbour, other, paging.Filter{Pool: ref(name), Parent: ref(name), Class: "std"})
			e := refused(t, foreign, ipam.CodeInvalidArgument)
			require.Len(t, e.Fields, len(refused(t, missing, ipam.CodeInvalidArgument).Fields), list)
		}
	}
}

// After the grant of a pool is deleted, a filter by this pool still finds the project's claims on it. After the last of these claims is released, the
// server refuses the filter.
func TestFilterAcceptsARevokedPoolThatClaimsStillUse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	b.pool(t, root("net", "10.0.0.0/16", visible(ipam.VisibilityShared)))
	_, err := b.PutPoolGrant(b.ctx, project, "net", other, usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreateClaim(neighbour, other, claim("kept", "net", 24), usecase.Request{})
	require.NoError(t, err)
	require.NoError(t, b.DeletePoolGrant(b.ctx, project, "net", other, usecase.Request{}))
	for _, list := range []string{"claims", "holdings"} {
		n, err := b.lists()[list](neighbour, other, paging.Filter{Pool: ref("net")})
		require.NoError(t, err)
		require.Equal(t, 1, n, list)
	}
	require.NoError(t, b.DeleteClaim(neighbour, other, "kept", usecase.Request{}))
	_, err = b.lists()["claims"](neighbour, other, paging.Filter{Pool: ref("net")})
	refused(t, err, ipam.CodeInvalidArgument)
}
