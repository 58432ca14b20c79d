package alloc_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestWebhookURLSecretsAreVisibleOnlyToAdmins(t *testing.T) {
	t.Parallel()
	b, _ := hooked(t)
	const secret = "https://chat.example:8443/services/T0/TOPSECRET?token=ALSO"
	b.hook(t, ipam.WebhookSpec{URL: secret})
	require.NoError(t, b.changeHook(func(s *ipam.WebhookSpec) { s.URL = "https://chat.example:8443/services/T0/OTHERSECRET" }))
	require.NoError(t, b.changeHook(func(s *ipam.WebhookSpec) { s.URL = secret }))
	require.Equal(t, secret, b.hookNow(t).Spec.URL, "an admin reads it")
	for _, role := range []tenancy.Role{tenancy.Viewer, tenancy.Consumer, tenancy.Provider} {
		ctx := b.acting("corp:some", role, project)
		w, err := b.GetWebhook(ctx, project, "hook")
		require.NoError(t, err)
		page, err := b.ListWebhooks(ctx, project, 10, "", usecase.Reading{})
		require.NoError(t, err)
		for _, one := range append(page.Items, w) {
			require.Equal(t, "https://chat.example:8443/...", one.Spec.URL)
		}
	}
	changes := 0
	for _, e := range b.events(t, project, trail.EventFilter{Kind: trail.KindWebhook}) {
		text := string(e.Before) + string(e.After)
		require.NotContains(t, text, "SECRET")
		require.NotContains(t, text, "ALSO")
		if len(e.After) > 0 {
			require.Regexp(t, `"url":"https://chat.example:8443/...#[0-9a-f]{12}"`, text, "the trail shows that it was changed")
			changes++
		}
	}
	require.Equal(t, 3, changes)
}
