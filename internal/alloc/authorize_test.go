package alloc_test

import (
	"context"
	"net/netip"
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/feed"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/releases"
	"github.com/carve-ipam/carve/internal/alloc/search"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/alloc/utilization"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Each use case authorizes its caller before it does anything else.
func TestEveryUseCaseAuthorizesFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.class(t, project, class("std"))
	made := b.claim(t, claim("c", "net", 32, retain))
	before := b.dump(t)
	id := made.AllocationID.String()
	// These operations need no role in a project. A caller without a role gets these results from them.
	elsewhere := map[string]ipam.Code{"CreateProject": ipam.CodePermissionDenied, "ListProjects": "", "ListRegions": "", "Search": "", "Whoami": ""}
	cases := map[string]func(ctx context.Context) error{
		"CreateProject": func(ctx context.Context) error {
			_, err := b.CreateProject(ctx, ipam.Project{Metadata: meta("x")}, usecase.Request{})
			return err
		},
		"GetProject": func(ctx context.Context) error { _, err := b.GetProject(ctx, project); return err },
		"ListProjects": func(ctx context.Context) error {
			_, err := b.ListProjects(ctx, paging.Filter{}, 1, "", usecase.Reading{})
			return err
		},
		"PatchProject": func(ctx context.Context) error {
			_, err := b.PatchProject(ctx, project, usecase.Request{}, func(p ipam.Project) (ipam.Project, error) { return p, nil })
			return err
		},
		"DeleteProject": func(ctx context.Context) error { return b.DeleteProject(ctx, project, usecase.Request{}) },
		"CreateSpace": func(ctx context.Context) error {
			_, err := b.CreateSpace(ctx, project, ipam.Space{Metadata: meta("x")}, usecase.Request{})
			return err
		},
		"GetSpace": func(ctx context.Context) error { _, err := b.GetSpace(ctx, project, "default"); return err },
		"ListSpaces": func(ctx context.Context) error {
			_, err := b.ListSpaces(ctx, project, paging.Filter{}, 1, "", usecase.Reading{})
			return err
		},
		"PatchSpace": func(ctx context.Context) error {
			_, err := b.PatchSpace(ctx, project, "default", usecase.Request{}, func(s ipam.Space) (ipam.Space, error) { return s, nil })
			return err
		},
		"DeleteSpace": func(ctx context.Context) error { return b.DeleteSpace(ctx, project, "default", usecase.Request{}) },
		"CreatePool": func(ctx context.Context) error {
			_, err := b.CreatePool(ctx, project, root("x", "10.1.0.0/24"), usecase.Request{})
			return err
		},
		"GetPool": func(ctx context.Context) error {
			_, err := b.GetPool(ctx, project, "net", usecase.Reading{})
			return err
		},
		"GetPoolFree": func(ctx context.Context) error {
			_, err := b.GetPoolFree(ctx, project, "net", nil, 1, "", usecase.Reading{})
			return err
		},
		"GetPoolMap": func(ctx context.Context) error {
			_, err := b.GetPoolMap(ctx, project, "net", netip.Prefix{}, 8, usecase.Reading{})
			return err
		},
		"GetPoolUtilization": func(ctx context.Context) error {
			_, err := b.GetPoolUtilization(ctx, project, "net", utilization.Query{Points: 2}, usecase.Reading{})
			return err
		},
		"ListPools": func(ctx context.Context) error {
			_, err := b.ListPools(ctx, project, paging.Filter{}, 1, "", usecase.Reading{})
			return err
		},
		"PatchPool": func(ctx context.Context) error {
			_, err := b.PatchPool(ctx, project, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) { return p, nil })
			return err
		},
		"DeletePool": func(ctx context.Context) error { return b.DeletePool(ctx, project, "net", usecase.Request{}) },
		"CreateClass": func(ctx context.Context) error {
			_, err := b.CreateClass(ctx, project, class("x"), false, usecase.Request{})
			return err
		},
		"GetClass": func(ctx context.Context) error {
			_, err := b.GetClass(ctx, project, "std", usecase.Reading{})
			return err
		},
		"ListClasses": func(ctx context.Context) error {
			_, err := b.ListClasses(ctx, project, paging.Filter{}, 1, "", usecase.Reading{})
			return err
		},
		"PatchClass": func(ctx context.Context) error {
			_, err := b.PatchClass(ctx, project, "std", false, usecase.Request{}, func(c ipam.Class) (ipam.Class, error) { return c, nil })
			return err
		},
		"DeleteClass": func(ctx context.Context) error { return b.DeleteClass(ctx, project, "std", usecase.Request{}) },
		"CreateClaim": func(ctx context.Context) error {
			_, err := b.CreateClaim(ctx, project, claim("x", "net", 32), usecase.Request{})
			return err
		},
		"ExplainClaim": func(ctx context.Context) error {
			_, err := b.ExplainClaim(ctx, project, claim("x", "net", 32))
			return err
		},
		"PutClaim": func(ctx context.Context) error {
			_, err := b.PutClaim(ctx, project, claim("c", "net", 32, retain), usecase.Request{})
			return err
		},
		"CreateClaimBatch": func(ctx context.Context) error {
			_, err := b.CreateClaimBatch(ctx, project, []ipam.Claim{claim("x", "net", 32)}, usecase.Request{})
			return err
		},
		"ReleaseClaims": func(ctx context.Context) error {
			_, err := b.ReleaseClaims(ctx, project, releases.Selection{Names: []string{"x"}}, dry)
			return err
		},
		"PutScopePool": func(ctx context.Context) error {
			_, err := b.PutScopePool(ctx, project, "std", nil, usecase.Request{})
			return err
		},
		"GetScopePool": func(ctx context.Context) error {
			_, err := b.GetScopePool(ctx, project, "std", nil)
			return err
		},
		"ListScopePools": func(ctx context.Context) error {
			_, err := b.ListScopePools(ctx, project, "std", 1, "", usecase.Reading{})
			return err
		},
		"Search": func(ctx context.Context) error {
			_, err := b.Search(ctx, search.Query{Text: "net", Limit: 1}, usecase.Reading{})
			return err
		},
		"ListRegions": func(ctx context.Context) error { _, _, err := b.ListRegions(ctx); return err },
		"GetClaim": func(ctx context.Context) error {
			_, err := b.GetClaim(ctx, project, "c", usecase.Reading{})
			return err
		},
		"ListClaims": func(ctx context.Context) error {
			_, err := b.ListClaims(ctx, project, paging.Filter{}, 1, "", usecase.Reading{})
			return err
		},
		"PatchClaim": func(ctx context.Context) error {
			_, err := b.PatchClaim(ctx, project, "c", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) { return c, nil })
			return err
		},
		"DeleteClaim": func(ctx context.Context) error { return b.DeleteClaim(ctx, project, "c", usecase.Request{}) },
		"GetAllocation": func(ctx context.Context) error {
			_, err := b.GetAllocation(ctx, project, id, usecase.Reading{})
			return err
		},
		"ListAllocations": func(ctx context.Context) error {
			_, err := b.ListAllocations(ctx, project, paging.Filter{}, 1, "", usecase.Reading{})
			return err
		},
		"ListMembers": func(ctx context.Context) error {
			_, err := b.ListMembers(ctx, project, 1, "", usecase.Reading{})
			return err
		},
		"GetMember": func(ctx context.Context) error { _, err := b.GetMember(ctx, project, "x"); return err },
		"PutMember": func(ctx context.Context) error {
			_, err := b.PutMember(ctx, project, ipam.Member{Metadata: meta("x"), Spec: ipam.MemberSpec{Role: "viewer"}}, usecase.Request{})
			return err
		},
		"DeleteMember": func(ctx context.Context) error { return b.DeleteMember(ctx, project, "x", usecase.Request{}) },
		"ListKeys": func(ctx context.Context) error {
			_, err := b.ListKeys(ctx, project, 1, "", usecase.Reading{})
			return err
		},
		"GetKey": func(ctx context.Context) error { _, err := b.GetKey(ctx, project, "x"); return err },
		"CreateKey": func(ctx context.Context) error {
			_, err := b.CreateKey(ctx, project, ipam.APIKey{Metadata: meta("x"), Spec: ipam.APIKeySpec{Role: "viewer"}}, usecase.Request{})
			return err
		},
		"DeleteKey": func(ctx context.Context) error { return b.DeleteKey(ctx, project, "x", usecase.Request{}) },
		"ListPoolGrants": func(ctx context.Context) error {
			_, err := b.ListPoolGrants(ctx, project, "net", 1, "", usecase.Reading{})
			return err
		},
		"GetPoolGrant": func(ctx context.Context) error { _, err := b.GetPoolGrant(ctx, project, "net", "*"); return err },
		"PutPoolGrant": func(ctx context.Context) error {
			_, err := b.PutPoolGrant(ctx, project, "net", "*", usecase.Request{})
			return err
		},
		"DeletePoolGrant": func(ctx context.Context) error { return b.DeletePoolGrant(ctx, project, "net", "*", usecase.Request{}) },
		"ListSpaceGrants": func(ctx context.Context) error {
			_, err := b.ListSpaceGrants(ctx, project, "default", 1, "", usecase.Reading{})
			return err
		},
		"GetSpaceGrant": func(ctx context.Context) error { _, err := b.GetSpaceGrant(ctx, project, "default", "*"); return err },
		"PutSpaceGrant": func(ctx context.Context) error {
			_, err := b.PutSpaceGrant(ctx, project, "default", "*", usecase.Request{})
			return err
		},
		"DeleteSpaceGrant": func(ctx context.Context) error {
			return b.DeleteSpaceGrant(ctx, project, "default", "*", usecase.Request{})
		},
		"ListQuotas": func(ctx context.Context) error {
			_, err := b.ListQuotas(ctx, project, 1, "", usecase.Reading{})
			return err
		},
		"GetQuota": func(ctx context.Context) error { _, err := b.GetQuota(ctx, project, "x"); return err },
		"PutQuota": func(ctx context.Context) error {
			one := int64(1)
			_, err := b.PutQuota(ctx, project, ipam.Quota{Metadata: meta("x"), Spec: ipam.QuotaSpec{Limits: ipam.QuotaLimits{Claims: &one}}}, usecase.Request{})
			return err
		},
		"DeleteQuota": func(ctx context.Context) error { return b.DeleteQuota(ctx, project, "x", usecase.Request{}) },
		"ListConsumers": func(ctx context.Context) error {
			_, err := b.ListConsumers(ctx, project, "x", consumers.Filter{}, 1, "", usecase.Reading{})
			return err
		},
		"GetConsumer": func(ctx context.Context) error { _, err := b.GetConsumer(ctx, project, user("x").Ref); return err },
		"PutConsumer": func(ctx context.Context) error {
			_, err := b.PutConsumer(ctx, project, user("x"), usecase.Request{})
			return err
		},
		"EndConsumer": func(ctx context.Context) error {
			_, err := b.EndConsumer(ctx, project, user("x").Ref, usecase.Request{})
			return err
		},
		"DetachConsumer": func(ctx context.Context) error {
			return b.DetachConsumer(ctx, project, "c", user("x").Ref, usecase.Request{})
		},
		"AttachConsumer": func(ctx context.Context) error {
			_, err := b.AttachConsumer(ctx, project, "c", user("x"), usecase.Request{})
			return err
		},
		"ListClaimConsumers": func(ctx context.Context) error {
			_, err := b.ListClaimConsumers(ctx, project, "c", 1, "", usecase.Reading{})
			return err
		},
		"RenewConsumers": func(ctx context.Context) error {
			_, err := b.RenewConsumers(ctx, project, consumers.Renewals{Realm: "x", UIDs: []string{"x"}}, usecase.Request{})
			return err
		},
		"GetRealm": func(ctx context.Context) error { _, err := b.GetRealm(ctx, project, "x"); return err },
		"ConfirmExpiry": func(ctx context.Context) error {
			_, err := b.ConfirmExpiry(ctx, project, "x", usecase.Request{})
			return err
		},
		"ListEvents": func(ctx context.Context) error {
			_, err := b.ListEvents(ctx, project, trail.EventFilter{}, 1, "", usecase.Reading{})
			return err
		},
		"GetHistory": func(ctx context.Context) error {
			_, err := b.GetHistory(ctx, project, address("10.0.0.1"), time.Time{}, 1, "", usecase.Reading{})
			return err
		},
		"Follow": func(ctx context.Context) error {
			_, err := b.Follow(ctx, project, "", feed.Filter{})
			return err
		},
		"ListAlertRules": func(ctx context.Context) error {
			_, err := b.ListAlertRules(ctx, project, 1, "", usecase.Reading{})
			return err
		},
		"CreateAlertRule": func(ctx context.Context) error {
			_, err := b.CreateAlertRule(ctx, project, onPools("x", 80), usecase.Request{})
			return err
		},
		"GetAlertRule": func(ctx context.Context) error { _, err := b.GetAlertRule(ctx, project, "x"); return err },
		"PatchAlertRule": func(ctx context.Context) error {
			_, err := b.PatchAlertRule(ctx, project, "x", usecase.Request{}, func(r ipam.AlertRule) (ipam.AlertRule, error) { return r, nil })
			return err
		},
		"DeleteAlertRule": func(ctx context.Context) error { return b.DeleteAlertRule(ctx, project, "x", usecase.Request{}) },
		"ListAlerts": func(ctx context.Context) error {
			_, err := b.ListAlerts(ctx, project, 1, "", usecase.Reading{})
			return err
		},
		"ListWebhooks": func(ctx context.Context) error {
			_, err := b.ListWebhooks(ctx, project, 1, "", usecase.Reading{})
			return err
		},
		"CreateWebhook": func(ctx context.Context) error {
			_, err := b.CreateWebhook(ctx, project, ipam.Webhook{Metadata: ipam.Metadata{Name: "x"}}, usecase.Request{})
			return err
		},
		"GetWebhook": func(ctx context.Context) error { _, err := b.GetWebhook(ctx, project, "x"); return err },
		"PatchWebhook": func(ctx context.Context) error {
			_, err := b.PatchWebhook(ctx, project, "x", usecase.Request{}, func(w ipam.Webhook) (ipam.Webhook, error) { return w, nil })
			return err
		},
		"DeleteWebhook": func(ctx context.Context) error { return b.DeleteWebhook(ctx, project, "x", usecase.Request{}) },
		"ListDeliveries": func(ctx context.Context) error {
			_, err := b.ListDeliveries(ctx, project, "x", 1, "", usecase.Reading{})
			return err
		},
		"DeleteDelivery": func(ctx context.Context) error {
			return b.DeleteDelivery(ctx, project, "x", ipam.NewID(), usecase.Request{})
		},
		"RetryDelivery": func(ctx context.Context) error {
			_, err := b.RetryDelivery(ctx, project, "x", ipam.NewID(), usecase.Request{})
			return err
		},
		"Whoami":           func(ctx context.Context) error { _, err := b.Whoami(ctx); return err },
		"DeleteAllocation": func(ctx context.Context) error { return b.DeleteAllocation(ctx, project, id, usecase.Request{}) },
	}
	for method := range reflect.TypeFor[*alloc.Service]().Methods() {
		switch name := method.Name; name {
		case "Admit": // it authorizes its caller itself, and records the attempt
		case "EnsurePlatform", "EnsureBootstrap", "Bootstrap": // only the server and its operator call them, without authorization
		case "FreeCooled", "SweepScopes", "DeleteDrained", "RebalanceStocks", "ExpireConsumers", "DeliverWebhooks", "EvaluateAlerts": // background jobs
		case "ReleaseUnused", "ForgetClaim", "ReleaseAsRead": // called by consumers and releases, which have authorized the caller
		case "Reconcile": // only the operator calls it, with access to the database
		case "Queues", "Followers", "OldestUndelivered", "AlertCounts": // only the metrics call them
		case "ChangesMark", "ChangesCursor", "CursorOf", "FollowSelf", "EndFeed", "EndWebhooks": // authorized lists and webhooks call them, and the shutdown
		case "Waiting", "LockedContainers", "Users", "Searching": // only tests call them
		default:
			require.Contains(t, cases, name)
		}
	}
	for name, run := range cases {
		t.Run(name, func(t *testing.T) {
			refused(t, run(t.Context()), ipam.CodeUnauthenticated)
			want, ok := elsewhere[name]
			if !ok {
				want = ipam.CodeNotFound
			}
			require.Equal(t, want, ipam.CodeOf(run(tenancy.WithPrincipal(t.Context(), tenancy.Principal{Subject: "stranger"}))))
		})
	}
	require.Equal(t, before, b.dump(t))
}
