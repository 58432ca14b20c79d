package client_test

import (
	"context"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/client"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/api"
	"github.com/carve-ipam/carve/internal/api/auth"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// mirror has use cases that return their arguments. The test compares these arguments with the client's request.
type mirror struct{ api.UseCases }

func (mirror) Admit(ctx context.Context, action tenancy.Action, project string) error {
	_, err := tenancy.Authorize(ctx, action, project)
	return err
}

func (mirror) PutMember(_ context.Context, project string, m ipam.Member, _ usecase.Request) (usecase.Result[ipam.Member], error) {
	m.Project = project
	return usecase.Result[ipam.Member]{Value: m}, nil
}

func (mirror) GetPoolGrant(_ context.Context, project, pool, consumer string) (ipam.Grant, error) {
	return ipam.Grant{Metadata: ipam.Metadata{Name: consumer, Project: project + "/" + pool}}, nil
}

func (mirror) ListEvents(_ context.Context, _ string, f trail.EventFilter, _ int, _ string, _ usecase.Reading) (paging.Page[ipam.Event], error) {
	return paging.Page[ipam.Event]{Items: []ipam.Event{{Subject: f.Subject, Name: f.Name, At: f.Since.UTC()}}}, nil
}

func connect(t *testing.T) *client.Carve {
	t.Helper()
	server := httptest.NewServer(api.New(api.Config{Service: mirror{}, Authenticator: auth.Dev{}}))
	t.Cleanup(server.Close)
	c, err := client.New(server.URL)
	require.NoError(t, err)
	return c
}

// Some names are not DNS labels. The test checks that they arrive at the server unchanged over a real connection.
func TestNamesReachTheServerUnchanged(t *testing.T) {
	t.Parallel()
	c := connect(t)

	for _, subject := range []string{"corp:alice@example.com", "corp:a|b", "x+y", "a=b", "_.-", "dev"} {
		t.Run(subject, func(t *testing.T) {
			t.Parallel()
			put, err := c.PutMember(t.Context(), "team-a", subject, client.MemberPut{Spec: client.MemberSpec{Role: client.RoleAdmin}})
			require.NoError(t, err)
			require.Equal(t, subject, put.Metadata.Name)
			require.Equal(t, client.RoleAdmin, put.Spec.Role)
		})
	}

	for _, consumer := range []string{"team-b", "*"} {
		t.Run(consumer, func(t *testing.T) {
			t.Parallel()
			got, err := c.GetPoolGrant(t.Context(), "team-a", "p", consumer)
			require.NoError(t, err)
			require.Equal(t, consumer, got.Spec.Consumer)
		})
	}
}

func TestFiltersReachTheServerUnchanged(t *testing.T) {
	t.Parallel()
	subject, name := "key:team-a/pipeline", "corp:a|b+c=d@e"
	since := time.Date(2026, 3, 2, 9, 30, 0, 5e8, time.FixedZone("", 3600))
	got, err := connect(t).ListAuditEvents(t.Context(), "team-a", client.ListAuditEventsParams{
		Subject: &subject, ResourceName: &name, Since: &since,
	})
	require.NoError(t, err)
	require.Equal(t, subject, got.Items[0].Subject)
	require.Equal(t, name, got.Items[0].Resource.Name)
	require.True(t, since.Equal(got.Items[0].At), got.Items[0].At)
}
