package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestFeedNextReturnsABoundedNumberOfBytes(t *testing.T) {
	t.Parallel()
	b := followable(t)
	begin := b.follow(t, "", feed.Filter{}).Cursor()
	near := b.follow(t, "", feed.Filter{Kinds: []string{"IPClaim"}})
	const many = 40
	for i := range many {
		b.claim(t, claim(fmt.Sprintf("c-%02d", i), "net", 32, large))
	}
	one := claim("", "net", 32, large).Size() + 2048
	all := func(f *feed.Follower) {
		seen := map[string]bool{}
		for len(seen) < many {
			changes, err := f.Next(b.ctx, 0, 500)
			require.NoError(t, err)
			bytes := 0
			for _, c := range changes {
				seen[c.Name], bytes = true, bytes+c.Size()
			}
			require.LessOrEqual(t, bytes, 256<<10+one)
		}
	}
	all(near)
	for round := range 10 { // more than the 8 MiB that the hub keeps
		for i := range many {
			unconditional := usecase.Request{IfMatch: usecase.Match{Any: true}}
			_, err := b.patchClaim(fmt.Sprintf("c-%02d", i), unconditional, func(c *ipam.Claim) { c.Labels = labels("round", fmt.Sprint(round)) })
			require.NoError(t, err)
		}
		told(b.ctx, t, near, 500)
	}
	p := &purse{}
	far := b.follow(t, begin, feed.Filter{Kinds: []string{"IPClaim"}})
	changes, err := far.Next(tenancy.WithBudget(b.ctx, p), 0, 500)
	require.NoError(t, err)
	require.NotEmpty(t, changes)
	require.Equal(t, feed.SizeOf(changes), p.reserved, "it has changes that the hub does not keep")
	far.Close()
	require.Zero(t, p.reserved)
	all(b.follow(t, begin, feed.Filter{Kinds: []string{"IPClaim"}}))
}

// A row never divides, and its claims can have grown since it was written.
func TestFollowerThatReadsALargeRowReservesItsSize(t *testing.T) {
	t.Parallel()
	b := followable(t)
	begin := b.follow(t, "", feed.Filter{}).Cursor()
	const many = 100 // more than the rows that one pass reads: the rest of the changes stay in the batch's row
	claims := manyClaims("c", "net", many, 32)
	_, err := b.CreateClaimBatch(b.ctx, project, claims, usecase.Request{})
	require.NoError(t, err)
	for _, c := range claims {
		_, err := b.patchClaim(c.Name, usecase.Request{IfMatch: usecase.Match{Any: true}}, large)
		require.NoError(t, err)
	}
	p := &purse{}
	f := b.follow(t, begin, feed.Filter{Kinds: []string{"IPClaim"}})
	changes, err := f.Next(tenancy.WithBudget(b.ctx, p), 0, 1)
	require.NoError(t, err)
	require.Greater(t, len(changes), 30)
	require.Greater(t, feed.SizeOf(changes), 512<<10)
	require.Equal(t, feed.SizeOf(changes), p.reserved)
	f.Close()
	require.Zero(t, p.reserved)
}

func TestFollowersOfOneProjectLeaveSlotsToOthers(t *testing.T) {
	t.Parallel()
	b := followable(t)
	next := b.neighbour(t)
	cursor := b.follow(t, "", feed.Filter{}).Cursor()
	as := func(caller int) error {
		f, err := b.Follow(b.acting(fmt.Sprint("corp:evil-", caller), tenancy.Viewer, project), project, cursor, feed.Filter{})
		if err == nil {
			t.Cleanup(f.Close)
		}
		return err
	}
	for range 1024 {
		require.NoError(t, as(0))
	}
	refused(t, as(0), ipam.CodeRateLimited)
	for range 1024 {
		require.NoError(t, as(1))
	}
	for range 2500 - 2*1024 - 1 {
		require.NoError(t, as(2))
	}
	refused(t, as(3), ipam.CodeRateLimited)

	f, err := b.Follow(next, other, "", feed.Filter{})
	require.NoError(t, err)
	t.Cleanup(f.Close)
}
