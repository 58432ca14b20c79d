package backup_test

import (
	"fmt"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// Servers create claims during a backup. The backup must be one consistent state. It contains every claim whose response came before the backup, and
// no partial change. A server on the restored database can continue from this state.
func TestBackupUnderLoadIsOneSnapshot(t *testing.T) {
	t.Parallel()
	source, target := migrated(t, region), migrated(t, region)
	svc, stop := serve(t, source)
	withPool(t, svc)

	var before, all sync.Map // from the name of a claim to its block
	begun, done := make(chan struct{}), make(chan struct{})
	var claimants sync.WaitGroup
	for i := range 4 {
		claimants.Go(func() {
			for n := 0; ; n++ {
				select {
				case <-done:
					return
				default:
				}
				c, err := claim(t, svc, fmt.Sprintf("c-%d-%d", i, n))
				if err != nil {
					t.Error(err)
					return
				}
				select {
				case <-begun:
				default:
					before.Store(c.Name, c.Block)
				}
				all.Store(c.Name, c.Block)
				if n%3 == 2 { // also releases claims, but only claims that the test does not look for
					name := fmt.Sprintf("gone-%d-%d", i, n)
					if _, err := claim(t, svc, name); err != nil {
						t.Error(err)
					}
					if err := svc.DeleteClaim(admin(t), project, name, usecase.Request{}); err != nil {
						t.Error(err)
					}
				}
			}
		})
	}
	for first := 0; first < 40; first = size(&before) { // waits until the load has begun
		if t.Failed() {
			break
		}
	}
	close(begun)
	dir, m := create(t, source)
	close(done)
	claimants.Wait()
	stop()
	require.Equal(t, []string{region}, m.Regions)

	require.NoError(t, restore(t, target, dir))
	finish(t, target)
	restored, stop := serve(t, target)
	defer stop()
	before.Range(func(name, block any) bool {
		c, err := restored.GetClaim(admin(t), project, name.(string), usecase.Reading{})
		require.NoError(t, err, "it was answered before the backup began")
		require.Equal(t, block, c.Block)
		return true
	})
	there := 0
	page, err := restored.ListClaims(admin(t), project, paging.Filter{}, 1000, "", usecase.Reading{})
	for ; ; page, err = restored.ListClaims(admin(t), project, paging.Filter{}, 1000, page.Next, usecase.Reading{}) {
		require.NoError(t, err)
		there += len(page.Items)
		if page.Next == "" {
			break
		}
	}
	t.Logf("%d claims before the backup, %d in it, %d in all", size(&before), there, size(&all))
	c, err := claim(t, restored, "next")
	require.NoError(t, err)
	require.NoError(t, restored.DeleteClaim(admin(t), project, c.Name, usecase.Request{}))
	finish(t, target)
}

func size(m *sync.Map) (n int) {
	m.Range(func(any, any) bool { n++; return true })
	return n
}

// A restored database lacks all changes since the backup. The server responds to later requests accordingly.
func TestRestoreForgetsChangesSinceTheBackup(t *testing.T) {
	t.Parallel()
	source, target := migrated(t, region), migrated(t, region)
	svc, stop := serve(t, source)
	withPool(t, svc)
	kept, err := claim(t, svc, "kept")
	require.NoError(t, err)
	released, err := claim(t, svc, "released")
	require.NoError(t, err)
	dir, _ := create(t, source)
	late, err := claim(t, svc, "late")
	require.NoError(t, err)
	require.NoError(t, svc.DeleteClaim(admin(t), project, "released", usecase.Request{}))
	stop()

	require.NoError(t, restore(t, target, dir))
	finish(t, target)
	restored, stop := serve(t, target)
	defer stop()

	t.Run("EarlierKeyReturnsItsResponse", func(t *testing.T) {
		again, err := claim(t, restored, "kept")
		require.NoError(t, err)
		require.Equal(t, kept, again)
	})
	t.Run("LaterClaimIsNotFound", func(t *testing.T) {
		err := restored.DeleteClaim(admin(t), project, "late", usecase.Request{})
		require.True(t, ipam.IsCode(err, ipam.CodeNotFound), err)
	})
	t.Run("LaterReleasedClaimCanBeReleased", func(t *testing.T) {
		c, err := restored.GetClaim(admin(t), project, "released", usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, released.Block, c.Block)
		require.NoError(t, restored.DeleteClaim(admin(t), project, "released", usecase.Request{}))
		err = restored.DeleteClaim(admin(t), project, "released", usecase.Request{})
		require.True(t, ipam.IsCode(err, ipam.CodeNotFound), "once: %v", err)
	})
	t.Run("LaterKeyIsANewRequest", func(t *testing.T) {
		again, err := claim(t, restored, "late")
		require.NoError(t, err)
		require.NotEqual(t, late.UID, again.UID, "the first answer is gone with the claim")
	})
	finish(t, target)
}
