package alloc_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestSingleClaimStartsAtOnceInOneTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("only", "net", 32))
	require.Equal(t, 1, b.attempts.count("claim_group", "committed"))
	waitFor(t, func() bool { return b.LockedContainers() == 0 }) // no request waits
}

func TestQueuedClaimsShareATransaction(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/24"), claim("first", "net", 32))
	for i := range alloc.MaxGroup {
		g.queue(t, g.claiming(claim(fmt.Sprintf("c%d", i), "net", 30+i%3), usecase.Request{}))
	}
	for _, o := range g.finish() {
		require.NoError(t, o.err)
	}
	require.Equal(t, 2, g.attempts.count("claim_group", "committed"), "the first, and all the others together")
	waitFor(t, func() bool { return g.LockedContainers() == 0 }) // no request waits
}

func TestGroupSizeIsLimited(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/24"), claim("first", "net", 32))
	for i := range alloc.MaxGroup + 1 {
		g.queue(t, g.claiming(claim(fmt.Sprintf("c%d", i), "net", 32), usecase.Request{}))
	}
	for _, o := range g.finish() {
		require.NoError(t, o.err)
	}
	require.Equal(t, 3, g.attempts.count("claim_group", "committed"))
}

func TestClaimAndReleaseShareATransaction(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/31"), claim("first", "net", 32))
	g.queue(t, g.claiming(claim("second", "net", 32), usecase.Request{}))
	for _, o := range g.finish() {
		require.NoError(t, o.err)
	}
	g.late = nil
	// The pool is full, so claims succeed only if the same transaction frees blocks.
	other, _ := g.server(t)
	_, err := other.CreateClaim(g.ctx, project, claim("third", "net", 32), usecase.Request{})
	refused(t, err, ipam.CodePoolExhausted)
	held, err := g.GetClaim(g.ctx, project, "second", usecase.Reading{})
	require.NoError(t, err)
	g.hold(t, func(ctx context.Context) (ipam.Claim, error) {
		_, err := g.CreateClaim(ctx, project, claim("fourth", "net", 32), usecase.Request{})
		return ipam.Claim{}, err
	})
	g.queue(t, g.claiming(claim("third", "net", 32), usecase.Request{}), g.releasing("second"))
	late := g.finish()
	require.NoError(t, late[0].err)
	require.Equal(t, held.Block, late[0].claim.Block)
	require.NoError(t, late[1].err)
}

func TestDuplicateNameInOneGroupIsCreatedOnce(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/28"), claim("first", "net", 32))
	for range 3 {
		g.queue(t, g.claiming(claim("same", "net", 32), usecase.Request{}))
	}
	g.queue(t, g.claiming(claim("other", "net", 32), usecase.Request{}))
	late := g.finish()
	require.NoError(t, late[0].err)
	for _, o := range late[1:3] {
		refused(t, o.err, ipam.CodeAlreadyExists)
	}
	require.NoError(t, late[3].err, "a neighbour")
	require.Equal(t, "13", g.available(t, "net"))
}

func TestDuplicateKeyInOneGroupIsReplayed(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/28"), claim("first", "net", 32))
	r := key("k", "the same request")
	generated := func(name string) ipam.Claim {
		c := claim(name, "net", 32)
		c.GeneratedFrom = "generated-"
		return c
	}
	g.queue(t, g.claiming(generated("generated-a"), r), g.claiming(generated("generated-b"), r), g.claiming(claim("other", "net", 32), usecase.Request{}))
	late := g.finish()
	for _, o := range late {
		require.NoError(t, o.err)
	}
	require.Equal(t, late[0].claim, late[1].claim)
	require.Equal(t, "13", g.available(t, "net"))
	require.Equal(t, 2, g.attempts.count("claim_group", "committed"))
}

func TestClaimReleasedTwiceInOneGroupIsReleasedOnce(t *testing.T) {
	t.Parallel()
	for _, policy := range []struct {
		name   string
		option claimOption
		left   string
	}{
		{"UnderDelete", func(*ipam.Claim) {}, "14"},
		{"UnderRetain", retain, "13"},
	} {
		t.Run(policy.name, func(t *testing.T) {
			t.Parallel()
			g := setupGated(t, root("net", "10.0.0.0/28"), claim("first", "net", 32))
			other, _ := g.server(t)
			_, err := other.CreateClaim(g.ctx, project, claim("gone", "net", 32, policy.option), usecase.Request{})
			require.NoError(t, err)
			g.queue(t, g.releasing("gone"), g.releasing("gone"), g.claiming(claim("other", "net", 32), usecase.Request{}))
			late := g.finish()
			require.NoError(t, late[0].err)
			refused(t, late[1].err, ipam.CodeNotFound)
			require.NoError(t, late[2].err, "a neighbour")
			require.Equal(t, policy.left, g.available(t, "net"))
		})
	}
}

func TestClaimReleasedOnAnotherServerDoesNotAffectItsGroup(t *testing.T) {
	t.Parallel()
	g := setupGated(t, root("net", "10.0.0.0/28"), claim("first", "net", 32))
	other, _ := g.server(t)
	_, err := other.CreateClaim(g.ctx, project, claim("gone", "net", 32), usecase.Request{})
	require.NoError(t, err)
	g.queue(t, g.releasing("gone"), g.claiming(claim("other", "net", 32), usecase.Request{}))
	require.NoError(t, other.DeleteClaim(g.ctx, project, "gone", usecase.Request{}))
	late := g.finish()
	refused(t, late[0].err, ipam.CodeNotFound)
	require.NoError(t, late[1].err, "a neighbour")
	require.Equal(t, "14", g.available(t, "net"))
	require.Zero(t, g.attempts.count("claim_group", "again"), "nothing is tried again that cannot work")
}
