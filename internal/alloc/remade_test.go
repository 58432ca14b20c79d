package alloc_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// A project is deleted, and another tenant creates a project with the same name. The new project must inherit nothing, even on servers that have
// cached the old project.
func TestRecreatedProjectInheritsNothing(t *testing.T) {
	t.Parallel()
	const name = "beta"
	b := setup(t)
	servers := b.servers(t, 2)
	lent := func(c *ipam.Claim) { c.Spec.PoolRef.Project = project }
	b.pool(t, root("granted", "10.0.0.0/24", visible(ipam.VisibilityShared)))
	b.pool(t, root("open", "10.1.0.0/24", visible(ipam.VisibilityShared)))
	create := func() {
		_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta(name)}, usecase.Request{})
		require.NoError(t, err)
	}
	create()
	_, err := b.PutPoolGrant(b.ctx, project, "granted", name, usecase.Request{})
	require.NoError(t, err)
	_, err = b.PutPoolGrant(b.ctx, project, "open", ipam.Everybody, usecase.Request{})
	require.NoError(t, err)
	_, err = b.PutSpaceGrant(b.ctx, project, ipam.DefaultSpace, name, usecase.Request{})
	require.NoError(t, err)

	ctx := b.acting("corp:both", tenancy.Admin, name) // the configuration gives this role in every project with the name
	keyed := usecase.Request{Key: "key", Fingerprint: [16]byte{1}}
	b.class(t, name, class("own", lengths(24, 28, 28), defaultClass))
	b.poolIn(t, name, root("own", "10.2.0.0/24", backing("own")))
	b.populate(ctx, t, name)
	cursor := "" // position in the trail
	for i, s := range servers {
		at := string(rune('a' + i))
		for _, c := range []ipam.Claim{claim("lent-"+at, "granted", 28, lent), byClass("classed-"+at, "own"), byClass("default-"+at, ""), ownClaim(name, "pooled-"+at)} {
			r := usecase.Request{}
			if c.Name == "lent-a" {
				r = keyed
			}
			for range 2 { // the second time, the server uses its cache
				_, err := s.CreateClaim(ctx, name, c, r)
				require.NoError(t, err, c.Name)
				events, err := s.ListEvents(ctx, name, trail.EventFilter{}, 1, "", usecase.Reading{})
				require.NoError(t, err)
				cursor = events.Next
				require.NoError(t, s.DeleteClaim(ctx, name, c.Name, usecase.Request{}))
				r = usecase.Request{}
			}
		}
	}
	require.NotEmpty(t, cursor)
	require.NoError(t, b.DeletePool(b.ctx, name, "own", usecase.Request{}))
	require.NoError(t, b.DeleteProject(b.ctx, name, usecase.Request{}))
	create()

	for i, s := range servers {
		at := string(rune('a' + i))
		claims := func(c ipam.Claim, r usecase.Request) error {
			_, err := s.CreateClaim(ctx, name, c, r)
			return err
		}
		refused(t, claims(claim("x", "granted", 28, lent), usecase.Request{}), ipam.CodeNotFound)
		refused(t, claims(byClass("x", "own"), usecase.Request{}), ipam.CodeNotFound)
		refused(t, claims(byClass("x", ""), usecase.Request{}), ipam.CodeNoDefaultClass)
		refused(t, claims(ownClaim(name, "x"), usecase.Request{}), ipam.CodeNotFound)
		_, err := s.CreatePool(ctx, name, rootIn(ipam.Ref{Project: project, Name: ipam.DefaultSpace}, "x", "10.9.0.0/24"), usecase.Request{})
		refused(t, err, ipam.CodeNotFound)
		for _, old := range []string{"lent-", "classed-", "default-", "pooled-"} {
			_, err := s.GetClaim(ctx, name, old+at, usecase.Reading{})
			refused(t, err, ipam.CodeNotFound)
			refused(t, s.DeleteClaim(ctx, name, old+at, usecase.Request{}), ipam.CodeNotFound)
		}
		require.Empty(t, all(t, 100, func(n int, c string) (paging.Page[ipam.Claim], error) {
			return s.ListClaims(ctx, name, paging.Filter{}, n, c, usecase.Reading{})
		}))
		require.Empty(t, all(t, 100, func(n int, c string) (paging.Page[ipam.Pool], error) {
			return s.ListPools(ctx, name, paging.Filter{}, n, c, usecase.Reading{})
		}))
		require.Empty(t, all(t, 100, func(n int, c string) (paging.Page[ipam.Member], error) {
			return s.ListMembers(ctx, name, n, c, usecase.Reading{})
		}))
		require.Empty(t, all(t, 100, func(n int, c string) (paging.Page[ipam.APIKey], error) {
			return s.ListKeys(ctx, name, n, c, usecase.Reading{})
		}))
		require.Empty(t, b.events(t, name, trail.EventFilter{Outcome: "ok"}), "the trail begins with the project")
		page, err := s.GetHistory(ctx, name, address("10.2.0.1"), time.Time{}, 10, "", usecase.Reading{})
		require.NoError(t, err)
		require.Empty(t, page.Items)
		old, err := s.ListEvents(ctx, name, trail.EventFilter{Outcome: "ok"}, 100, cursor, usecase.Reading{})
		require.True(t, err != nil || len(old.Items) == 0, "an old cursor opens nothing")
	}
	t.Run("IdempotencyKeysAreDeleted", func(t *testing.T) {
		got, err := servers[0].CreateClaim(ctx, name, claim("lent-a", "open", 28, lent), keyed)
		require.NoError(t, err)
		require.False(t, got.Replayed)
		require.Equal(t, "open", got.Value.Pool.Name, "what everybody may use it may")
		require.NoError(t, servers[1].DeleteClaim(ctx, name, "lent-a", usecase.Request{}))
	})
	t.Run("QuotaNoLongerLimits", func(t *testing.T) {
		for _, c := range []string{"1", "2", "3", "4", "5", "6"} {
			_, err := servers[1].CreateClaim(ctx, name, claim("q-"+c, "open", 28, lent), usecase.Request{})
			require.NoError(t, err)
		}
	})
}

// populate gives a project a member, a key and a quota of four claims.
func (b *bundle) populate(ctx context.Context, t *testing.T, in string) {
	t.Helper()
	b.join(t, in, "corp:one", tenancy.Admin)
	b.mint(t, in, apiKey("one", tenancy.Admin))
	_, err := b.PutQuota(ctx, in, quota("four", maxClaims(4)), usecase.Request{})
	require.NoError(t, err)
}

func ownClaim(in, name string) ipam.Claim {
	return claim(name, "own", 28, func(c *ipam.Claim) { c.Spec.PoolRef.Project = in })
}

// A grant may name a project that does not exist yet. If a project with this name is created later, it must not inherit the grant.
func TestRecreatedPoolInheritsNoGrant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", visible(ipam.VisibilityShared)))
	for _, consumer := range []string{other, ipam.Everybody} {
		made, err := b.PutPoolGrant(b.ctx, project, "net", consumer, usecase.Request{})
		require.NoError(t, err, "the answer does not reveal whether the project exists")
		require.False(t, made.Existed)
	}
	require.NoError(t, b.DeletePoolGrant(b.ctx, project, "net", ipam.Everybody, usecase.Request{}))
	ctx := b.neighbour(t)
	taking := claim("one", "net", 32, func(c *ipam.Claim) { c.Spec.PoolRef = ipam.Ref{Project: project, Name: "net"} })
	_, err := b.CreateClaim(ctx, other, taking, usecase.Request{})
	refused(t, err, ipam.CodeNotFound)
	_, err = b.GetPoolGrant(b.ctx, project, "net", other)
	refused(t, err, ipam.CodeNotFound)
	_, err = b.PutPoolGrant(b.ctx, project, "net", other, usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreateClaim(ctx, other, taking, usecase.Request{})
	require.NoError(t, err)
}

func TestRecreatedPoolInheritsNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	lent := func(c *ipam.Claim) { c.Spec.PoolRef.Project = project }
	shared := root("net", "10.0.0.0/24", visible(ipam.VisibilityShared))
	b.pool(t, shared)
	_, err := b.PutPoolGrant(b.ctx, project, "net", other, usecase.Request{})
	require.NoError(t, err)
	servers := b.servers(t, 2)
	serve := func(s *alloc.Service) error {
		_, err := s.CreateClaim(neighbour, other, claim("c", "net", 28, lent), usecase.Request{})
		if err == nil {
			require.NoError(t, s.DeleteClaim(neighbour, other, "c", usecase.Request{}))
		}
		return err
	}
	for _, s := range servers {
		require.NoError(t, serve(s))
		require.NoError(t, serve(s))
	}
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
	for _, next := range []ipam.Pool{shared, root("net", "10.0.0.0/24")} {
		b.pool(t, next)
		for _, s := range servers {
			refused(t, serve(s), ipam.CodeNotFound)
		}
		require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
	}
}
