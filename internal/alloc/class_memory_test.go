package alloc_test

import (
	"fmt"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// TestClassCacheNeverServesStaleClasses changes, on one server, each row that a class look-up depends on. Another server has just cached this
// look-up. It must use the change in its next claim.
func TestClassCacheNeverServesStaleClasses(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t) // caches; b makes all changes
	b.class(t, platform, class("net", sharedClass, lengths(24, 30, 26)))
	b.poolIn(t, platform, root("b", "10.0.0.0/24", backing("net")))
	n := 0
	claimFar := func(name string) (ipam.Claim, error) {
		n++
		r, err := far.CreateClaim(b.ctx, project, byClass(fmt.Sprintf("c%d", n), name), usecase.Request{})
		return r.Value, err
	}
	served := func(name, pool string, bits int) {
		t.Helper()
		c, err := claimFar(name)
		require.NoError(t, err)
		require.Equal(t, []any{pool, bits}, []any{c.Pool.String(), c.Block.Bits()})
	}
	served("net", "platform/b", 26)

	_, err := b.PatchClass(b.ctx, platform, "net", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		length := 28
		c.Spec.DefaultPrefixLength = &length
		return c, nil
	})
	require.NoError(t, err)
	served("net", "platform/b", 28)

	b.poolIn(t, platform, root("a", "10.0.1.0/24", backing("net")))
	served("net", "platform/a", 28)
	_, err = b.PatchPool(b.ctx, platform, "a", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.ClassNames = nil
		return p, nil
	})
	require.NoError(t, err)
	served("net", "platform/b", 28)
	b.pool(t, root("aa", "10.1.0.0/24", backing("net")))
	served("net", "acme/aa", 28)
	_, err = b.patch("aa", usecase.Request{}, func(p *ipam.Pool) { hi := 24; p.Spec.Allocation.MaxPrefixLength = &hi })
	require.NoError(t, err)
	_, err = b.PatchClass(b.ctx, platform, "net", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.Description = "so that it is read again while pool aa does not serve it"
		return c, nil
	})
	require.NoError(t, err)
	served("net", "platform/b", 28)
	_, err = b.patch("aa", usecase.Request{}, func(p *ipam.Pool) { p.Spec.Allocation.MaxPrefixLength = nil })
	require.NoError(t, err)
	served("net", "acme/aa", 28)

	_, err = claimFar("")
	refused(t, err, ipam.CodeNoDefaultClass)
	b.class(t, platform, class("all", sharedClass, defaultClass, lengths(24, 30, 29)))
	b.poolIn(t, platform, root("c", "10.2.0.0/24", backing("all")))
	served("", "platform/c", 29)
	b.class(t, project, class("own", defaultClass, lengths(24, 32, 31)))
	b.pool(t, root("d", "10.3.0.0/24", backing("own")))
	served("", "acme/d", 31)
	_, err = b.PatchClass(b.ctx, project, "own", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.IsDefault = false
		return c, nil
	})
	require.NoError(t, err)
	served("", "platform/c", 29)

	_, err = b.PatchClass(b.ctx, platform, "net", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) {
		c.Spec.Visibility = ipam.VisibilityConsumer
		return c, nil
	})
	require.NoError(t, err)
	_, err = claimFar("net")
	refused(t, err, ipam.CodeNotFound)

	b.class(t, project, class("gone", lengths(24, 32, 31)))
	b.pool(t, root("e", "10.4.0.0/24", backing("gone")))
	served("gone", "acme/e", 31)
	require.NoError(t, b.DeleteClaim(b.ctx, project, fmt.Sprintf("c%d", n), usecase.Request{}))
	require.NoError(t, b.DeletePool(b.ctx, project, "e", usecase.Request{}))
	_, err = claimFar("gone")
	refused(t, err, ipam.CodeNoPoolForClass)
	require.NoError(t, b.DeleteClass(b.ctx, project, "gone", usecase.Request{}))
	_, err = claimFar("gone")
	refused(t, err, ipam.CodeNotFound)
}
