package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// TestReleaseFindsAClaimRecreatedOnAnotherServer creates a claim on one server, which caches it. Another server deletes the claim with its pool and
// creates both again. Then the first server must release the new claim, although its cache still has the old one.
func TestReleaseFindsAClaimRecreatedOnAnotherServer(t *testing.T) {
	t.Parallel()
	inNet, inElse := claim("y", "net", 32), claim("y", "else", 32)
	net, other := root("net", "10.0.0.0/24"), root("else", "10.1.0.0/24")
	plain := func(t *testing.T) *bundle {
		t.Helper()
		b := setup(t)
		b.pool(t, net)
		return b
	}
	scoped := func(t *testing.T) *bundle {
		t.Helper()
		return setupScoped(t, emptyFor(time.Hour))
	}
	for name, world := range map[string]struct {
		setup func(t *testing.T) *bundle
		claim ipam.Claim
		again func(t *testing.T, b *bundle) ipam.Claim // deletes the pool, class or project of the claim and creates it again; returns the claim to create
	}{
		"InAPoolOfTheSameName": {plain, inNet, func(t *testing.T, b *bundle) ipam.Claim {
			t.Helper()
			require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
			b.pool(t, net)
			return inNet
		}},
		"InAProjectOfTheSameName": {plain, inNet, func(t *testing.T, b *bundle) ipam.Claim {
			t.Helper()
			require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
			require.NoError(t, b.DeleteProject(b.ctx, project, usecase.Request{}))
			_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta(project)}, usecase.Request{})
			require.NoError(t, err)
			b.pool(t, net)
			return inNet
		}},
		"InAnotherPool": {plain, inNet, func(t *testing.T, b *bundle) ipam.Claim {
			t.Helper()
			require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
			b.pool(t, other)
			return inElse
		}},
		"InAPoolOfItsScope": {scoped, atSite("y", "ber"), func(t *testing.T, b *bundle) ipam.Claim {
			t.Helper()
			b.swept(t, 1, 0)
			b.clock.move(2 * time.Hour)
			b.swept(t, 0, 1)
			require.Empty(t, b.scopes(t))
			return atSite("y", "ber")
		}},
	} {
		for kind, request := range map[string]usecase.Request{"": {}, "DryRun": dry} {
			t.Run(name+kind, func(t *testing.T) {
				t.Parallel()
				b := world.setup(t)
				far, _ := b.server(t)
				_, err := far.CreateClaim(b.ctx, project, world.claim, usecase.Request{})
				require.NoError(t, err)
				b.release(t, "y")
				b.claim(t, world.again(t, b))
				require.NoError(t, far.DeleteClaim(b.ctx, project, "y", request))
				_, err = b.GetClaim(b.ctx, project, "y", usecase.Reading{})
				if request.DryRun {
					require.NoError(t, err)
				} else {
					refused(t, err, ipam.CodeNotFound)
				}
			})
		}
	}
}

// TestReleaseOfAClaimDeletedWithItsPoolNamesTheClaim releases a claim that no longer exists. The error must name the claim and not its pool.
func TestReleaseOfAClaimDeletedWithItsPoolNamesTheClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	far, _ := b.server(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	_, err := far.CreateClaim(b.ctx, project, claim("y", "net", 32), usecase.Request{})
	require.NoError(t, err)
	b.release(t, "y")
	require.NoError(t, b.DeletePool(b.ctx, project, "net", usecase.Request{}))
	require.Contains(t, refused(t, far.DeleteClaim(b.ctx, project, "y", usecase.Request{}), ipam.CodeNotFound).Message, "Claim acme/y")
}

// behind is a store whose clock is behind the true time. A server's estimate of the database's clock can be wrong in this way.
type behind struct{ storage.Store }

func (s behind) Now() time.Time { return s.Store.Now().Add(-time.Minute) }

// TestReleaseFindsANewerClaimDespiteASlowClock releases an existing claim on a server whose clock shows a time before the claim's creation.
func TestReleaseFindsANewerClaimDespiteASlowClock(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store, _ := b.store(t)
	far := alloc.New(behind{store}, alloc.Options{Region: region})
	b.Service, _ = b.serverOff(t, 0)
	b.pool(t, root("net", "10.0.0.0/24"))
	_, err := far.CreateClaim(b.ctx, project, claim("y", "net", 32), usecase.Request{})
	require.NoError(t, err)
	b.release(t, "y")
	b.claim(t, claim("y", "net", 32))
	require.NoError(t, far.DeleteClaim(b.ctx, project, "y", usecase.Request{}))
}
