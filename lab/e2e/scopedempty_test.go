package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// The service deletes the pool of a scope when the pool has no claims. The next claim of the scope carves a new pool.
func TestEmptyPoolOfAScopeIsDeleted(t *testing.T) {
	t.Parallel()
	w := setup(t)
	w.classOf(t, "platform", "racks", obj{
		"ipFamily": "IPv4", "defaultPrefixLength": 28, "visibility": "shared", "poolPer": []string{"project", "rack"}, "poolPrefixLength": 24, "emptyPoolTTL": "1s",
	})
	w.poolOf(t, "platform", "hall", "10.0.0.0/23", "racks")
	spec := func(rack string) obj { return obj{"className": "racks", "scope": obj{"rack": rack}} }
	gone := w.claim(t, "gone", spec("a"))
	w.claim(t, "stays", spec("b"))
	w.refused(t, w.postClaim(t, "more", spec("c")), "pool_exhausted")
	w.release(t, "gone")
	require.Eventually(t, func() bool { return len(w.scopes(t)) == 1 }, waitLimit, 10*tick)
	kept := w.scopes(t)[0]
	require.Equal(t, map[string]string{"rack": "b"}, kept.Status.Scope.Values, "the other one is in use")
	w.refused(t, w.do(t, http.MethodGet, in("platform", "pools", gone.Status.PoolRef.Name), nil), "not_found")
	t.Run("ThePlatformsTrailHasTheDeletion", func(t *testing.T) {
		events := all[client.AuditEvent](t, w.caller, in("platform", "audit-events")+"?resourceName="+gone.Status.PoolRef.Name)
		require.Len(t, events, 2, "made and removed")
	})
	t.Run("ItsBlockServesOtherScopes", func(t *testing.T) {
		more := w.claim(t, "more", spec("c"))
		require.NotEqual(t, gone.Status.PoolRef, more.Status.PoolRef)
		require.Equal(t, gone.Status.AllocatedCIDR, more.Status.AllocatedCIDR)
	})
}
