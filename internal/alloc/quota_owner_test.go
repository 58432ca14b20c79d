package alloc_test

import (
	"context"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// own returns the context of a caller that is an admin of the project, but not a platform admin.
func (b *bundle) own() context.Context { return b.acting("corp:own-admin", tenancy.Admin, project) }

// setAs creates or changes a quota as the caller in ctx.
func (b *bundle) setAs(ctx context.Context, t testing.TB, q ipam.Quota) ipam.Quota {
	t.Helper()
	r, err := b.PutQuota(ctx, project, q, usecase.Request{})
	require.NoError(t, err)
	return r.Value
}

// deniedQuotas requires that the caller cannot change a quota. The attempts must change nothing but the audit trail, which records them.
func (b *bundle) deniedQuotas(ctx context.Context, t testing.TB, puts ...ipam.Quota) {
	t.Helper()
	before := b.dump(t)
	tried := 0
	say := func(err error) {
		t.Helper()
		tried++
		require.Contains(t, refused(t, err, ipam.CodePermissionDenied).Message, "was set by the platform")
	}
	for _, q := range puts {
		for _, r := range []usecase.Request{{}, dry, {IfMatch: usecase.Match{Any: true}}} {
			_, err := b.PutQuota(ctx, project, q, r)
			say(err)
		}
	}
	for _, r := range []usecase.Request{{}, dry} {
		say(b.DeleteQuota(ctx, project, puts[0].Name, r))
	}
	after := b.dump(t)
	require.Len(t, after["audit_events"], len(before["audit_events"])+tried, "each attempt is in the trail")
	delete(before, "audit_events")
	delete(after, "audit_events")
	require.Equal(t, before, after)
	event := b.events(t, project, trail.EventFilter{Outcome: string(ipam.CodePermissionDenied)})[0]
	require.Equal(t, []string{"corp:own-admin", "Quota"}, []string{event.Subject, event.Kind})
}

func TestProjectCannotChangeAPlatformQuota(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	require.Equal(t, ipam.QuotaOfPlatform, b.setAs(b.ctx, t, quota("bound", maxClaims(1))).Owner)
	b.deniedQuotas(b.own(), t,
		quota("bound", maxClaims(1000)), quota("bound", maxAddresses(1)), quota("bound", maxClaims(1)),
		quota("bound", maxClaims(0)), quota("bound", maxClaims(1), ofFamily(ipam.IPv6)))
	b.claim(t, claim("a", "net", 32))
	_, err := b.CreateClaim(b.own(), project, claim("b", "net", 32), usecase.Request{})
	refused(t, err, ipam.CodeQuotaExceeded)

	raised := b.setAs(b.ctx, t, quota("bound", maxClaims(2)))
	require.Equal(t, ipam.QuotaOfPlatform, raised.Owner)
	b.claim(t, claim("b", "net", 32))
	require.NoError(t, b.DeleteQuota(b.ctx, project, "bound", usecase.Request{}))
	require.Equal(t, ipam.QuotaOfProject, b.setAs(b.own(), t, quota("bound", maxClaims(9))).Owner, "of the name alone nothing stays")
}

func TestProjectSetsItsOwnQuotas(t *testing.T) {
	t.Parallel()
	b := setup(t)
	made := b.setAs(b.own(), t, quota("mine", maxClaims(5)))
	require.Equal(t, ipam.QuotaOfProject, made.Owner)
	got, err := b.GetQuota(b.own(), project, "mine")
	require.NoError(t, err)
	require.Equal(t, ipam.QuotaOfProject, got.Owner)
	require.Equal(t, ipam.QuotaOfProject, b.setAs(b.own(), t, quota("mine", maxClaims(6))).Owner)

	before := b.dump(t)
	taken, err := b.PutQuota(b.ctx, project, quota("mine", maxClaims(6)), dry)
	require.NoError(t, err)
	require.Equal(t, ipam.QuotaOfPlatform, taken.Value.Owner)
	require.Equal(t, before, b.dump(t))

	was, err := b.GetQuota(b.ctx, project, "mine")
	require.NoError(t, err)
	b.clock.move(time.Minute)
	now := b.setAs(b.ctx, t, quota("mine", maxClaims(6)))
	require.Equal(t, ipam.QuotaOfPlatform, now.Owner, "what the platform sets is the platform's, with the same spec too")
	require.NotEqual(t, was.Revision, now.Revision)
	require.Equal(t, was.Generation, now.Generation, "its spec is the same")
	event := b.events(t, project, trail.EventFilter{Kind: "Quota", Outcome: "ok"})[0]
	require.JSONEq(t, `{"owner": "project"}`, string(event.Before))
	require.JSONEq(t, `{"owner": "platform"}`, string(event.After))
	require.Equal(t, now.Revision, b.setAs(b.ctx, t, quota("mine", maxClaims(6))).Revision, "and set again: nothing is written")
	b.deniedQuotas(b.own(), t, quota("mine", maxClaims(6)), quota("mine", maxClaims(7)))

	b.setAs(b.own(), t, quota("other", maxPools(1)))
	require.NoError(t, b.DeleteQuota(b.own(), project, "other", usecase.Request{}))
	require.NoError(t, b.DeleteProject(b.ctx, project, usecase.Request{}))
	require.Empty(t, b.dump(t)["quotas"])
}
