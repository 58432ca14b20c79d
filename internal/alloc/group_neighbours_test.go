package alloc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// These tests check that an error of one request does not affect the other requests in the same transaction.

func TestRefusedMemberDoesNotAffectItsGroup(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/28", strategy(ipam.FirstFit)), claim("first", "net", 32))
	ok := func(name string) func(context.Context) (ipam.Claim, error) {
		return g.claiming(claim(name, "net", 32), usecase.Request{})
	}
	g.queue(t,
		ok("a"),
		g.claiming(claim("first", "net", 32), usecase.Request{}), // the first transaction creates it
		ok("b"),
		g.claiming(claimOf("exact", "net", hostAddress("10.0.0.0")), usecase.Request{}), // the claim "first" holds it
		ok("c"),
		g.claiming(claim("half", "net", 29), usecase.Request{}), // has room
		ok("d"),
		g.claiming(claim("other-half", "net", 29), usecase.Request{}), // has no room any more
		g.claiming(claim("all", "net", 28), usecase.Request{}),
	)
	late := g.finish()
	for i, code := range []ipam.Code{
		"", ipam.CodeAlreadyExists, "", ipam.CodeBlockTaken, "", "", "", ipam.CodePoolExhausted, ipam.CodePoolExhausted,
	} {
		require.Equal(t, code, ipam.CodeOf(late[i].err), "%d: %v", i, late[i].err)
	}
	e := refused(t, late[7].err, ipam.CodePoolExhausted)
	require.Equal(t, 31, *e.Figures.LargestFreePrefixLength, "the figures are those after the others were served")
	require.Equal(t, "3", e.Figures.AvailableAddresses)
	require.Equal(t, "3", g.available(t, "net"))
}

func TestQueuedClaimFollowsAChangedPolicy(t *testing.T) {
	t.Parallel()
	for _, now := range []ipam.Strategy{ipam.BestFit, ipam.FirstFit} {
		t.Run("BestFitThen"+string(now), func(t *testing.T) {
			t.Parallel()
			g := setupGated(t, root("net", "10.0.0.0/24", byDefault(28)), claim("first", "net", 32))
			other, _ := g.server(t)
			g.queue(t,
				g.claiming(claim("too-long", "net", 32), usecase.Request{}),
				g.claiming(claimOf("by-default", "net"), usecase.Request{}),
				g.claiming(claim("good", "net", 30), usecase.Request{}),
				g.claiming(claim("too-short", "net", 28), usecase.Request{}),
			)
			_, err := other.PatchPool(g.ctx, project, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
				bounds(29, 31)(&p)
				byDefault(29)(&p)
				strategy(now)(&p)
				return p, nil
			})
			require.NoError(t, err)
			late := g.finish()
			e := refused(t, late[0].err, ipam.CodePrefixLengthRejected)
			require.Equal(t, []int{29, 31}, []int{*e.Figures.AllowedMin, *e.Figures.AllowedMax})
			require.NoError(t, late[1].err)
			require.Equal(t, 29, late[1].claim.Block.Bits(), "the default of now, not of then")
			require.NoError(t, late[2].err)
			refused(t, late[3].err, ipam.CodePrefixLengthRejected)
		})
	}
}

func TestPoolDeletedWhileClaimsQueueIsNotFound(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/24", labelled("x", "y")), claim("first", "net", 32))
	other, _ := g.server(t)
	g.queue(t,
		g.claiming(claim("a", "net", 32), usecase.Request{}),
		g.claiming(selecting("b", matching("x", "y"), length(32)), usecase.Request{}),
	)
	require.NoError(t, other.DeletePool(g.ctx, project, "net", usecase.Request{}))
	late := g.finish()
	refused(t, late[0].err, ipam.CodeNotFound)
	refused(t, late[1].err, ipam.CodeNoPoolMatches) // the refusal names no pool
}

func TestMemberLeavesTheGroupWhenItsContextEnds(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/24"), claim("first", "net", 32))
	ctx, cancel := context.WithCancel(g.ctx)
	g.queueIn(ctx, t, g.claiming(claim("impatient", "net", 32), usecase.Request{}))
	g.queue(t, g.claiming(claim("patient", "net", 32), usecase.Request{}))
	cancel()
	late := g.finish()
	refused(t, late[0].err, ipam.CodeDeadline)
	require.NoError(t, late[1].err)
	_, err := g.GetClaim(g.ctx, project, "impatient", usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
	require.Equal(t, "254", g.available(t, "net"))
}

func TestLargerOperationsQueueForTheirPool(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/24"), claim("first", "net", 32))
	ctx, cancel := context.WithCancel(g.ctx)
	waiting := []func(context.Context) error{
		func(ctx context.Context) error {
			_, err := g.CreatePool(ctx, project, child("sub", "net", 28), usecase.Request{})
			return err
		},
		func(ctx context.Context) error {
			_, err := g.CreateClaimBatch(ctx, project, []ipam.Claim{claim("a", "net", 32)}, usecase.Request{})
			return err
		},
		func(ctx context.Context) error { return g.DeletePool(ctx, project, "net", usecase.Request{}) },
		func(ctx context.Context) error {
			_, err := g.PatchPool(ctx, project, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) { return p, nil })
			return err
		},
	}
	var outcomes []*outcome
	for _, run := range waiting {
		before := g.Users(g.pool.UID)
		outcomes = append(outcomes, g.start(ctx, func(ctx context.Context) (ipam.Claim, error) { return ipam.Claim{}, run(ctx) }))
		waitFor(t, func() bool { return g.Users(g.pool.UID) > before })
	}
	cancel()
	g.finish()
	for _, o := range outcomes {
		refused(t, o.err, ipam.CodeDeadline)
	}
	require.Equal(t, "255", g.available(t, "net"), "those who left have changed nothing")
	waitFor(t, func() bool { return g.LockedContainers() == 0 }) // no request waits
}

// A group is about to release a block that another server has just released. So the block may already be free in the group's reads.
func TestBlockReleasedOnAnotherServerIsNotReleasedTwice(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/28", strategy(ipam.FirstFit)), claimOf("first", "net", hostAddress("10.0.0.15")))
	other, _ := g.server(t)
	for _, name := range []string{"gone", "kept"} {
		_, err := other.CreateClaim(g.ctx, project, claim(name, "net", 32), usecase.Request{})
		require.NoError(t, err)
	}
	g.queue(t, g.releasing("gone"), g.claiming(claim("a", "net", 32), usecase.Request{}), g.releasing("kept"), g.claiming(claim("b", "net", 31), usecase.Request{}))
	require.NoError(t, other.DeleteClaim(g.ctx, project, "gone", usecase.Request{}))
	late := g.finish()
	refused(t, late[0].err, ipam.CodeNotFound)
	for _, o := range late[1:] {
		require.NoError(t, o.err)
	}
	require.Equal(t, "12", g.available(t, "net"))
}

// Another server has released a claim and created a new claim with the same name. A release of the first claim must not release the new one.
func TestReleaseDoesNotAffectANewerClaimOfTheSameName(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/28"), claim("first", "net", 32))
	other, _ := g.server(t)
	_, err := other.CreateClaim(g.ctx, project, claim("c", "net", 32), usecase.Request{})
	require.NoError(t, err)
	g.queue(t, g.releasing("c"), g.claiming(claim("a", "net", 32), usecase.Request{}))
	require.NoError(t, other.DeleteClaim(g.ctx, project, "c", usecase.Request{}))
	next, err := other.CreateClaim(g.ctx, project, claim("c", "net", 32), usecase.Request{})
	require.NoError(t, err)
	late := g.finish()
	refused(t, late[0].err, ipam.CodeNotFound)
	require.NoError(t, late[1].err)
	read, err := g.GetClaim(g.ctx, project, "c", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, next.Value, read)
}
