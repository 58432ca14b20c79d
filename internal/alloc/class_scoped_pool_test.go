package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// scopedPool makes a claim "c" by the shared class "std". It returns the scoped pool that Carve made for the claim, in the project "platform".
func (b *bundle) scopedPool(t testing.TB) ipam.Pool {
	t.Helper()
	b.class(t, ipam.PlatformProject, class("std", sharedClass, poolPer(26)))
	b.poolIn(t, ipam.PlatformProject, root("net", "10.0.0.0/24", backing("std")))
	c := b.claim(t, byClass("c", "std", length(28)))
	p, err := b.GetPool(b.ctx, ipam.PlatformProject, c.Pool.Name, usecase.Reading{})
	require.NoError(t, err)
	require.NotNil(t, p.Scope)
	return p
}

func TestScopedPoolCannotBeUsedOutsideItsScope(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.scopedPool(t)
	patch := func(change poolOption) error {
		_, err := b.PatchPool(b.ctx, ipam.PlatformProject, p.Name, dry, func(p ipam.Pool) (ipam.Pool, error) { change(&p); return p, nil })
		return err
	}
	for name, c := range map[string]struct {
		change  poolOption
		pointer string
	}{
		"ListsNoClass":            {backing("std"), "/spec/classNames"},
		"SharedVisibilityRefused": {visible(ipam.VisibilityShared), "/spec/visibility"},
		"MayBeLabelled":           {labelled("a", "b"), ""},
		"MayReserve":              {reserving(ipam.Reservation{Last: 1}), ""},
		"ChangedStrategyAllowed":  {strategy(ipam.Sparse), ""},
	} {
		t.Run(name, func(t *testing.T) {
			err := patch(c.change)
			if c.pointer == "" {
				require.NoError(t, err)
				return
			}
			require.Equal(t, c.pointer, refused(t, err, ipam.CodeImmutableField).Fields[0].Pointer)
		})
	}
	t.Run("HasNoChildren", func(t *testing.T) {
		sub := child("sub", p.Name, 28, func(sub *ipam.Pool) { sub.Spec.Parent.Project = ipam.PlatformProject })
		_, err := b.CreatePool(b.ctx, ipam.PlatformProject, sub, usecase.Request{})
		require.Equal(t, "/spec/parentRef/name", refused(t, err, ipam.CodeInvalidArgument).Fields[0].Pointer, "it is there, and a claim that names it is refused in the same way")
		sub.Spec.Parent.Name = "net"
		_, err = b.CreatePool(b.ctx, ipam.PlatformProject, sub, dry)
		require.NoError(t, err)
	})
}

// The owner can delete an empty scoped pool. After that, the consumer's quotas no longer count the pool.
func TestEmptyScopedPoolIsDeletedByItsOwner(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.set(t, quota("q", maxPools(5)))
	_, err := b.PutQuota(b.ctx, ipam.PlatformProject, quota("q", maxPools(5)), usecase.Request{})
	require.NoError(t, err)
	p := b.scopedPool(t)
	used := func() [2]string {
		t.Helper()
		q, err := b.GetQuota(b.ctx, ipam.PlatformProject, "q")
		require.NoError(t, err)
		return [2]string{b.usage(t, "q")[2], figures(q.Used)[2]}
	}
	require.Equal(t, [2]string{"1", "1"}, used(), "the scope's pool, and the platform's own")
	remove := func() error { return b.DeletePool(b.ctx, ipam.PlatformProject, p.Name, usecase.Request{}) }
	refused(t, remove(), ipam.CodeInUse)
	b.release(t, "c")
	e := refused(t, b.DeleteProject(b.ctx, project, usecase.Request{}), ipam.CodeInUse)
	require.EqualValues(t, 1, *e.Figures.Pools, "an empty pool of its scopes keeps a project")
	require.NoError(t, remove())
	require.Equal(t, [2]string{"0", "1"}, used())
	require.NoError(t, b.DeleteProject(b.ctx, project, usecase.Request{}))
}
