package alloc_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/pools"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// setupScoped makes a bundle with a shared platform class "net" and a pool that backs the class. Each project and site has its own pool of length
// /24, which serves the claims by this class.
func setupScoped(t *testing.T, options ...classOption) *bundle {
	t.Helper()
	b := setup(t)
	b.class(t, platform, class("net", append([]classOption{sharedClass, lengths(24, 28, 28), poolPer(24, "site")}, options...)...))
	b.poolIn(t, platform, root("eu", "10.0.0.0/16", backing("net")))
	return b
}

func atSite(name, site string, options ...claimOption) ipam.Claim {
	return byClass(name, "net", append([]claimOption{inScope("site", site)}, options...)...)
}

// scopes returns the pools that Carve made for scopes, by name.
func (b *bundle) scopes(t testing.TB) []ipam.Pool {
	t.Helper()
	var out []ipam.Pool
	for _, in := range []string{platform, project} {
		for _, p := range all(t, 100, func(n int, cursor string) (paging.Page[ipam.Pool], error) {
			return b.ListPools(b.ctx, in, paging.Filter{}, n, cursor, usecase.Reading{})
		}) {
			if p.Scope != nil {
				out = append(out, p)
			}
		}
	}
	return out
}

// only returns the only scoped pool. It fails the test unless exactly one exists.
func (b *bundle) only(t testing.TB) ipam.Pool {
	t.Helper()
	pools := b.scopes(t)
	require.Len(t, pools, 1)
	return pools[0]
}

func TestFirstClaimOfAScopeCarvesItsPool(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	b.set(t, quota("q", maxPools(10), maxAddresses(1000)))
	b.clock.move(time.Minute)
	first := b.claim(t, atSite("first", "ber"))
	p := b.only(t)

	require.Equal(t, platform, p.Project, "it is of the project of the pool that it was carved from")
	require.True(t, strings.HasPrefix(p.Name, "net-"))
	require.Equal(t, block("10.0.0.0/24"), p.Block)
	require.Equal(t, ipam.Ref{Project: platform, Name: "eu"}, p.Spec.Parent)
	require.Equal(t, pools.ScopeKeeper, p.CreatedBy)
	require.Equal(t, map[string]string{"site": "ber"}, p.Scope.Values)
	require.Equal(t, project, p.Scope.Project)
	require.Equal(t, first.Class, p.Scope.Class)
	require.Equal(t, p.Ref(), first.Pool)
	require.Equal(t, "10.0.0.0/28", first.Block.String())
	require.Equal(t, [2]string{"65280", "0"}, b.figures(t, platform, "eu"))
	require.Equal(t, [2]string{"240", "0"}, b.figures(t, platform, p.Name))
	require.Equal(t, [3]string{"16", "1", "1"}, b.usage(t, "q"), "the pool counts for whom it was carved")

	got, err := b.GetClaim(b.ctx, project, "first", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, first, got)
	events := b.events(t, platform, trail.EventFilter{Name: p.Name})
	require.Len(t, events, 1)
	require.Equal(t, pools.ScopeKeeper, events[0].Subject)
	require.NotContains(t, string(events[0].After), "ber", "what the consumer calls its sites is none of the owner's trail")
	require.Len(t, b.claimTrail(t, project), 1)

	require.Equal(t, "10.0.0.16/28", b.claim(t, atSite("second", "ber")).Block.String(), "the second one draws from it")
	require.Equal(t, p.UID, b.only(t).UID)
	require.Equal(t, "10.0.1.0/28", b.claim(t, atSite("third", "ham")).Block.String(), "another site has another pool")
	require.Len(t, b.scopes(t), 2)
	require.Equal(t, [3]string{"48", "3", "2"}, b.usage(t, "q"))
	require.Equal(t, "10.0.0.32/28", b.claim(t, byClass("fourth", "net", inScope("site", "ber", "rack", "7", "tenant", "other"))).Block.String(), "roles that the class does not ask for are ignored")
	require.Len(t, b.scopes(t), 2)
}

func TestProjectsWithTheSameScopeGetSeparatePools(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	b.neighbour(t)
	own := b.claim(t, atSite("c", "ber"))
	r, err := b.CreateClaim(b.ctx, other, atSite("c", "ber"), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, "10.0.0.0/28", own.Block.String())
	require.Equal(t, "10.0.1.0/28", r.Value.Block.String())
	require.NotEqual(t, own.PoolID, r.Value.PoolID)
	require.Len(t, b.scopes(t), 2)
}

func TestClassWithoutScopeRolesHasOnePoolPerProject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, defaultClass, lengths(24, 28, 28), poolPer(24)))
	b.poolIn(t, platform, root("eu", "10.0.0.0/16", backing("net")))
	require.Equal(t, "10.0.0.0/28", b.claim(t, byClass("a", "")).Block.String(), "by default, too")
	require.Equal(t, "10.0.0.16/28", b.claim(t, byClass("b", "net", inScope("site", "ber"))).Block.String())
	require.Empty(t, b.only(t).Scope.Values)
}

func TestScopedPoolIsCarvedFromTheFirstPoolWithRoom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 28, 28), poolPer(24, "site"), cooling(time.Hour)))
	b.poolIn(t, platform, root("a", "10.0.0.0/24", backing("net")))
	b.poolIn(t, platform, root("b", "10.1.0.0/23", backing("net")))
	b.pool(t, root("z", "10.2.0.0/24", backing("net")))
	for i, want := range []string{"10.0.0.0/28", "10.1.0.0/28", "10.1.1.0/28", "10.2.0.0/28"} {
		name := string(rune('a' + i))
		require.Equal(t, want, b.claim(t, atSite(name, name)).Block.String())
	}
	e := b.refuseClaim(t, atSite("e", "e"), ipam.CodePoolExhausted)
	require.Equal(t, 24, *e.Figures.WantedPrefixLength)
	require.Equal(t, []string{"platform/(hidden)", "platform/(hidden)", "acme/z"}, e.Figures.PoolsTried)
	require.Equal(t, "10.0.0.16/28", b.claim(t, atSite("more", "a")).Block.String(), "scopes that have a pool go on")
}

func TestScopedPoolServesOnlyItsScope(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	b.claim(t, atSite("c", "ber"))
	p := b.only(t)
	byRef := func(c *ipam.Claim) { c.Spec.PoolRef = p.Ref() }
	e := b.refuseClaim(t, claim("by-ref", "", 28, byRef), ipam.CodeNotFound)
	require.Equal(t, "Pool "+p.Ref().String()+" was not found.", e.Message)
	_, err := b.CreateClaim(b.ctx, platform, claim("by-owner", "", 28, byRef), usecase.Request{})
	e = refused(t, err, ipam.CodeInvalidArgument)
	require.Contains(t, e.Message, "serves only claims of class platform/net in project \"acme\"", "its owner is told why")
	_, err = b.CreateClaimBatch(b.ctx, platform, []ipam.Claim{claim("by-owner", "", 28, byRef)}, usecase.Request{})
	refused(t, err, ipam.CodeInvalidArgument)

	_, err = b.CreatePool(b.ctx, platform, child("inside", p.Name, 28, func(c *ipam.Pool) { c.Spec.Parent.Project = platform }), usecase.Request{})
	refused(t, err, ipam.CodeInvalidArgument)
	_, err = b.PatchPool(b.ctx, platform, p.Name, usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Labels = labels("x", "y")
		return p, nil
	})
	require.NoError(t, err)
	_, err = b.CreateClaim(b.ctx, platform, selecting("by-labels", ipam.Selector{MatchLabels: labels("x", "y")}, length(28)), usecase.Request{})
	refused(t, err, ipam.CodeNoPoolMatches)
	_, err = b.CreateClaim(b.ctx, platform, selecting("by-labels", ipam.Selector{MatchLabels: labels("x", "y")}, length(28)), dry)
	refused(t, err, ipam.CodeNoPoolMatches)
	require.Equal(t, [2]string{"240", "0"}, b.figures(t, platform, p.Name))
	require.Equal(t, p.Block.String(), b.only(t).Block.String())
}

func TestRetainedBlockOfAScopedPoolIsRebound(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(0))
	c := b.claim(t, atSite("c", "ber", retain))
	b.release(t, "c")
	b.swept(t, 0, 0)
	back := b.claim(t, again("back", c.AllocationID, retain))
	require.Equal(t, c.Block, back.Block)
	require.Equal(t, c.PoolID, back.PoolID)
	require.Equal(t, c.Class, back.Class)
	b.release(t, "back")
	b.swept(t, 0, 0)
	require.NoError(t, b.DeleteAllocation(b.ctx, project, c.AllocationID.String(), usecase.Request{}))
	b.swept(t, 1, 0)
	b.swept(t, 0, 1)
}

func TestProjectWithScopedPoolsIsNotDeleted(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(time.Hour))
	b.neighbour(t)
	_, err := b.CreateClaim(b.ctx, other, atSite("c", "ber"), usecase.Request{})
	require.NoError(t, err)
	require.NoError(t, b.DeleteClaim(b.ctx, other, "c", usecase.Request{}))
	refused(t, b.DeleteProject(b.ctx, other, usecase.Request{}), ipam.CodeInUse)
	b.swept(t, 1, 0)
	b.clock.move(time.Hour)
	b.swept(t, 0, 1)
	require.NoError(t, b.DeleteProject(b.ctx, other, usecase.Request{}))
}

func TestLeastUtilizedSpreadsScopedPools(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, leastUtilized)
	b.poolIn(t, platform, root("us", "10.1.0.0/16", backing("net")))
	from := map[string]int{}
	for i := range 6 {
		name := string(rune('a' + i))
		b.claim(t, atSite(name, name))
	}
	for _, p := range b.scopes(t) {
		from[p.Spec.Parent.Name]++
	}
	require.Equal(t, map[string]int{"eu": 3, "us": 3}, from)
}

// The project that owns the class already has a pool with the name that the scope's new pool would get. The refusal must hide this name from the
// consumer.
func TestScopedPoolNameConflictIsHiddenFromTheConsumer(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	b.claim(t, atSite("c", "ber"))
	name := b.only(t).Name
	b.release(t, "c")
	require.NoError(t, b.DeletePool(b.ctx, platform, name, usecase.Request{}))
	b.poolIn(t, platform, root(name, "10.9.0.0/24"))
	before := b.dump(t)
	e := b.refuseClaim(t, atSite("c", "ber"), ipam.CodeContention)
	require.NotContains(t, e.Error(), name)
	require.Equal(t, before, b.dump(t))
}

func TestExactCIDRInAScopedClassIsInItsScopedPool(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	require.Equal(t, "10.0.5.16/28", b.claim(t, atSite("exact", "ber", exactly("10.0.5.16/28"))).Block.String())
	require.Equal(t, block("10.0.5.0/24"), b.only(t).Block, "the scope's pool is the one that holds it")
	require.Equal(t, "10.0.5.0/28", b.claim(t, atSite("any", "ber")).Block.String())
	before := b.dump(t)
	for name, c := range map[string]struct {
		claim ipam.Claim
		code  ipam.Code
	}{
		"InThePoolOfAnotherScope":  {atSite("x", "ham", exactly("10.0.5.32/28")), ipam.CodeBlockTaken},
		"OutsideOfTheScopesPool":   {atSite("x", "ber", exactly("10.0.6.0/28")), ipam.CodeNeverSatisfiable},
		"HeldInTheScopesPool":      {atSite("x", "ber", exactly("10.0.5.16/28")), ipam.CodeBlockTaken},
		"OutsideOfAllBackingPools": {atSite("x", "ham", exactly("10.9.0.0/28")), ipam.CodeNeverSatisfiable},
		"LengthNotAllowed":         {atSite("x", "ham", exactly("10.0.7.0/30")), ipam.CodePrefixLengthRejected},
	} {
		t.Run(name, func(t *testing.T) {
			e := b.refuseClaim(t, c.claim, c.code)
			require.NotContains(t, e.Error(), "eu", "the pools are not the consumer's to know")
		})
	}
	require.Equal(t, before, b.dump(t))
}

func TestFullScopedPoolIsExhausted(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	b.claim(t, atSite("a", "ber", length(25)))
	b.claim(t, atSite("b", "ber", length(25)))
	before := b.dump(t)
	e := b.refuseClaim(t, atSite("c", "ber"), ipam.CodePoolExhausted)
	require.Contains(t, e.Message, "The pool of this scope of class platform/net has no free addresses")
	require.Equal(t, "platform/net", e.Figures.Class)
	require.Equal(t, []string{"platform/(hidden)"}, e.Figures.PoolsTried)
	require.Equal(t, before, b.dump(t), "no second pool for the scope")
	b.claim(t, atSite("d", "ham", length(25)))
	b.release(t, "a")
	require.Equal(t, "10.0.0.0/28", b.claim(t, atSite("c", "ber")).Block.String())
}

func TestBlocksOfAScopedClassCoolDownInTheirPool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 28, 24), poolPer(24, "site")))
	b.poolIn(t, platform, root("eu", "10.0.0.0/16", backing("net"), coolsDown(time.Hour)))
	c := b.claim(t, atSite("c", "ber"))
	require.Equal(t, time.Hour, c.ReuseAfter, "by the pool that the scope's pool was carved from")
	b.release(t, "c")
	e := b.refuseClaim(t, atSite("d", "ber"), ipam.CodeExhaustedByCooldown)
	require.Equal(t, b.clock.read().Add(time.Hour), e.Figures.CooledDownAt)
	require.Equal(t, "10.0.1.0/24", b.claim(t, atSite("e", "ham")).Block.String())
	b.clock.move(time.Hour)
	b.freed(t, 1)
	require.Equal(t, c.Block, b.claim(t, atSite("d", "ber")).Block)
}
