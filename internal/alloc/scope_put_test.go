package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// putScope requests the pool for the scope of a site. The server makes the pool if it does not exist.
func (b *bundle) putScope(t testing.TB, site string) usecase.Result[ipam.Pool] {
	t.Helper()
	made, err := b.PutScopePool(b.ctx, project, "net", labels("site", site), usecase.Request{})
	require.NoError(t, err)
	return made
}

func TestPutCreatesAScopedPoolBeforeItsFirstClaim(t *testing.T) {
	t.Parallel()
	b := setupScoped(t, emptyFor(time.Hour))
	b.set(t, quota("q", maxPools(2)))
	dryRun, err := b.PutScopePool(b.ctx, project, "net", labels("site", "ber"), dry)
	require.NoError(t, err)
	require.False(t, dryRun.Existed)
	require.Empty(t, b.scopes(t))
	made := b.putScope(t, "ber")
	require.False(t, made.Existed)
	require.Equal(t, dryRun.Value.Block, made.Value.Block)
	require.Equal(t, "1", b.usage(t, "q")[2])
	again := b.putScope(t, "ber")
	require.True(t, again.Existed)
	require.Equal(t, made.Value, again.Value)
	got, err := b.GetScopePool(b.ctx, project, "net", labels("site", "ber"))
	require.NoError(t, err)
	require.Equal(t, made.Value, got)
	require.Equal(t, made.Value.UID, b.claim(t, atSite("c", "ber")).PoolID, "the first claim finds it")
	t.Run("ItIsInBothTrails", func(t *testing.T) {
		for _, in := range []string{platform, project} {
			require.Len(t, b.events(t, in, trail.EventFilter{Kind: "IPPool", Name: made.Value.Name}), 1, in)
		}
	})
	t.Run("HidesTheOwnersFields", func(t *testing.T) {
		require.Equal(t, platform, made.Value.Project)
		require.Zero(t, made.Value.Spec.Parent)
	})
	t.Run("Preconditions", func(t *testing.T) {
		_, err := b.PutScopePool(b.ctx, project, "net", labels("site", "ber"), usecase.Request{CreateOnly: true})
		refused(t, err, ipam.CodePreconditionFailed)
		_, err = b.PutScopePool(b.ctx, project, "net", labels("site", "new"), usecase.Request{IfMatch: usecase.Match{Any: true}})
		refused(t, err, ipam.CodePreconditionFailed)
	})
	b.putScope(t, "ham")
	t.Run("RefusedLikeAFirstClaim", func(t *testing.T) {
		_, err := b.PutScopePool(b.ctx, project, "net", labels("site", "muc"), usecase.Request{})
		want := b.refuseClaim(t, atSite("d", "muc"), ipam.CodeQuotaExceeded)
		require.Equal(t, want.Message, refused(t, err, ipam.CodeQuotaExceeded).Message)
	})
	b.clock.move(time.Second)
	b.swept(t, 1, 0)
	b.clock.move(2 * time.Hour)
	b.swept(t, 0, 1)
	_, err = b.GetScopePool(b.ctx, project, "net", labels("site", "ham"))
	refused(t, err, ipam.CodeNotFound)
}

func TestScopedPoolsOfAProjectAreListed(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	list := func(in string) (blocks []string) {
		for _, p := range all(t, 2, func(n int, c string) (paging.Page[ipam.Pool], error) {
			return b.ListScopePools(b.ctx, in, "net", n, c, usecase.Reading{})
		}) {
			require.NotEmpty(t, p.Stock.Free)
			blocks = append(blocks, p.Scope.Values["site"])
		}
		return blocks
	}
	for _, site := range []string{"muc", "ber", "ham"} {
		b.putScope(t, site)
	}
	require.Equal(t, []string{"ber", "ham", "muc"}, list(project))
	require.Empty(t, list(platform), "the owner's own scopes are others")
}

func TestPutOfAnInvalidScopedPoolIsRefused(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	b.class(t, project, class("plain"))
	b.class(t, project, class("bare", poolPer(24)))
	for name, c := range map[string]struct {
		class string
		scope map[string]string
		code  ipam.Code
	}{
		"NoClass": {"none", nil, ipam.CodeNotFound}, "NoPoolPer": {"plain", nil, ipam.CodeInvalidArgument},
		"NoRole": {"net", nil, ipam.CodeInvalidArgument}, "NoPool": {"bare", nil, ipam.CodeNoPoolForClass},
	} {
		t.Run(name, func(t *testing.T) {
			_, err := b.PutScopePool(b.ctx, project, c.class, c.scope, usecase.Request{})
			refused(t, err, c.code)
		})
	}
	_, err := b.PutScopePool(b.acting("corp:viewer", tenancy.Viewer, project), project, "net", labels("site", "x"), usecase.Request{})
	refused(t, err, ipam.CodePermissionDenied)
	b.drain(t, platform, "eu", ipam.DrainKeep)
	_, err = b.PutScopePool(b.ctx, project, "net", labels("site", "x"), usecase.Request{})
	refused(t, err, ipam.CodePoolDraining)
}

// If PUTs and claims for one scope run at the same time, they all get the same pool.
func TestConcurrentPutsAndClaimsCreateOneScopedPool(t *testing.T) {
	t.Parallel()
	b := setupScoped(t)
	far, _ := b.server(t)
	results := make(chan ipam.ID, 16)
	for i := range 8 {
		go func() {
			made, err := far.PutScopePool(b.ctx, project, "net", labels("site", "ber"), usecase.Request{})
			if err != nil {
				t.Error(err)
			}
			results <- made.Value.UID
		}()
		go func() {
			made, err := b.CreateClaim(b.ctx, project, atSite("c"+string(rune('a'+i)), "ber"), usecase.Request{})
			if err != nil {
				t.Error(err)
			}
			results <- made.Value.PoolID
		}()
	}
	first := <-results
	for range 15 {
		require.Equal(t, first, <-results)
	}
	require.Len(t, b.scopes(t), 1)
}
