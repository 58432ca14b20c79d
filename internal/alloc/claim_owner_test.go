package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func ownerIs(kind, name, uid string) claimOption {
	return func(c *ipam.Claim) { c.Spec.OwnerRef = &ipam.OwnerRef{Kind: kind, Name: name, UID: uid} }
}

// owned returns the names of the claims that match a filter. It reads small pages.
func (b *bundle) owned(t *testing.T, f paging.Filter) []string {
	t.Helper()
	return names(all(t, 2, func(n int, c string) (paging.Page[ipam.Claim], error) {
		return b.ListClaims(b.ctx, project, f, n, c, usecase.Reading{})
	}))
}

func TestClaimsAreListedByOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("a", "10.0.0.0/16"))
	b.pool(t, root("b", "10.1.0.0/16"))
	b.claim(t, claim("third", "a", 24, ownerIs("VM", "web", "1")))
	b.claim(t, claim("first", "b", 24, ownerIs("VM", "web", "1"), withLabels("tier", "front")))
	b.claim(t, claim("second", "a", 24, ownerIs("VM", "web", "1"), retain))
	b.claim(t, claim("later", "a", 24, ownerIs("VM", "web", "2")))
	b.claim(t, claim("by-uid", "a", 24, ownerIs("", "", "1")))
	b.claim(t, claim("nobodys", "a", 24))
	web := paging.Filter{Owner: "VM/web/1"}
	require.Equal(t, []string{"first", "second", "third"}, b.owned(t, web))
	require.Equal(t, []string{"by-uid"}, b.owned(t, paging.Filter{Owner: "//1"}))
	require.Empty(t, b.owned(t, paging.Filter{Owner: "VM/web"}), "an owner without a uid is another one")
	t.Run("FiltersCombine", func(t *testing.T) {
		require.Equal(t, []string{"second", "third"}, b.owned(t, paging.Filter{Owner: "VM/web/1", Pool: ref("a")}))
		require.Equal(t, []string{"first"}, b.owned(t, paging.Filter{Owner: "VM/web/1", Labels: &ipam.Selector{MatchLabels: labels("tier", "front")}}))
	})
	t.Run("ChangedClaimsKeepTheirOwner", func(t *testing.T) {
		_, err := b.PatchClaim(b.ctx, project, "third", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) {
			c.Labels = labels("new", "1")
			return c, nil
		})
		require.NoError(t, err)
		require.Equal(t, []string{"first", "second", "third"}, b.owned(t, web))
	})
	t.Run("ReleasedClaimsAreGone", func(t *testing.T) {
		b.release(t, "second")
		b.release(t, "first")
		require.Equal(t, []string{"third"}, b.owned(t, web))
	})
}
