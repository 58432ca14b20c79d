package alloc_test

import (
	"context"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// held formats the block, holder and phase of a hold, and its begin and end. The times are in minutes since the start of the test.
func held(begun time.Time, h ipam.Hold) string {
	until := "now"
	if !h.Until.IsZero() {
		until = fmt.Sprint(h.Until.Sub(begun).Minutes())
	}
	return fmt.Sprintf("%s %s %s %s %v-%s", h.Block, h.Purpose, h.Holder, h.Phase, h.Since.Sub(begun).Minutes(), until)
}

// past returns the holds of an address at a time, in minutes since the start of the test. If the time is negative, past returns all holds.
func (b *bundle) past(ctx context.Context, t *testing.T, in, addr string, begun time.Time, at float64, limit int) []string {
	t.Helper()
	moment := time.Time{}
	if at >= 0 {
		moment = begun.Add(time.Duration(at * float64(time.Minute)))
	}
	out := []string{}
	for _, h := range all(t, limit, func(n int, c string) (paging.Page[ipam.Hold], error) {
		return b.GetHistory(ctx, in, address(addr), moment, n, c, usecase.Reading{})
	}) {
		require.Equal(t, h.Pool.Project, h.Project)
		out = append(out, held(begun, h))
	}
	return out
}

func TestHistoryListsTheHoldersOfAnAddressByTime(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begun := b.clock.read()
	minute := func() { b.clock.move(time.Minute) }
	b.pool(t, root("net", "10.0.0.0/16")) // minute 0
	minute()
	b.pool(t, childAt("sub", "net", "10.0.1.0/24"))
	minute()
	b.claim(t, claimOf("first", "sub", hostAddress("10.0.1.7")))
	minute()
	b.release(t, "first")
	minute()
	kept := b.claim(t, claimOf("second", "sub", exactly("10.0.1.4/30"), retain))
	minute()
	b.release(t, "second")
	minute()
	b.claim(t, again("third", kept.AllocationID))
	minute() // 7
	sub := "10.0.1.0/24 ChildPool acme/sub Bound 1-now"
	third := "10.0.1.4/30 Claim acme/third Bound 6-now"
	was := []string{
		"10.0.1.4/30 Claim acme/second Retained 5-6",
		"10.0.1.4/30 Claim acme/second Bound 4-5",
		"10.0.1.7/32 Claim acme/first Bound 2-3",
	}
	for _, limit := range []int{1, 2, 3, 100} {
		require.Equal(t, append([]string{third, sub}, was...), b.past(b.ctx, t, project, "10.0.1.7", begun, -1, limit), "who holds it first, then the last one")
		require.Equal(t, append([]string{third, sub}, was[:2]...), b.past(b.ctx, t, project, "10.0.1.4", begun, -1, limit))
		require.Equal(t, []string{sub}, b.past(b.ctx, t, project, "10.0.1.200", begun, -1, limit))
		require.Empty(t, b.past(b.ctx, t, project, "10.0.2.1", begun, -1, limit), "free")
		require.Empty(t, b.past(b.ctx, t, project, "192.0.2.1", begun, -1, limit), "of no pool")
		require.Empty(t, b.past(b.ctx, t, project, "2001:db8::1", begun, -1, limit), "of another family")
		for at, want := range map[float64][]string{
			0:   {},
			1:   {sub},
			2:   {was[2], sub},
			2.5: {was[2], sub},
			3:   {sub}, // a hold does not include its end
			4:   {was[1], sub},
			5:   {was[0], sub},
			5.9: {was[0], sub},
			6:   {third, sub},
			99:  {third, sub},
		} {
			require.Equal(t, want, b.past(b.ctx, t, project, "10.0.1.7", begun, at, limit), "at %v", at)
		}
	}
	require.NoError(t, b.DeleteClaim(b.ctx, project, "third", usecase.Request{}))
	minute()
	require.NoError(t, b.DeletePool(b.ctx, project, "sub", usecase.Request{}))
	require.Equal(t, append([]string{"10.0.1.0/24 ChildPool acme/sub Bound 1-8", "10.0.1.4/30 Claim acme/third Bound 6-7"}, was...),
		b.past(b.ctx, t, project, "10.0.1.7", begun, -1, 2), "when the pools are gone, it is known still")
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
	require.Equal(t, []string{was[2], "10.0.1.0/24 ChildPool acme/sub Bound 1-8"}, b.past(b.ctx, t, project, "10.0.1.7", begun, 2, 1))
}

func TestHistoryCoversIPv6AndReturnedRetainedBlocks(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begun := b.clock.read()
	b.pool(t, root("net", "2001:db8::/32"))
	made := b.claim(t, claimOf("c", "net", exactly("2001:db8:1::/48"), retain))
	b.clock.move(time.Minute)
	b.release(t, "c")
	b.clock.move(time.Minute)
	require.Equal(t, []string{"2001:db8:1::/48 Claim acme/c Retained 1-now", "2001:db8:1::/48 Claim acme/c Bound 0-1"},
		b.past(b.ctx, t, project, "2001:db8:1:2::3", begun, -1, 1))
	require.NoError(t, b.DeleteAllocation(b.ctx, project, made.AllocationID.String(), usecase.Request{}))
	require.Equal(t, []string{"2001:db8:1::/48 Claim acme/c Retained 1-2", "2001:db8:1::/48 Claim acme/c Bound 0-1"},
		b.past(b.ctx, t, project, "2001:db8:1:2::3", begun, -1, 1))
	require.Empty(t, b.past(b.ctx, t, project, "2001:db8:2::", begun, -1, 1))
}

// Several spaces use the same address, so the address has several holders at a time. Many of its holds end at the same time, so such holds are on
// different pages.
func TestPagedHistoryIsComplete(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begun := b.clock.read()
	const spaces = 5
	for i := range spaces {
		name := fmt.Sprintf("s%d", i)
		_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta(name)}, usecase.Request{})
		require.NoError(t, err)
		b.pool(t, root("net-"+name, "10.0.0.0/16", inSpace(name)))
		for j := range 3 {
			c := fmt.Sprintf("c%d-%d", i, j)
			b.claim(t, claimOf(c, "net-"+name, hostAddress("10.0.0.1")))
			if j < 2 {
				b.release(t, c)
			}
		}
	}
	for _, at := range []float64{-1, 0} {
		want := b.past(b.ctx, t, project, "10.0.0.1", begun, at, 100)
		if at < 0 {
			require.Len(t, want, 3*spaces)
		} else {
			require.Len(t, want, spaces, "what ended as it began was held at no moment")
		}
		for _, limit := range []int{1, 2, 4, 7} {
			require.Equal(t, want, b.past(b.ctx, t, project, "10.0.0.1", begun, at, limit))
		}
	}
	for _, cursor := range []string{"x", alloc.SealCursor("history-at", map[string]int{"b": 1}), alloc.SealCursor("history", "x")} {
		_, err := b.GetHistory(b.ctx, project, address("10.0.0.1"), time.Time{}, 1, cursor, usecase.Reading{})
		refused(t, err, ipam.CodeInvalidArgument)
	}
}

// The owner of a pool sees that another project held a block, but not for which claim. The other project sees only its current holds. A third project
// sees nothing.
func TestHistoryHidesClaimsOfOtherProjects(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begun := b.clock.read()
	neighbour := b.neighbour(t)
	b.pool(t, root("net", "10.0.0.0/16", func(p *ipam.Pool) { p.Spec.Visibility = ipam.VisibilityShared }))
	_, err := b.PutPoolGrant(b.ctx, project, "net", other, usecase.Request{})
	require.NoError(t, err)
	for _, name := range []string{"past-secret", "secret"} {
		_, err := b.CreateClaim(neighbour, other, claimOf(name, "net", hostAddress("10.0.0.9")), usecase.Request{})
		require.NoError(t, err)
		b.clock.move(time.Minute)
		if name == "past-secret" {
			require.NoError(t, b.DeleteClaim(neighbour, other, name, usecase.Request{}))
		}
	}
	for at, want := range map[float64][]string{
		-1: {"10.0.0.9/32 Claim umbrella/ Bound 1-now", "10.0.0.9/32 Claim umbrella/ Bound 0-1"},
		0:  {"10.0.0.9/32 Claim umbrella/ Bound 0-1"},
		1:  {"10.0.0.9/32 Claim umbrella/ Bound 1-now"},
	} {
		require.Equal(t, want, b.past(b.ctx, t, project, "10.0.0.9", begun, at, 1))
	}
	for at, want := range map[float64][]string{
		-1: {"10.0.0.9/32 Claim umbrella/secret Bound 1-now"},
		0:  {}, // this project does not own the pool, so it does not see ended holds
		1:  {"10.0.0.9/32 Claim umbrella/secret Bound 1-now"},
	} {
		require.Equal(t, want, b.past(neighbour, t, other, "10.0.0.9", begun, at, 1))
	}
	require.Empty(t, b.past(neighbour, t, other, "10.0.0.8", begun, -1, 1), "another address")
	require.NoError(t, b.DeletePoolGrant(b.ctx, project, "net", other, usecase.Request{}))
	require.Len(t, b.past(neighbour, t, other, "10.0.0.9", begun, -1, 1), 1, "it holds it whatever is granted")
	_, err = b.CreateProject(b.ctx, ipam.Project{Metadata: meta("third")}, usecase.Request{})
	require.NoError(t, err)
	require.Empty(t, b.past(b.acting("corp:third", tenancy.Admin, "third"), t, "third", "10.0.0.9", begun, -1, 1))
	_, err = b.GetHistory(neighbour, project, address("10.0.0.9"), time.Time{}, 1, "", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
}
