package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// The refusal names all missing roles, so that the next attempt can succeed.
func TestRefusalNamesAllMissingScopeRoles(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 28, 28), poolPer(24, "site", "zone", "tier")))
	b.poolIn(t, platform, root("eu", "10.0.0.0/16", backing("net")))
	before := b.dump(t)
	for name, c := range map[string]struct {
		scope claimOption
		want  []string
	}{
		"All":             {inScope(), []string{"site", "zone", "tier"}},
		"ButOne":          {inScope("zone", "z"), []string{"site", "tier"}},
		"OtherRolesGiven": {inScope("rack", "7", "site", "ber"), []string{"zone", "tier"}},
	} {
		t.Run(name, func(t *testing.T) {
			refuse := func(err error, at string) {
				t.Helper()
				e := refused(t, err, ipam.CodeInvalidArgument)
				require.Equal(t, c.want, e.Figures.MissingRoles)
				require.Equal(t, "platform/net", e.Figures.Class)
				require.Len(t, e.Fields, len(c.want))
				for i, role := range c.want {
					require.Equal(t, at+"/spec/scope/"+role, e.Fields[i].Pointer)
					require.Contains(t, e.Message, role)
				}
			}
			_, err := b.CreateClaim(b.ctx, project, byClass("c", "net", c.scope), usecase.Request{})
			refuse(err, "")
			_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{byClass("c", "net", c.scope)}, usecase.Request{})
			refuse(err, "/claims/0")
		})
	}
	require.Equal(t, before, b.dump(t), "not one row")
}

// limitedTo returns a function that gives the project a quota.
func limitedTo(options ...quotaOption) func(*testing.T, *bundle) {
	return func(t *testing.T, b *bundle) {
		t.Helper()
		b.set(t, quota("q", options...))
	}
}

// If the first claim of a scope is refused, it leaves no pool behind.
func TestRefusedFirstClaimLeavesNoPool(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		prepare func(*testing.T, *bundle)
		claim   ipam.Claim
		code    ipam.Code
	}{
		"QuotaOfPools":     {limitedTo(maxPools(0)), atSite("c", "ber"), ipam.CodeQuotaExceeded},
		"QuotaOfClaims":    {limitedTo(maxClaims(0)), atSite("c", "ber"), ipam.CodeQuotaExceeded},
		"QuotaOfAddresses": {limitedTo(maxAddresses(15), maxPools(9)), atSite("c", "ber"), ipam.CodeQuotaExceeded},
		"TooShort":         {nil, atSite("c", "ber", length(23)), ipam.CodePrefixLengthRejected},
		"TooLong":          {nil, atSite("c", "ber", length(29)), ipam.CodePrefixLengthRejected},
		"BackingPoolIsFull": {func(t *testing.T, b *bundle) {
			t.Helper()
			_, err := b.CreateClaim(b.ctx, platform, claimOf("all", "", exactly("10.0.0.0/16"), func(c *ipam.Claim) { c.Spec.PoolRef = ipam.Ref{Project: platform, Name: "eu"} }), usecase.Request{})
			require.NoError(t, err)
		}, atSite("c", "ber"), ipam.CodePoolExhausted},
		"BackingPoolCarvesNoPoolsOfTheLength": {func(t *testing.T, b *bundle) {
			t.Helper()
			_, err := b.PatchPool(b.ctx, platform, "eu", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
				bounds(25, 32)(&p)
				return p, nil
			})
			require.NoError(t, err)
		}, atSite("c", "ber"), ipam.CodePrefixLengthRejected},
		"NoPoolBacksTheClass": {func(t *testing.T, b *bundle) {
			t.Helper()
			_, err := b.PatchPool(b.ctx, platform, "eu", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
				p.Spec.ClassNames = nil
				return p, nil
			})
			require.NoError(t, err)
		}, atSite("c", "ber"), ipam.CodeNoPoolForClass},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupScoped(t)
			if c.prepare != nil {
				c.prepare(t, b)
			}
			before := b.dump(t)
			e := b.refuseClaim(t, c.claim, c.code)
			require.NotContains(t, e.Error(), "eu", "the pools behind the class are not the consumer's to know")
			require.Equal(t, before, b.dump(t))
			_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{c.claim}, usecase.Request{})
			e = refused(t, err, c.code)
			require.NotContains(t, e.Error(), "eu")
			require.Equal(t, before, b.dump(t), "nor does a batch")
		})
	}
}

func TestDryRunOfAFirstClaimWritesNothing(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	before := b.dump(t)
	foretold, err := b.CreateClaim(b.ctx, project, atSite("c", "ber"), dry)
	require.NoError(t, err)
	require.Equal(t, before, b.dump(t))
	got := b.claim(t, atSite("c", "ber"))
	require.Equal(t, got.Block, foretold.Value.Block)
	require.Equal(t, got.Pool, foretold.Value.Pool, "even the pool's name is known before it is there")
	before = b.dump(t)
	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{atSite("d", "ham"), atSite("e", "muc")}, dry)
	require.NoError(t, err)
	require.Equal(t, before, b.dump(t))
}

func TestBatchCarvesItsScopedPoolsInOneTransaction(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	b.set(t, quota("q", maxPools(3)))
	b.claim(t, atSite("before", "muc"))
	bound := b.batch(t, atSite("a", "ber"), atSite("b", "ham"), atSite("c", "ber", length(27)), atSite("d", "muc"), atSite("e", "ham"))
	require.Len(t, b.scopes(t), 3)
	require.Equal(t, bound[0].PoolID, bound[2].PoolID)
	require.Equal(t, bound[1].PoolID, bound[4].PoolID)
	require.NotEqual(t, bound[0].PoolID, bound[1].PoolID)
	require.Equal(t, "10.0.0.16/28", bound[3].Block.String(), "a scope that has a pool is served from it")
	require.Equal(t, [3]string{"112", "6", "3"}, b.usage(t, "q"))
	for _, c := range bound {
		got, err := b.GetClaim(b.ctx, project, c.Name, usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, c, got)
	}

	t.Run("RefusedClaimLeavesNoPool", func(t *testing.T) {
		before := b.dump(t)
		_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{atSite("f", "ber"), atSite("g", "cgn")}, usecase.Request{})
		e := refused(t, err, ipam.CodeQuotaExceeded)
		require.Equal(t, "/claims/1", e.Fields[0].Pointer[:9])
		require.Equal(t, before, b.dump(t))
	})
	t.Run("MoreThanANewPoolHolds", func(t *testing.T) {
		b.set(t, quota("q", maxPools(9)))
		before := b.dump(t)
		_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{atSite("f", "cgn", length(25)), atSite("g", "cgn", length(25)), atSite("h", "cgn")}, usecase.Request{})
		e := refused(t, err, ipam.CodePoolExhausted)
		require.Contains(t, e.Message, "Of its 3 claims, the first 2 fit")
		require.Contains(t, e.Message, "The pool of this scope")
		require.Equal(t, before, b.dump(t))
	})
	t.Run("ExactCIDROutsideTheNewPool", func(t *testing.T) {
		before := b.dump(t)
		_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{atSite("f", "cgn"), atSite("g", "cgn", exactly("10.0.200.0/28"))}, usecase.Request{})
		e := refused(t, err, ipam.CodeNeverSatisfiable)
		require.Equal(t, "/claims/1/spec/cidr", e.Fields[0].Pointer)
		require.Equal(t, before, b.dump(t))
	})
	t.Run("MoreThanTheExistingPoolHolds", func(t *testing.T) {
		before := b.dump(t)
		_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{atSite("f", "muc", length(25)), atSite("g", "muc", length(25))}, usecase.Request{})
		e := refused(t, err, ipam.CodePoolExhausted)
		require.Contains(t, e.Message, "Of its 2 claims, the first fits")
		require.Equal(t, before, b.dump(t))
	})
}
