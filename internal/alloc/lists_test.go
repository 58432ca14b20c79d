package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// all reads a list to its end. Its pages have at most limit items.
func all[T any](t testing.TB, limit int, list func(limit int, cursor string) (paging.Page[T], error)) []T {
	t.Helper()
	out, cursor := []T{}, ""
	for {
		page, err := list(limit, cursor)
		require.NoError(t, err)
		require.LessOrEqual(t, len(page.Items), limit)
		require.NotNil(t, page.Items)
		out = append(out, page.Items...)
		if page.Next == "" {
			return out
		}
		require.NotEqual(t, cursor, page.Next, "a page goes on")
		cursor = page.Next
	}
}

func (b *bundle) pools(t testing.TB, limit int, f paging.Filter) []string {
	t.Helper()
	names := []string{}
	for _, p := range all(t, limit, func(n int, c string) (paging.Page[ipam.Pool], error) {
		return b.ListPools(b.ctx, project, f, n, c, usecase.Reading{})
	}) {
		names = append(names, p.Name)
	}
	return names
}

func (b *bundle) claims(t testing.TB, limit int, f paging.Filter) []string {
	t.Helper()
	names := []string{}
	for _, c := range all(t, limit, func(n int, c string) (paging.Page[ipam.Claim], error) {
		return b.ListClaims(b.ctx, project, f, n, c, usecase.Reading{})
	}) {
		names = append(names, c.Name)
	}
	return names
}

func (b *bundle) allocations(t testing.TB, limit int, f paging.Filter) []string {
	t.Helper()
	blocks := []string{}
	for _, a := range all(t, limit, func(n int, c string) (paging.Page[ipam.Allocation], error) {
		return b.ListAllocations(b.ctx, project, f, n, c, usecase.Reading{})
	}) {
		blocks = append(blocks, a.Block.String())
	}
	return blocks
}

// setupPlan makes some pools and claims, for tests of the filters.
func setupPlan(t *testing.T) *bundle {
	t.Helper()
	b := setup(t)
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, usecase.Request{})
	require.NoError(t, err)
	b.pool(t, root("a-net", "10.0.0.0/16", labelled("site", "fra")))
	b.pool(t, childAt("b-sub", "a-net", "10.0.16.0/20", labelled("site", "fra", "tier", "prod")))
	b.pool(t, childAt("c-host", "b-sub", "10.0.16.0/32"))
	b.pool(t, root("d-blue", "10.0.0.0/16", inSpace("blue")))
	b.pool(t, root("e-six", "2001:db8::/32", reserving(ipam.Reservation{First: 1})))
	b.claim(t, claimOf("z-first", "a-net", exactly("10.0.0.0/24"), withLabels("app", "web")))
	b.claim(t, claimOf("y-second", "a-net", exactly("10.0.1.0/24"), withLabels("app", "db")))
	b.claim(t, claimOf("x-in-sub", "b-sub", exactly("10.0.17.0/24")))
	b.claim(t, claimOf("w-full", "c-host", length(32), retain))
	b.claim(t, claimOf("v-blue", "d-blue", exactly("10.0.0.0/20")))
	b.claim(t, claimOf("u-six", "e-six", exactly("2001:db8:1::/48")))
	b.claim(t, claimOf("t-kept", "e-six", exactly("2001:db8:2::/48"), retain))
	b.release(t, "t-kept")
	return b
}

func TestPoolListFilters(t *testing.T) {
	t.Parallel()
	b := setupPlan(t)
	site := requiring(ipam.Requirement{Key: "site", Operator: ipam.OpExists}, ipam.Requirement{Key: "tier", Operator: ipam.OpNotIn, Values: []string{"prod"}})
	for _, c := range []struct {
		name   string
		filter paging.Filter
		want   []string
	}{
		{"None", paging.Filter{}, []string{"a-net", "b-sub", "c-host", "d-blue", "e-six"}},
		{"Labels", paging.Filter{Labels: &site}, []string{"a-net"}},
		{"Ready", paging.Filter{Phase: "Ready"}, []string{"a-net", "b-sub", "d-blue", "e-six"}},
		{"Exhausted", paging.Filter{Phase: "Exhausted"}, []string{"c-host"}},
		{"IPv4", paging.Filter{Family: ipam.IPv4}, []string{"a-net", "b-sub", "c-host", "d-blue"}},
		{"IPv6", paging.Filter{Family: ipam.IPv6}, []string{"e-six"}},
		{"Space", paging.Filter{Space: ref("blue")}, []string{"d-blue"}},
		{"Parent", paging.Filter{Parent: ref("a-net")}, []string{"b-sub"}},
		{"Within", paging.Filter{Within: block("10.0.16.0/20")}, []string{"b-sub", "c-host"}},
		{"WithinTheOtherFamily", paging.Filter{Within: block("::/0")}, []string{"e-six"}},
		{"Contains", paging.Filter{Contains: address("10.0.17.1")}, []string{"a-net", "b-sub", "d-blue"}},
		{"ContainsOfTheOtherFamily", paging.Filter{Contains: address("2001:db8::1")}, []string{"e-six"}},
		{"Together", paging.Filter{Family: ipam.IPv4, Space: ref("default"), Contains: address("10.0.17.1"), Phase: "Ready"}, []string{"a-net", "b-sub"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, limit := range []int{1, 2, 100} {
				require.Equal(t, c.want, b.pools(t, limit, c.filter), "in pages of %d", limit)
			}
		})
	}
}

func TestClaimListFilters(t *testing.T) {
	t.Parallel()
	b := setupPlan(t)
	app := requiring(ipam.Requirement{Key: "app", Operator: ipam.OpIn, Values: []string{"web", "mail"}})
	for _, c := range []struct {
		name   string
		filter paging.Filter
		want   []string
	}{
		{"ByName", paging.Filter{}, []string{"u-six", "v-blue", "w-full", "x-in-sub", "y-second", "z-first"}},
		{"OfAPoolByAddress", paging.Filter{Pool: ref("a-net")}, []string{"z-first", "y-second"}},
		{"OfAPoolWithout", paging.Filter{Pool: ref("e-six"), Labels: &app}, []string{}},
		{"Labels", paging.Filter{Labels: &app}, []string{"z-first"}},
		{"Bound", paging.Filter{Phase: "Bound", Family: ipam.IPv6}, []string{"u-six"}},
		{"Retained", paging.Filter{Phase: "Retained"}, []string{}},
		{"Within", paging.Filter{Within: block("10.0.0.0/23")}, []string{"y-second", "z-first"}},
		{"WithinInAPool", paging.Filter{Pool: ref("a-net"), Within: block("10.0.1.0/24")}, []string{"y-second"}},
		{"WithinInAPoolOfTheOtherFamily", paging.Filter{Pool: ref("a-net"), Within: block("2001:db8::/32")}, []string{}},
		{"WithinOutsideThePool", paging.Filter{Pool: ref("a-net"), Within: block("10.9.0.0/24")}, []string{}},
		{"Contains", paging.Filter{Contains: address("10.0.1.255")}, []string{"v-blue", "y-second"}},
		{"ContainsInAPool", paging.Filter{Pool: ref("d-blue"), Contains: address("10.0.1.255")}, []string{"v-blue"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, limit := range []int{1, 2, 100} {
				require.Equal(t, c.want, b.claims(t, limit, c.filter), "in pages of %d", limit)
			}
		})
	}
}

func TestAllocationListFilters(t *testing.T) {
	t.Parallel()
	b := setupPlan(t)
	for _, c := range []struct {
		name   string
		filter paging.Filter
		want   []string
	}{
		{"OfAPoolByAddress", paging.Filter{Pool: ref("a-net")}, []string{"10.0.0.0/24", "10.0.1.0/24", "10.0.16.0/20"}},
		{"OfAPoolOfIPv6", paging.Filter{Pool: ref("e-six")}, []string{"2001:db8::/128", "2001:db8:1::/48", "2001:db8:2::/48"}},
		{"Reservations", paging.Filter{Purpose: ipam.PurposeReservation}, []string{"2001:db8::/128"}},
		{"ChildPools", paging.Filter{Pool: ref("a-net"), Purpose: ipam.PurposeChildPool}, []string{"10.0.16.0/20"}},
		{"Retained", paging.Filter{Phase: "Retained"}, []string{"2001:db8:2::/48"}},
		{"RetainedInAPool", paging.Filter{Pool: ref("e-six"), Phase: "Retained"}, []string{"2001:db8:2::/48"}},
		{"BoundInAPool", paging.Filter{Pool: ref("e-six"), Phase: "Bound", Purpose: ipam.PurposeClaim}, []string{"2001:db8:1::/48"}},
		{"WithinInAPool", paging.Filter{Pool: ref("a-net"), Within: block("10.0.0.0/23")}, []string{"10.0.0.0/24", "10.0.1.0/24"}},
		{"ContainsInAPool", paging.Filter{Pool: ref("a-net"), Contains: address("10.0.20.0")}, []string{"10.0.16.0/20"}},
		{"ContainsTheLastAddressOfABlock", paging.Filter{Pool: ref("a-net"), Contains: address("10.0.0.255")}, []string{"10.0.0.0/24"}},
		{"ContainsAFreeAddress", paging.Filter{Pool: ref("a-net"), Contains: address("10.0.2.0")}, []string{}},
		{"ContainsAfterAllBlocks", paging.Filter{Pool: ref("a-net"), Contains: address("10.0.255.255")}, []string{}},
		{"ContainsOutsideOfThePool", paging.Filter{Pool: ref("a-net"), Contains: address("11.0.0.1")}, []string{}},
		{"ContainsOfTheOtherFamilyInAPool", paging.Filter{Pool: ref("a-net"), Contains: address("2001:db8::1")}, []string{}},
		{"ContainsOfIPv6InAPool", paging.Filter{Pool: ref("e-six"), Contains: address("2001:db8:1:ffff::1")}, []string{"2001:db8:1::/48"}},
		{"ContainsAndWithin", paging.Filter{Pool: ref("a-net"), Contains: address("10.0.20.0"), Within: block("10.0.0.0/23")}, []string{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			for _, limit := range []int{1, 2, 100} {
				require.Equal(t, c.want, b.allocations(t, limit, c.filter), "in pages of %d", limit)
			}
		})
	}
	t.Run("OfTheProjectWithoutItsRootPools", func(t *testing.T) {
		want := []string{
			"10.0.0.0/24", "10.0.1.0/24", "10.0.16.0/20", "10.0.16.0/32", "10.0.17.0/24", "10.0.16.0/32", "10.0.0.0/20",
			"2001:db8::/128", "2001:db8:1::/48", "2001:db8:2::/48",
		}
		for _, limit := range []int{1, 3, 100} {
			require.ElementsMatch(t, want, b.allocations(t, limit, paging.Filter{}))
		}
	})
}

func TestProjectsAndSpacesAreListedByName(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i, name := range []string{"c", "a", "b"} {
		_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: ipam.Metadata{Name: name, Labels: labels("n", fmt.Sprint(i))}}, usecase.Request{})
		require.NoError(t, err)
		_, err = b.CreateSpace(b.ctx, project, ipam.Space{Metadata: ipam.Metadata{Name: name, Labels: labels("n", fmt.Sprint(i))}}, usecase.Request{})
		require.NoError(t, err)
	}
	some := requiring(ipam.Requirement{Key: "n", Operator: ipam.OpIn, Values: []string{"0", "1"}})
	for filter, want := range map[*ipam.Selector][2][]string{
		nil:   {{"a", "acme", "b", "c", "platform"}, {"a", "b", "c", "default"}},
		&some: {{"a", "c"}, {"a", "c"}},
	} {
		for _, limit := range []int{1, 2, 100} {
			var projects, spaces []string
			for _, p := range all(t, limit, func(n int, c string) (paging.Page[ipam.Project], error) {
				return b.ListProjects(b.ctx, paging.Filter{Labels: filter}, n, c, usecase.Reading{})
			}) {
				projects = append(projects, p.Name)
			}
			for _, s := range all(t, limit, func(n int, c string) (paging.Page[ipam.Space], error) {
				return b.ListSpaces(b.ctx, project, paging.Filter{Labels: filter}, n, c, usecase.Reading{})
			}) {
				require.Equal(t, project, s.Project)
				spaces = append(spaces, s.Name)
			}
			require.Equal(t, want, [2][]string{projects, spaces})
		}
	}
}

func TestFreeBlocksAreListedLargestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claimOf("c", "net", hostAddress("10.0.0.100")))
	want := []string{
		"10.0.0.128/25", "10.0.0.0/26", "10.0.0.64/27", "10.0.0.112/28", "10.0.0.104/29", "10.0.0.96/30", "10.0.0.102/31", "10.0.0.101/32",
	}
	for _, limit := range []int{1, 3, 8, 100} {
		var got []string
		for cursor := ""; ; {
			page, err := b.GetPoolFree(b.ctx, project, "net", nil, limit, cursor, usecase.Reading{})
			require.NoError(t, err)
			require.Equal(t, "255", page.Pool.Stock.Available(32).String())
			got = append(got, texts(page.Blocks)...)
			if cursor = page.Next; cursor == "" {
				break
			}
		}
		require.Equal(t, want, got)
	}
	bits := 27
	page, err := b.GetPoolFree(b.ctx, project, "net", &bits, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, want[:3], texts(page.Blocks), "those that can hold the length")
	for _, bad := range []int{23, 33} {
		_, err := b.GetPoolFree(b.ctx, project, "net", &bad, 100, "", usecase.Reading{})
		refused(t, err, ipam.CodeInvalidArgument)
	}
	_, err = b.GetPoolFree(b.ctx, project, "none", nil, 100, "", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
}

func TestSharedPoolListIsCompleteOverSeveralPages(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/8"))
	want := []string{}
	for i := range 12 {
		name, options := fmt.Sprintf("sub-%02d", i), []poolOption{}
		if i%5 == 1 {
			want, options = append(want, name), append(options, visible(ipam.VisibilityShared))
		}
		b.pool(t, childAt(name, "net", fmt.Sprintf("10.%d.0.0/16", i), options...))
	}
	require.Equal(t, want, b.pools(t, 2, paging.Filter{Visibility: ipam.VisibilityShared}))
	require.Len(t, b.pools(t, 5, paging.Filter{Visibility: ipam.VisibilityConsumer}), 13-len(want))
}
