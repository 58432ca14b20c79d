package alloc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// granter contains the four operations on the grants of one pool or space.
type granter struct {
	list   func(limit int, cursor string) (paging.Page[ipam.Grant], error)
	get    func(consumer string) (ipam.Grant, error)
	put    func(consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error)
	remove func(consumer string, r usecase.Request) error
}

func (b *bundle) poolGrants(ctx context.Context, pool string) granter {
	return granter{
		func(n int, c string) (paging.Page[ipam.Grant], error) {
			return b.ListPoolGrants(ctx, project, pool, n, c, usecase.Reading{})
		},
		func(consumer string) (ipam.Grant, error) { return b.GetPoolGrant(ctx, project, pool, consumer) },
		func(consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
			return b.PutPoolGrant(ctx, project, pool, consumer, r)
		},
		func(consumer string, r usecase.Request) error {
			return b.DeletePoolGrant(ctx, project, pool, consumer, r)
		},
	}
}

func (b *bundle) spaceGrants(ctx context.Context, space string) granter {
	return granter{
		func(n int, c string) (paging.Page[ipam.Grant], error) {
			return b.ListSpaceGrants(ctx, project, space, n, c, usecase.Reading{})
		},
		func(consumer string) (ipam.Grant, error) { return b.GetSpaceGrant(ctx, project, space, consumer) },
		func(consumer string, r usecase.Request) (usecase.Result[ipam.Grant], error) {
			return b.PutSpaceGrant(ctx, project, space, consumer, r)
		},
		func(consumer string, r usecase.Request) error {
			return b.DeleteSpaceGrant(ctx, project, space, consumer, r)
		},
	}
}

func TestGrantIsCreatedOnceListedAndDeleted(t *testing.T) {
	t.Parallel()
	for _, kind := range []ipam.GrantKind{ipam.GrantOfPool, ipam.GrantOfSpace} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/24"))
			g, none := b.poolGrants(b.ctx, "net"), b.poolGrants(b.ctx, "none")
			if kind == ipam.GrantOfSpace {
				g, none = b.spaceGrants(b.ctx, "default"), b.spaceGrants(b.ctx, "none")
			}
			made, err := g.put("nobody-knows", usecase.Request{})
			require.NoError(t, err, "nobody learns whether the project exists")
			require.False(t, made.Existed)
			require.Equal(t, []any{"nobody-knows", kind, project}, []any{made.Value.Name, made.Value.Kind, made.Value.Project})
			read, err := g.get("nobody-knows")
			require.NoError(t, err)
			require.Equal(t, made.Value, read)

			before := b.dump(t)
			again, err := g.put("nobody-knows", usecase.Request{})
			require.NoError(t, err)
			require.True(t, again.Existed)
			require.Equal(t, read, again.Value)
			for _, consumer := range []string{"", "Acme", "a b", "**", "acme/net"} {
				_, err := g.put(consumer, usecase.Request{})
				require.Equal(t, "path:consumer", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
			}
			_, err = g.put(project, usecase.Request{})
			refused(t, err, ipam.CodeInvalidArgument)
			_, err = none.put("b", usecase.Request{})
			refused(t, err, ipam.CodeNotFound)
			_, err = none.get("b")
			refused(t, err, ipam.CodeNotFound)
			_, err = none.list(1, "")
			refused(t, err, ipam.CodeNotFound)
			refused(t, none.remove("b", usecase.Request{}), ipam.CodeNotFound)
			_, err = g.get(ipam.Everybody)
			refused(t, err, ipam.CodeNotFound)
			require.Equal(t, before, b.dump(t))

			for _, consumer := range []string{ipam.Everybody, "b", "a-1", "a"} {
				_, err := g.put(consumer, usecase.Request{})
				require.NoError(t, err)
			}
			for _, limit := range []int{1, 2, 100} {
				var got []string
				for _, m := range all(t, limit, g.list) {
					got = append(got, m.Name)
				}
				require.Equal(t, []string{"*", "a", "a-1", "b", "nobody-knows"}, got)
			}
			_, err = g.list(1, alloc.SealCursor(string(kind)+"-grants", "a b"))
			refused(t, err, ipam.CodeInvalidArgument)
			refused(t, g.remove("a", ifMatch(ipam.NewID())), ipam.CodePreconditionFailed)
			require.NoError(t, g.remove("a", usecase.Request{}))
			refused(t, g.remove("a", usecase.Request{}), ipam.CodeNotFound)
		})
	}
}

func TestGrantsAreDeletedWithTheirPoolOrSpace(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, usecase.Request{})
	require.NoError(t, err)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.pool(t, root("stays", "10.1.0.0/24"))
	for _, g := range []granter{b.poolGrants(b.ctx, "net"), b.poolGrants(b.ctx, "stays"), b.spaceGrants(b.ctx, "blue")} {
		for _, consumer := range []string{"a", ipam.Everybody} {
			_, err := g.put(consumer, usecase.Request{})
			require.NoError(t, err)
		}
	}
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
	require.Len(t, b.dump(t)["grants"], 4)
	require.NoError(t, b.DeleteSpace(b.ctx, project, "blue", usecase.Request{}))
	require.Len(t, b.dump(t)["grants"], 2)
	b.pool(t, root("net", "10.0.0.0/24"))
	page, err := b.ListPoolGrants(b.ctx, project, "net", 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Empty(t, page.Items, "another pool of the name is not granted")
}

// rootIn returns a root pool in a space of another project.
func rootIn(space ipam.Ref, name, cidr string) ipam.Pool {
	p := root(name, cidr)
	p.Spec.Space = space
	return p
}

func TestRootPoolInASpaceOfAnotherProjectNeedsItsGrant(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	shared := ipam.Ref{Project: project, Name: "default"}
	create := func(space ipam.Ref) error {
		_, err := b.CreatePool(neighbour, other, rootIn(space, "net", "10.0.0.0/8"), usecase.Request{})
		return err
	}
	words := func(e *ipam.Error, ref ipam.Ref) {
		t.Helper()
		require.Equal(t, "Space "+ref.String()+" was not found.", e.Message)
		require.Equal(t, []ipam.Field{{Pointer: "/spec/spaceRef", Detail: "does not exist here, or is not shared with this project: check the name."}}, e.Fields)
	}
	before := b.dump(t)
	for _, ref := range []ipam.Ref{shared, {Project: project, Name: "none"}, {Project: "none", Name: "default"}} {
		words(refused(t, create(ref), ipam.CodeNotFound), ref)
	}
	require.Equal(t, before, b.dump(t))
	grants := b.spaceGrants(b.ctx, "default")
	for _, consumer := range []string{other, ipam.Everybody} {
		_, err := grants.put("somebody-else", usecase.Request{})
		require.NoError(t, err)
		words(refused(t, create(shared), ipam.CodeNotFound), shared)
		_, err = grants.put(consumer, usecase.Request{})
		require.NoError(t, err)
		require.NoError(t, create(shared))
		got, err := b.GetPool(neighbour, other, "net", usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, []ipam.Ref{shared, shared}, []ipam.Ref{got.Space, got.Spec.Space})

		require.NoError(t, grants.remove(consumer, usecase.Request{}))
		words(refused(t, create(shared), ipam.CodeNotFound), shared)
		_, err = b.CreatePool(neighbour, other, func() ipam.Pool {
			p := child("sub", "", 16)
			p.Spec.Parent = ipam.Ref{Project: other, Name: "net"}
			return p
		}(), usecase.Request{})
		require.NoError(t, err, "what was carved stays, and can be carved from")
		refused(t, b.DeleteProject(b.ctx, project, usecase.Request{}), ipam.CodeInUse)
		require.NoError(t, b.DeletePool(neighbour, other, "sub", usecase.Request{}))
		require.NoError(t, b.DeletePool(neighbour, other, "net", usecase.Request{}), "and can be given back")
		require.NoError(t, grants.remove("somebody-else", usecase.Request{}))
	}
	require.Equal(t, state(before), state(b.dump(t)), "the space is whole again")
}

// In a shared space, the refusal for an overlap names pools only if they are in the caller's own project.
func TestOverlapNamesOnlyPoolsOfTheOwnProject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	shared := ipam.Ref{Project: project, Name: "default"}
	_, err := b.PutSpaceGrant(b.ctx, project, "default", other, usecase.Request{})
	require.NoError(t, err)
	b.pool(t, root("secret-plan", "10.0.0.0/16"))
	_, err = b.CreatePool(neighbour, other, rootIn(shared, "theirs", "10.0.128.0/17"), usecase.Request{})
	e := refused(t, err, ipam.CodeOverlap)
	require.Empty(t, e.Figures.ConflictsWith)
	require.NotContains(t, e.Error(), "secret-plan")
	_, err = b.CreatePool(neighbour, other, rootIn(shared, "theirs", "10.1.0.0/16"), usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreatePool(neighbour, other, rootIn(shared, "more", "10.0.0.0/8"), usecase.Request{})
	e = refused(t, err, ipam.CodeOverlap)
	require.Equal(t, []string{"umbrella/theirs"}, e.Figures.ConflictsWith)
	require.NotContains(t, e.Error(), "secret-plan")
	_, err = b.CreatePool(b.ctx, project, root("wide", "10.0.0.0/8"), usecase.Request{})
	require.Equal(t, []string{"acme/secret-plan"}, refused(t, err, ipam.CodeOverlap).Figures.ConflictsWith, "nor does the owner of the space")
}

func TestSpaceGrantIsReadInTheCarvingTransaction(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	shared := ipam.Ref{Project: project, Name: "default"}
	_, err := b.PutSpaceGrant(b.ctx, project, "default", other, usecase.Request{})
	require.NoError(t, err)
	store, _ := b.store(t)
	g := newGate(store, "pool_create")
	s := b.serve(g)
	g.close()
	done := make(chan error)
	go func() {
		_, err := s.CreatePool(neighbour, other, rootIn(shared, "net", "10.0.0.0/8"), usecase.Request{})
		done <- err
	}()
	<-g.arrived // it has read the grant
	require.NoError(t, b.DeleteSpaceGrant(b.ctx, project, "default", other, usecase.Request{}))
	g.pass()
	refused(t, <-done, ipam.CodeNotFound)
}

func TestChildPoolNeedsAParentInItsOwnProject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	neighbour := b.neighbour(t)
	b.pool(t, root("net", "10.0.0.0/16", func(p *ipam.Pool) { p.Spec.Visibility = ipam.VisibilityShared }))
	_, err := b.PutPoolGrant(b.ctx, project, "net", ipam.Everybody, usecase.Request{})
	require.NoError(t, err)
	_, err = b.CreatePool(neighbour, other, child("sub", "net", 20), usecase.Request{})
	e := refused(t, err, ipam.CodeNotFound)
	require.Equal(t, "Pool acme/net was not found.", e.Message)
	require.Equal(t, "/spec/parentRef", e.Fields[0].Pointer)
}

func TestPlatformVisibilityIsOnlyForPlatformPools(t *testing.T) {
	t.Parallel()
	b := setup(t)
	platform := func(p *ipam.Pool) { p.Spec.Visibility = ipam.VisibilityPlatform }
	_, err := b.CreatePool(b.ctx, project, root("net", "10.0.0.0/16", platform), usecase.Request{})
	require.Equal(t, "/spec/visibility", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
	b.pool(t, root("net", "10.0.0.0/16"))
	_, err = b.patch("net", usecase.Request{}, platform)
	require.Equal(t, "/spec/visibility", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer)
	_, err = b.CreatePool(b.ctx, ipam.PlatformProject, rootIn(ipam.Ref{}, "net", "10.0.0.0/16"), usecase.Request{})
	require.NoError(t, err)
	_, err = b.PatchPool(b.ctx, ipam.PlatformProject, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) { platform(&p); return p, nil })
	require.NoError(t, err)
}

func TestGrantsNeedTheProviderRoleOfTheOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	for _, c := range []struct {
		role tenancy.Role
		in   string
		code ipam.Code
	}{
		{tenancy.Provider, project, ""}, {tenancy.Consumer, project, ipam.CodePermissionDenied}, {tenancy.Admin, other, ipam.CodeNotFound},
	} {
		ctx := b.acting("somebody", c.role, c.in)
		_, err := b.poolGrants(ctx, "net").put(string("x-"+c.role), usecase.Request{})
		require.Equal(t, c.code, ipam.CodeOf(err))
		_, err = b.spaceGrants(ctx, "default").list(1, "")
		require.Equal(t, c.code, ipam.CodeOf(err))
	}
}

// If a pool is deleted while a request grants it, the request returns not_found, with and without preconditions.
func TestGrantOfAConcurrentlyDeletedPoolIsNotFound(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for name, r := range map[string]usecase.Request{"plain": {}, "if-match": ifAny} {
		b.pool(t, root(name, "10.0.0.0/24"))
		err := b.meanwhile(t, "pool_grant_put", func(s *alloc.Service) error {
			_, err := s.PutPoolGrant(b.ctx, project, name, ipam.Everybody, r)
			return err
		}, func() { require.NoError(t, b.DeletePool(b.ctx, project, name, usecase.Request{})) })
		refused(t, err, ipam.CodeNotFound)
	}
}
