package alloc_test

import (
	"context"
	"fmt"
	"math/big"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// holdings returns phase, block and claim of each allocation that a project holds. It reads pages of the given size.
func (b *bundle) holdings(ctx context.Context, t *testing.T, in string, f paging.Filter, limit int) []string {
	t.Helper()
	f.Own = true
	out := []string{}
	for _, a := range all(t, limit, func(n int, c string) (paging.Page[ipam.Allocation], error) {
		return b.ListAllocations(ctx, in, f, n, c, usecase.Reading{})
	}) {
		require.Equal(t, a.Pool.Project, a.Project, "the pool's project")
		out = append(out, fmt.Sprintf("%s %s %s of %s", a.Phase, a.Block, a.Holder, a.Pool))
	}
	return out
}

func TestProjectListsItsAllocationsInPoolsOfAnyProject(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	b.pool(t, root("own", "10.1.0.0/24"))
	third := b.acting("corp:third", tenancy.Admin, "third")
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("third")}, usecase.Request{})
	require.NoError(t, err)
	b.grant(t, "net", "third")
	_, err = b.CreateClaim(third, "third", claim("theirs", "net", 32, offered, retain), usecase.Request{}) // 10.0.0.0
	require.NoError(t, err)
	require.NoError(t, b.DeleteClaim(third, "third", "theirs", usecase.Request{}))
	_, err = b.CreateClaim(third, "third", claim("theirs", "net", 32, offered), usecase.Request{}) // 10.0.0.1
	require.NoError(t, err)

	for _, name := range []string{"b", "a", "kept-2", "kept-1", "gone"} { // 10.0.0.2 and following
		b.claim(t, claim(name, "net", 32, offered, func(c *ipam.Claim) {
			if name != "gone" {
				retain(c)
			}
		}))
	}
	b.claim(t, claim("c", "own", 32))
	b.claim(t, claim("kept-0", "own", 32, retain))
	for _, name := range []string{"kept-0", "kept-1", "kept-2", "gone"} {
		b.release(t, name)
	}
	retained := map[string]bool{}
	for _, s := range []string{
		"Retained 10.0.0.4/32 acme/kept-2 of umbrella/net", "Retained 10.0.0.5/32 acme/kept-1 of umbrella/net", "Retained 10.1.0.1/32 acme/kept-0 of acme/own",
	} {
		retained[s] = true
	}
	bound := []string{"Bound 10.0.0.3/32 acme/a of umbrella/net", "Bound 10.0.0.2/32 acme/b of umbrella/net", "Bound 10.1.0.0/32 acme/c of acme/own"}
	for _, limit := range []int{1, 2, 3, 4, 6, 100} {
		got := b.holdings(b.ctx, t, project, paging.Filter{}, limit)
		require.Len(t, got, 6, "in pages of %d", limit)
		for _, s := range got[:3] {
			require.True(t, retained[s], s)
		}
		require.Equal(t, bound, got[3:], "in pages of %d", limit)
		require.Equal(t, got[:3], b.holdings(b.ctx, t, project, paging.Filter{Phase: "Retained"}, limit))
		require.Equal(t, bound, b.holdings(b.ctx, t, project, paging.Filter{Phase: "Bound"}, limit))
	}
	for name, c := range map[string]struct {
		filter paging.Filter
		want   []string
	}{
		"CoolingDown":     {paging.Filter{Phase: "CoolingDown"}, []string{}},
		"ChildPools":      {paging.Filter{Purpose: ipam.PurposeChildPool}, []string{}},
		"Claims":          {paging.Filter{Purpose: ipam.PurposeClaim, Phase: "Bound"}, bound},
		"ForeignPool":     {paging.Filter{Pool: theirs("net"), Phase: "Bound"}, bound[:2]},
		"Contains":        {paging.Filter{Contains: address("10.0.0.3")}, bound[:1]},
		"ContainsOfOther": {paging.Filter{Contains: address("10.0.0.0")}, []string{}},
		"Within":          {paging.Filter{Within: block("10.0.0.0/31")}, []string{}},
		"OtherFamily":     {paging.Filter{Family: ipam.IPv6}, []string{}},
	} {
		require.Equal(t, c.want, b.holdings(b.ctx, t, project, c.filter, 2), name)
	}
	require.Equal(t, []string{"Retained 10.0.0.0/32 third/theirs of umbrella/net", "Bound 10.0.0.1/32 third/theirs of umbrella/net"},
		b.holdings(third, t, "third", paging.Filter{}, 1), "each its own")
	require.Empty(t, b.holdings(b.ctx, t, provider, paging.Filter{}, 10), "the owner of the pool holds nothing there")
	_, err = b.ListAllocations(third, project, paging.Filter{Own: true}, 10, "", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)

	b.revoke(t, "net", project)
	require.Len(t, b.holdings(b.ctx, t, project, paging.Filter{}, 10), 6, "it holds them whatever is granted, and they count in its quotas")
}

func TestOwnAllocationsShowOnlyFieldsVisibleToTheHolder(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	made := b.claim(t, claim("mine", "net", 32, offered, owned, retain))
	b.release(t, "mine")
	page, err := b.ListAllocations(b.ctx, project, paging.Filter{Own: true}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	one, err := b.GetAllocation(b.ctx, project, made.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, []ipam.Allocation{one}, page.Items, "the same as by its name")
	require.NoError(t, b.DeleteAllocation(b.ctx, project, page.Items[0].ID.String(), usecase.Request{}), "and it can be given back")
	require.Empty(t, b.holdings(b.ctx, t, project, paging.Filter{}, 10))
}

func TestForgedCursorListsOnlyOwnAllocations(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	third := b.acting("corp:third", tenancy.Admin, "third")
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("third")}, usecase.Request{})
	require.NoError(t, err)
	b.grant(t, "net", "third")
	for _, name := range []string{"a", "b"} {
		_, err := b.CreateClaim(third, "third", claim(name, "net", 32, offered, retain), usecase.Request{})
		require.NoError(t, err)
		require.NoError(t, b.DeleteClaim(third, "third", name, usecase.Request{}))
	}
	page, err := b.ListAllocations(third, "third", paging.Filter{Own: true}, 1, "", usecase.Reading{})
	require.NoError(t, err)
	require.NotEmpty(t, page.Next)
	mine, err := b.ListAllocations(b.ctx, project, paging.Filter{Own: true}, 1, page.Next, usecase.Reading{})
	if err != nil { // the server may refuse the cursor, or use it as a position in the caller's own list
		refused(t, err, ipam.CodeInvalidArgument)
		return
	}
	require.Empty(t, mine.Items)
}

func TestProjectDeleteRefusalExplainsHowToReturnForeignBlocks(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	b.claim(t, claim("one", "net", 32, offered, retain))
	b.claim(t, claim("two", "net", 31, offered, retain))
	b.release(t, "one")
	e := refused(t, b.DeleteProject(b.ctx, project, usecase.Request{}), ipam.CodeInUse)
	require.Contains(t, e.Message, "1 claim", "claims first")
	b.release(t, "two")
	e = refused(t, b.DeleteProject(b.ctx, project, usecase.Request{}), ipam.CodeInUse)
	require.Contains(t, e.Message, "3 retained addresses")
	require.Contains(t, e.Message, "holder=self")
	list := b.holdings(b.ctx, t, project, paging.Filter{Contains: address("10.0.0.0")}, 1)
	require.Len(t, list, 1)
	page, err := b.ListAllocations(b.ctx, project, paging.Filter{Own: true}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	total := new(big.Int)
	for _, a := range page.Items {
		if a.Block.IsSingleIP() {
			continue
		}
		require.NoError(t, b.DeleteAllocation(b.ctx, project, a.ID.String(), usecase.Request{}))
		total.Add(total, big.NewInt(2))
	}
	require.Equal(t, "2", total.String())
	e = refused(t, b.DeleteProject(b.ctx, project, usecase.Request{}), ipam.CodeInUse)
	require.Contains(t, e.Message, "1 retained address")
	require.NoError(t, b.DeleteAllocation(b.ctx, project, page.Items[0].ID.String(), usecase.Request{}))
	require.NoError(t, b.DeleteProject(b.ctx, project, usecase.Request{}))
}

// The event of a release names the claim's allocation, which the release retains or ends.
func TestTrailOfAReleaseNamesItsAllocation(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	kept := b.claim(t, claim("kept", "net", 32, offered, retain))
	gone := b.claim(t, claim("gone", "net", 32, offered))
	b.release(t, "kept")
	b.release(t, "gone")
	page, err := b.ListEvents(b.ctx, project, trail.EventFilter{Kind: "IPClaim"}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	released := map[string]string{}
	for _, e := range page.Items {
		if e.After == nil {
			released[e.Name] = string(e.Before)
		}
	}
	for name, c := range map[string]ipam.Claim{"kept": kept, "gone": gone} {
		require.Contains(t, released[name], `"allocationRef":{"project":"umbrella","name":"`+c.AllocationID.String()+`"}`)
	}
}
