package alloc_test

import (
	"context"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

const other = "umbrella" // another tenant

// acting returns the context of a caller with a role in one project.
func (b *bundle) acting(subject string, role tenancy.Role, in string) context.Context {
	return tenancy.WithPrincipal(b.ctx, tenancy.Principal{Subject: subject, Method: "oidc", Roles: map[string]tenancy.Role{in: role}})
}

// neighbour creates the other tenant and returns the context of its admin.
func (b *bundle) neighbour(t testing.TB) context.Context {
	t.Helper()
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta(other)}, usecase.Request{})
	require.NoError(t, err)
	return b.acting("corp:neighbour", tenancy.Admin, other)
}

func member(subject string, role tenancy.Role) ipam.Member {
	return ipam.Member{Metadata: meta(subject), Spec: ipam.MemberSpec{Role: string(role)}}
}

// join gives a subject a role in a project.
func (b *bundle) join(t testing.TB, in, subject string, role tenancy.Role) ipam.Member {
	t.Helper()
	r, err := b.PutMember(b.ctx, in, member(subject, role), usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

func apiKey(name string, role tenancy.Role) ipam.APIKey {
	return ipam.APIKey{Metadata: meta(name), Spec: ipam.APIKeySpec{Role: string(role)}}
}

// mint creates an API key.
func (b *bundle) mint(t testing.TB, in string, k ipam.APIKey) ipam.APIKey {
	t.Helper()
	r, err := b.CreateKey(b.ctx, in, k, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

// events returns the events in a project's audit trail, newest first.
func (b *bundle) events(t testing.TB, in string, f trail.EventFilter) []ipam.Event {
	t.Helper()
	return all(t, 100, func(n int, c string) (paging.Page[ipam.Event], error) {
		return b.ListEvents(b.ctx, in, f, n, c, usecase.Reading{})
	})
}

// purge runs the background job that deletes outdated rows.
func (b *bundle) purge(t testing.TB) {
	t.Helper()
	store, _ := b.store(t)
	_, err := store.Purge(b.ctx, 100)
	require.NoError(t, err)
}
