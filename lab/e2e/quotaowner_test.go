package e2e

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
)

// A key of a tenant's admin cannot raise or delete the quotas of the platform. But it can add quotas of the tenant.
func TestQuotasOfThePlatformBindTheProjectsAdmin(t *testing.T) {
	t.Parallel()
	w := setupKeys(t)
	w.newProject(t, project)
	own := w.as(w.newKey(t, project, "own-admin", "admin"))
	put := func(c *caller, name string, claims int) answer {
		return c.do(t, http.MethodPut, at("quotas", name), obj{"spec": obj{"limits": obj{"claims": claims}}})
	}
	owner := func(a answer) client.QuotaOwner {
		t.Helper()
		require.True(t, a.ok(), string(a.body))
		return decode[client.Quota](t, a).Status.Owner
	}
	require.Equal(t, client.QuotaOwnerPlatform, owner(w.created(t, put(w.caller, "bound", 4))))
	w.writesNothingBut(t, func() {
		made := w.newEvents(t, func() {
			for _, a := range []answer{put(own, "bound", 1_000_000), put(own, "bound", 4), own.do(t, http.MethodDelete, at("quotas", "bound"), nil)} {
				require.Equal(t, http.StatusForbidden, a.status)
				require.Contains(t, w.refused(t, a, "permission_denied").Detail, "was set by the platform")
			}
		})
		require.Len(t, made, 3)
		for _, e := range made {
			require.Equal(t, []string{project, "Quota", "bound", "permission_denied"}, []string{e.Project, e.Kind, e.Name, e.Outcome})
		}
	}, "audit_events")
	require.Equal(t, client.QuotaOwnerPlatform, owner(own.do(t, http.MethodGet, at("quotas", "bound"), nil)), "it reads it")
	require.Equal(t, client.QuotaOwnerPlatform, owner(w.ok(t, put(w.caller, "bound", 5))))

	require.Equal(t, client.QuotaOwnerProject, owner(own.created(t, put(own, "mine", 2))))
	require.Equal(t, client.QuotaOwnerProject, owner(own.ok(t, put(own, "mine", 3))))
	require.Equal(t, client.QuotaOwnerPlatform, owner(w.ok(t, put(w.caller, "mine", 3))), "what the platform sets is the platform's")
	w.refused(t, put(own, "mine", 9), "permission_denied")
	var owners []client.QuotaOwner
	for _, q := range all[client.Quota](t, own, at("quotas")) {
		owners = append(owners, q.Status.Owner)
	}
	require.Equal(t, []client.QuotaOwner{client.QuotaOwnerPlatform, client.QuotaOwnerPlatform}, owners)
	w.deleted(t, w.do(t, http.MethodDelete, at("quotas", "bound"), nil))
}
