package alloc_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/netip"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/freespace"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// finds returns a line for each search result of a text. A line has the kind, the project and name, the reason and the block.
func (b *bundle) finds(ctx context.Context, t testing.TB, text string) []string {
	t.Helper()
	found, err := b.Search(ctx, search.Query{Text: text, Limit: 100}, usecase.Reading{})
	require.NoError(t, err)
	require.False(t, found.Truncated)
	lines := []string{}
	for _, i := range found.Items {
		name := i.Name
		if i.Kind == trail.KindAllocation {
			name = string(i.Purpose) + " " + string(i.Phase) + " " + i.Consumer
		}
		line := fmt.Sprintf("%s %s/%s %s", i.Kind, i.Project, name, i.Why)
		if i.Block.IsValid() {
			line += " " + i.Block.String()
		}
		lines = append(lines, line)
	}
	return lines
}

func TestSearchFindsTheHolderOfAnAddress(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour, own := b.neighbour(t), b.acting("corp:own", tenancy.Viewer, project)
	b.pool(t, root("net", "10.0.0.0/8"))
	b.pool(t, childAt("shared", "net", "10.1.0.0/16", visible(ipam.VisibilityShared), reserving(ipam.Reservation{CIDR: block("10.1.255.0/24")})))
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("lab")}, usecase.Request{})
	require.NoError(t, err)
	b.pool(t, root("lab", "10.1.0.0/24", inSpace("lab")))
	_, err = b.PutPoolGrant(b.ctx, project, "shared", other, usecase.Request{})
	require.NoError(t, err)
	b.claim(t, claimOf("mine", "shared", exactly("10.1.1.0/24")))
	b.claim(t, claimOf("lab", "lab", hostAddress("10.1.0.7")))
	_, err = b.CreateClaim(neighbour, other, claimOf("theirs", "shared", exactly("10.1.2.0/24")), usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreateClaim(neighbour, other, claimOf("kept", "shared", exactly("10.1.3.0/24"), retain), usecase.Request{})
	require.NoError(t, err)
	require.NoError(t, b.DeleteClaim(neighbour, other, "kept", usecase.Request{}))

	in, chain := "IPPool "+project+"/", []string{"IPPool " + project + "/shared Contains 10.1.0.0/16", "IPPool " + project + "/net Contains 10.0.0.0/8"}
	with := func(first ...string) []string { return append(first, chain...) }
	theirs := "IPClaim " + other + "/theirs Holds 10.1.2.0/24"
	for _, c := range []struct {
		who  context.Context
		text string
		want []string
	}{
		{own, "10.1.1.9", with("IPClaim " + project + "/mine Holds 10.1.1.0/24")},
		{own, " 10.1.1.0/24 ", with("IPClaim " + project + "/mine Block 10.1.1.0/24")},
		{own, "10.1.1.9/25", with("IPClaim " + project + "/mine Holds 10.1.1.0/24")},
		{own, "10.1.0.0/23", chain},
		{own, "10.1.0.0/16", []string{in + "shared Block 10.1.0.0/16", in + "net Contains 10.0.0.0/8"}},
		{own, "10.1.0.7", with("IPClaim "+project+"/lab Holds 10.1.0.7/32", in+"lab Contains 10.1.0.0/24")},
		{own, "10.1.2.1", with("IPAllocation " + project + "/Claim Bound " + other + " Holds 10.1.2.0/24")},
		{own, "10.1.3.1", with("IPAllocation " + project + "/Claim Retained " + other + " Holds 10.1.3.0/24")},
		{own, "10.1.255.1", with("IPAllocation " + project + "/Reservation Bound  Holds 10.1.255.0/24")},
		{own, project + "/10.1.1.9", with("IPClaim " + project + "/mine Holds 10.1.1.0/24")},
		{own, other + "/10.1.2.1", nil},
		{own, "192.0.2.1", nil},
		{own, "2001:db8::1", nil},
		{neighbour, "10.1.1.9", nil},
		{neighbour, "10.1.2.1", []string{theirs}},
		{neighbour, "10.1.3.1", []string{"IPAllocation " + other + "/Claim Retained " + other + " Holds 10.1.3.0/24"}},
		{neighbour, "10.1.255.1", nil},
		{neighbour, project + "/10.1.2.1", nil},
		{b.ctx, "10.1.2.1", with(theirs)},
		{b.ctx, project + "/10.1.2.1", with(theirs)},
		{b.ctx, "::ffff:10.1.2.1", with(theirs)},
	} {
		require.ElementsMatch(t, c.want, b.finds(c.who, t, c.text), c.text)
		if len(c.want) > 0 {
			require.Equal(t, c.want, b.finds(c.who, t, c.text), c.text)
		}
	}
	found, err := b.Search(own, search.Query{Text: "10.1.1.9", Limit: 2}, usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, found.Items, 2)
	require.True(t, found.Truncated)
	require.Equal(t, search.Item{
		Kind: trail.KindPool, Project: project, Name: "shared", Block: block("10.1.0.0/16"), Pool: ref("net"), Space: ref("default"), Why: search.ReasonContains,
	}, found.Items[1])
}

func TestSearchFindsNames(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour, own := b.neighbour(t), b.acting("corp:own", tenancy.Viewer, project)
	b.pool(t, root("web", "10.0.0.0/16", labelled("env", "prod")))
	b.pool(t, root("web-eu", "10.1.0.0/16", labelled("env", "test")))
	b.class(t, project, class("web-class"))
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("web-space")}, usecase.Request{})
	require.NoError(t, err)
	b.claim(t, claim("web", "web", 24))
	b.claim(t, claim("web-1", "web", 24))
	b.claim(t, claim("wea", "web", 24))
	b.claim(t, claim("wec", "web", 24))
	_, err = b.PutConsumer(b.ctx, project, ipam.NewConsumer{Ref: ipam.ConsumerRef{Realm: ipam.DefaultRealm, UID: "Web_7"}}, usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreatePool(b.ctx, other, root("web", "10.0.0.0/16", labelled("env", "prod")), usecase.Request{})
	require.NoError(t, err)

	all := []string{
		"IPClaim " + project + "/web Name 10.0.0.0/24", "IPPool " + project + "/web Name 10.0.0.0/16", "IPClaim " + project + "/web-1 NamePrefix 10.0.1.0/24",
		"IPClass " + project + "/web-class NamePrefix", "IPPool " + project + "/web-eu NamePrefix 10.1.0.0/16", "Space " + project + "/web-space NamePrefix",
	}
	require.Equal(t, all, b.finds(own, t, "web"))
	require.Equal(t, append([]string{"IPConsumer " + project + "/Web_7 NamePrefix"}, all...), b.finds(own, t, "Web"), "names have no capitals, UIDs may")
	require.Equal(t, all[2:], b.finds(own, t, "web-"))
	require.Equal(t, all, b.finds(own, t, project+"/web"))
	require.Equal(t, []string{"Project /" + project + " NamePrefix"}, b.finds(own, t, project[:2]))
	require.Equal(t, []string{"Project /" + other + " Name"}, b.finds(b.ctx, t, other))
	require.Equal(t, []string{"IPPool " + other + "/web Name 10.0.0.0/16"}, b.finds(neighbour, t, "web"))
	require.Equal(t, []string{"IPPool " + project + "/web Label 10.0.0.0/16"}, b.finds(own, t, "env=prod"))
	require.Len(t, b.finds(b.ctx, t, "env=prod"), 2)
	for _, nothing := range []string{"x", "web.", "10.0.", "a/b/c", "=", "x=", "/", other, other + "/web", "-web", "%", "_", strings.Repeat("w", 64), "fe80::1%eth0"} {
		require.Empty(t, b.finds(own, t, nothing), nothing)
	}
	for limit := range len(all) {
		found, err := b.Search(own, search.Query{Text: "web", Limit: limit + 1}, usecase.Reading{})
		require.NoError(t, err)
		require.Len(t, found.Items, limit+1)
		require.Equal(t, limit+1 < len(all), found.Truncated)
	}
}

// A search for a random address finds the same objects that hold this address in the lists.
func TestSearchAgreesWithTheLists(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/20", strategy(ipam.Random)))
	b.pool(t, root("six", "2001:db8::/112", strategy(ipam.Random)))
	rng := rand.New(rand.NewPCG(4, 5))
	for i := range 40 {
		b.claim(t, claim(fmt.Sprintf("c%d", i), "net", 26+rng.IntN(7)))
		b.claim(t, claim(fmt.Sprintf("s%d", i), "six", 118+rng.IntN(11)))
		if i%5 == 0 {
			b.pool(t, child(fmt.Sprintf("p%d", i), "net", 26))
		}
	}
	held := all(t, 100, func(n int, c string) (paging.Page[ipam.Allocation], error) {
		return b.ListAllocations(b.ctx, project, paging.Filter{}, n, c, usecase.Reading{})
	})
	for range 200 {
		var at [16]byte
		for i := range at {
			at[i] = byte(rng.Uint32())
		}
		pool := []netip.Prefix{block("10.0.0.0/20"), block("2001:db8::/112")}[rng.IntN(2)]
		asked := freespace.Sub(pool, freespace.Width(pool), at)
		var want []string
		for _, a := range held {
			if a.Block.Contains(asked.Addr()) {
				want = append(want, a.Holder.Name)
			}
		}
		found, err := b.Search(b.ctx, search.Query{Text: asked.Addr().String(), Limit: 100}, usecase.Reading{})
		require.NoError(t, err)
		var got []string
		for _, i := range found.Items[:len(found.Items)-1] {
			got = append(got, i.Name)
		}
		require.Equal(t, pool, found.Items[len(found.Items)-1].Block, "the root pool is the least specific")
		require.Equal(t, want, got, "%s", asked)
	}
}

// Each server finds objects in all regions.
func TestSearchFindsInAllRegions(t *testing.T) {
	t.Parallel()
	w := setupRegions(t)
	w.served(t, "wide", "10.0.0.0/20")
	for i, r := range []string{region, eu, us} {
		name := fmt.Sprintf("c%d", i)
		c, err := w.claimIn(w.ctx, r, name, "wide", 28)
		require.NoError(t, err)
		for _, s := range w.in {
			for _, text := range []string{c.Block.Addr().String(), name} {
				found, err := s.Search(w.ctx, search.Query{Text: text, Limit: 10}, usecase.Reading{})
				require.NoError(t, err)
				require.True(t, slices.ContainsFunc(found.Items, func(i search.Item) bool { return i.Name == name && i.Block == c.Block }), text)
			}
		}
	}
}

func TestSearchIsLimitedInProjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 100 { // 102 with the platform and the test's own project
		_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta(fmt.Sprintf("a%d", i))}, usecase.Request{})
		require.NoError(t, err)
	}
	b.pool(t, root("zone", "10.0.0.0/16"))
	found, err := b.Search(b.ctx, search.Query{Text: "zone", Limit: 10}, usecase.Reading{})
	require.NoError(t, err)
	require.True(t, found.Truncated, "it did not look everywhere, and says so")
	require.Len(t, b.finds(b.ctx, t, project+"/zone"), 1)
	require.Len(t, b.finds(b.ctx, t, "10.0.0.1"), 1, "an address is looked for everywhere")
	found, err = b.Search(b.ctx, search.Query{Text: project, Limit: 10}, usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, project, found.Items[0].Name, "and so is a project")
}

func TestSearchForOneKindReturnsOnlyThatKind(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/8"))
	for i := range 5 {
		b.claim(t, claimOf(fmt.Sprintf("ams-%d", i), "net", length(32)))
		b.pool(t, childAt(fmt.Sprintf("ams-pool-%d", i), "net", fmt.Sprintf("10.1.%d.0/24", i)))
	}
	looks := func(text, kind string, limit int) ([]string, bool) {
		found, err := b.Search(b.ctx, search.Query{Text: text, Kind: kind, Limit: limit}, usecase.Reading{})
		require.NoError(t, err)
		names := []string{}
		for _, i := range found.Items {
			require.True(t, kind == "" || i.Kind == kind, i.Kind)
			names = append(names, i.Name)
		}
		return names, found.Truncated
	}
	pools := []string{"ams-pool-0", "ams-pool-1", "ams-pool-2", "ams-pool-3", "ams-pool-4"}
	names, more := looks("ams", "", 5)
	require.NotEqual(t, pools, names)
	require.True(t, more)
	names, more = looks("ams", trail.KindPool, 5)
	require.Equal(t, pools, names)
	require.False(t, more)
	names, more = looks("ams", trail.KindPool, 4)
	require.Equal(t, pools[:4], names)
	require.True(t, more)
	names, _ = looks("10.1.2.3", trail.KindPool, 5)
	require.Equal(t, []string{"ams-pool-2", "net"}, names)
	names, more = looks("env=prod", trail.KindClaim, 5)
	require.Empty(t, names)
	require.False(t, more)
}
