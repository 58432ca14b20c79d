package alloc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// change is a call of a use case, with the event that it must record. Changes of claims have their own test.
type change struct {
	name       string
	run        func(ctx context.Context, r usecase.Request) error
	trail      string // project whose audit trail has the event
	kind, of   string
	before     string // JSON; "" for null
	after      string
	idempotent bool // a second call changes nothing and succeeds
}

func (b *bundle) changes() []change {
	in := project
	dropped := func(_ any, err error) error { return err }
	return []change{
		{"CreateProject", func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateProject(ctx, ipam.Project{Metadata: ipam.Metadata{Name: other, Labels: labels("a", "b")}}, r)
			return err
		}, ipam.PlatformProject, "Project", other, "", `{"labels":{"a":"b"},"spec":{}}`, false},
		{"PatchProject", func(ctx context.Context, r usecase.Request) error {
			return dropped(b.PatchProject(ctx, other, r, func(p ipam.Project) (ipam.Project, error) {
				p.Spec.DisplayName, p.Labels = "Umbrella", labels("a", "c")
				return p, nil
			}))
		}, other, "Project", other, `{"labels":{"a":"b"},"spec":{}}`, `{"labels":{"a":"c"},"spec":{"displayName":"Umbrella"}}`, true},
		{"DeleteProject", func(ctx context.Context, r usecase.Request) error { return b.DeleteProject(ctx, other, r) },
			ipam.PlatformProject, "Project", other, `{"labels":{"a":"c"},"spec":{"displayName":"Umbrella"}}`, "", false},
		{"CreateSpace", func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateSpace(ctx, in, ipam.Space{Metadata: meta("blue")}, r)
			return err
		}, in, "Space", "blue", "", `{"spec":{}}`, false},
		{"PatchSpace", func(ctx context.Context, r usecase.Request) error {
			return dropped(b.PatchSpace(ctx, in, "blue", r, func(s ipam.Space) (ipam.Space, error) { s.Spec.Description = "VRF"; return s, nil }))
		}, in, "Space", "blue", `{"spec":{}}`, `{"spec":{"description":"VRF"}}`, true},
		{"PutSpaceGrant", func(ctx context.Context, r usecase.Request) error {
			_, err := b.PutSpaceGrant(ctx, in, "blue", "team-b", r)
			return err
		}, in, "SpaceGrant", "blue", "", `{"spec":{"consumer":"team-b"}}`, true},
		{"DeleteSpaceGrant", func(ctx context.Context, r usecase.Request) error {
			return b.DeleteSpaceGrant(ctx, in, "blue", "team-b", r)
		}, in, "SpaceGrant", "blue", `{"spec":{"consumer":"team-b"}}`, "", false},
		{"DeleteSpace", func(ctx context.Context, r usecase.Request) error { return b.DeleteSpace(ctx, in, "blue", r) },
			in, "Space", "blue", `{"spec":{"description":"VRF"}}`, "", false},
		{"CreateClass", func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateClass(ctx, in, class("std", within(20, 28)), false, r)
			return err
		}, in, "IPClass", "std", "", `{"spec":{"provisioner":"native","ipFamily":"IPv4","allowedPrefixLengths":{"min":20,"max":28},
			"isDefault":false,"poolSelection":"FirstFit","reclaimPolicy":"Delete","uniqueWithin":"Space","visibility":"consumer"}}`, false},
		{"PatchClass", func(ctx context.Context, r usecase.Request) error {
			return dropped(b.PatchClass(ctx, in, "std", false, r, func(c ipam.Class) (ipam.Class, error) {
				c.Spec.IsDefault, c.Spec.ReuseAfter, c.Spec.MaxPrefixLength = true, new(72*time.Hour), new(30)
				return c, nil
			}))
		}, in, "IPClass", "std", `{"spec":{"allowedPrefixLengths":{"max":28},"isDefault":false}}`,
			`{"spec":{"allowedPrefixLengths":{"max":30},"isDefault":true,"reuseAfter":"72h"}}`, true},
		{"CreatePoolOfAClass", func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreatePool(ctx, in, root("backing", "10.9.0.0/16", backing("std"), func(p *ipam.Pool) { p.Spec.ReuseAfter = new(time.Hour) }), r)
			return err
		}, in, "IPPool", "backing", "", `{"allocatedCIDR":"10.9.0.0/16","spec":{"allocation":{"strategy":"BestFit"},"cidr":"10.9.0.0/16",
			"classNames":["std"],"region":"local","reuseAfter":"1h","spaceRef":{"project":"acme","name":"default"},"visibility":"consumer"}}`, false},
		{"PatchPoolOfAClass", func(ctx context.Context, r usecase.Request) error {
			return dropped(b.PatchPool(ctx, in, "backing", r, func(p ipam.Pool) (ipam.Pool, error) {
				p.Spec.ClassNames, p.Spec.ReuseAfter = nil, new(time.Minute)
				return p, nil
			}))
		}, in, "IPPool", "backing", `{"spec":{"classNames":["std"],"reuseAfter":"1h"}}`, `{"spec":{"reuseAfter":"1m"}}`, true},
		{"DeletePoolOfAClass", func(ctx context.Context, r usecase.Request) error { return b.DeletePool(ctx, in, "backing", r) },
			in, "IPPool", "backing", `{"allocatedCIDR":"10.9.0.0/16","spec":{"allocation":{"strategy":"BestFit"},"cidr":"10.9.0.0/16",
			"region":"local","reuseAfter":"1m","spaceRef":{"project":"acme","name":"default"},"visibility":"consumer"}}`, "", false},
		{"DeleteClass", func(ctx context.Context, r usecase.Request) error { return b.DeleteClass(ctx, in, "std", r) },
			in, "IPClass", "std", `{"spec":{"provisioner":"native","ipFamily":"IPv4","allowedPrefixLengths":{"min":20,"max":30},
			"isDefault":true,"poolSelection":"FirstFit","reclaimPolicy":"Delete","reuseAfter":"72h","uniqueWithin":"Space","visibility":"consumer"}}`, "", false},
		{"CreatePool", func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreatePool(ctx, in, child("sub", "net", 24), r)
			return err
		}, in, "IPPool", "sub", "", `{"allocatedCIDR":"10.0.0.0/24","spec":{"allocation":{"strategy":"BestFit"},
			"parentRef":{"project":"acme","name":"net"},"prefixLength":24,"region":"local","visibility":"consumer"}}`, false},
		{"PatchPool", func(ctx context.Context, r usecase.Request) error {
			return dropped(b.PatchPool(ctx, in, "sub", r, func(p ipam.Pool) (ipam.Pool, error) {
				p.Spec.Visibility, p.Spec.Reservations = ipam.VisibilityShared, []ipam.Reservation{{First: 1}}
				return p, nil
			}))
		}, in, "IPPool", "sub", `{"spec":{"visibility":"consumer"}}`, `{"spec":{"reservations":[{"first":1}],"visibility":"shared"}}`, true},
		{"PutPoolGrant", func(ctx context.Context, r usecase.Request) error {
			_, err := b.PutPoolGrant(ctx, in, "sub", ipam.Everybody, r)
			return err
		}, in, "PoolGrant", "sub", "", `{"spec":{"consumer":"*"}}`, true},
		{"DeletePoolGrant", func(ctx context.Context, r usecase.Request) error {
			return b.DeletePoolGrant(ctx, in, "sub", ipam.Everybody, r)
		}, in, "PoolGrant", "sub", `{"spec":{"consumer":"*"}}`, "", false},
		{"DeletePool", func(ctx context.Context, r usecase.Request) error { return b.DeletePool(ctx, in, "sub", r) },
			in, "IPPool", "sub", `{"allocatedCIDR":"10.0.0.0/24","spec":{"allocation":{"strategy":"BestFit"},
			"parentRef":{"project":"acme","name":"net"},"prefixLength":24,"region":"local","reservations":[{"first":1}],"visibility":"shared"}}`, "", false},
		{"PutMember", func(ctx context.Context, r usecase.Request) error {
			_, err := b.PutMember(ctx, in, member("corp:alice", tenancy.Viewer), r)
			return err
		}, in, "Member", "corp:alice", "", `{"spec":{"role":"viewer"}}`, true},
		{"PutMemberAgain", func(ctx context.Context, r usecase.Request) error {
			_, err := b.PutMember(ctx, in, member("corp:alice", tenancy.Admin), r)
			return err
		}, in, "Member", "corp:alice", `{"spec":{"role":"viewer"}}`, `{"spec":{"role":"admin"}}`, true},
		{"DeleteMember", func(ctx context.Context, r usecase.Request) error { return b.DeleteMember(ctx, in, "corp:alice", r) },
			in, "Member", "corp:alice", `{"spec":{"role":"admin"}}`, "", false},
		{"CreateKey", func(ctx context.Context, r usecase.Request) error {
			_, err := b.CreateKey(ctx, in, apiKey("ci", tenancy.Consumer), r)
			return err
		}, in, "ApiKey", "ci", "", `{"spec":{"role":"consumer"}}`, false},
		{"DeleteKey", func(ctx context.Context, r usecase.Request) error { return b.DeleteKey(ctx, in, "ci", r) },
			in, "ApiKey", "ci", `{"spec":{"role":"consumer"}}`, "", false},
		{"PutQuota", func(ctx context.Context, r usecase.Request) error {
			_, err := b.PutQuota(ctx, in, quota("q", maxClaims(5), maxAddresses(12), ofFamily(ipam.IPv4)), r)
			return err
		}, in, "Quota", "q", "", `{"owner":"platform","spec":{"limits":{"addresses":"12","claims":5},"scope":{"ipFamily":"IPv4"}}}`, true},
		{"PutQuotaAgain", func(ctx context.Context, r usecase.Request) error {
			_, err := b.PutQuota(ctx, in, quota("q", maxClaims(6), ofFamily(ipam.IPv4), described("more")), r)
			return err
		}, in, "Quota", "q", `{"spec":{"limits":{"addresses":"12","claims":5}}}`, `{"spec":{"description":"more","limits":{"claims":6}}}`, true},
		{"DeleteQuota", func(ctx context.Context, r usecase.Request) error { return b.DeleteQuota(ctx, in, "q", r) },
			in, "Quota", "q", `{"owner":"platform","spec":{"description":"more","limits":{"claims":6},"scope":{"ipFamily":"IPv4"}}}`, "", false},
	}
}

// Each change records exactly one event, in the audit trail of one project. The event has the caller, the operation, the remote address and the
// changed fields. A dry run, a replay and a request without effect record no event.
func TestEveryChangeRecordsOneEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16", strategy(ipam.FirstFit)))
	b.neighbour(t)
	require.NoError(t, b.DeleteProject(b.ctx, other, usecase.Request{}))
	count := func() int { return len(b.dump(t)["audit_events"]) }
	for _, c := range b.changes() {
		t.Run(c.name, func(t *testing.T) {
			b.clock.move(time.Second)
			origin := tenancy.Origin{RequestID: "request-" + c.name, Remote: "192.0.2.10", Operation: "operation" + c.name}
			ctx := tenancy.WithOrigin(b.ctx, origin)
			had := count()
			require.NoError(t, c.run(ctx, dry))
			require.Equal(t, had, count(), "a dry run leaves no event")
			r := key(c.name, c.name)
			require.NoError(t, c.run(ctx, r))
			require.Equal(t, had+1, count())
			got := b.events(t, c.trail, trail.EventFilter{Operation: origin.Operation})
			require.Len(t, got, 1)
			e := got[0]
			require.Equal(t, []any{b.clock.read(), "tester", "dev", origin.Remote, origin.RequestID, c.kind, c.of, "ok"},
				[]any{e.At, e.Subject, e.Method, e.Remote, e.RequestID, e.Kind, e.Name, e.Outcome})
			for _, doc := range []struct {
				want string
				got  json.RawMessage
			}{{c.before, e.Before}, {c.after, e.After}} {
				if doc.want == "" {
					require.Nil(t, doc.got)
				} else {
					require.JSONEq(t, doc.want, string(doc.got))
				}
			}
			if c.idempotent {
				require.NoError(t, c.run(ctx, usecase.Request{}))
				require.Equal(t, had+1, count(), "what changes nothing leaves no event")
			} else if c.before == "" {
				require.NoError(t, c.run(ctx, r))
				require.Equal(t, had+1, count(), "a replay leaves no event")
				require.Error(t, c.run(ctx, usecase.Request{}))
				require.Equal(t, had+1, count(), "a refusal that is not for want of rights leaves no event")
			}
		})
	}
}

func TestChangeWithUnknownOutcomeRecordsOneEvent(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]fault{{lostBefore}, {lostAfter}, {landsLate}, {lostBefore, lostAfter}} {
		t.Run(fmt.Sprint(faults), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/16", strategy(ipam.FirstFit)))
			store, _ := b.store(t)
			f := &faulty{Store: store}
			b.Service = b.serve(f)
			for _, c := range b.changes() {
				had := len(b.dump(t)["audit_events"])
				f.next(faults...)
				require.NoError(t, c.run(b.ctx, key(c.name, c.name)), c.name)
				require.Zero(t, f.left(), c.name)
				require.Len(t, b.dump(t)["audit_events"], had+1, c.name)
			}
		})
	}
}

func TestTrailIsListedNewestFirst(t *testing.T) {
	t.Parallel()
	b := setup(t)
	begun := b.clock.read()
	var want []string
	for i := range 12 {
		b.clock.move(700 * time.Microsecond) // so that several events have the same millisecond
		subject := fmt.Sprintf("corp:m%02d", i)
		b.join(t, project, subject, tenancy.Roles()[i%3])
		want = append([]string{subject}, want...)
	}
	list := func(f trail.EventFilter, limit int) []string {
		t.Helper()
		var out []string
		for _, e := range all(t, limit, func(n int, c string) (paging.Page[ipam.Event], error) {
			return b.ListEvents(b.ctx, project, f, n, c, usecase.Reading{})
		}) {
			out = append(out, e.Name)
		}
		return out
	}
	got := list(trail.EventFilter{}, 100)
	require.ElementsMatch(t, want, got)
	require.Equal(t, want[0], got[0])
	at := func(i int) time.Time { return begun.Add(time.Duration(i+1) * 700 * time.Microsecond) }
	for _, limit := range []int{1, 2, 5, 100} {
		require.Equal(t, got, list(trail.EventFilter{}, limit), "in pages")
		require.ElementsMatch(t, []string{"corp:m05", "corp:m04", "corp:m03"}, list(trail.EventFilter{Since: at(3), Until: at(6)}, limit), "to the microsecond")
		require.ElementsMatch(t, []string{"corp:m11", "corp:m10"}, list(trail.EventFilter{Since: at(10)}, limit))
		require.ElementsMatch(t, []string{"corp:m00"}, list(trail.EventFilter{Until: at(1)}, limit))
		require.Empty(t, list(trail.EventFilter{Since: at(12)}, limit))
		require.Empty(t, list(trail.EventFilter{Until: at(0)}, limit))
		require.Empty(t, list(trail.EventFilter{Since: at(5), Until: at(5)}, limit))
		require.Equal(t, []string{"corp:m07"}, list(trail.EventFilter{Name: "corp:m07", Kind: "Member", Subject: "tester", Outcome: "ok"}, limit))
	}
	for _, f := range []trail.EventFilter{{Name: "none"}, {Kind: "IPPool"}, {Subject: "nobody"}, {Outcome: "not_found"}, {Operation: "none"}} {
		require.Empty(t, list(f, 3))
	}
	for _, cursor := range []string{"?", alloc.SealCursor("members", "m01"), alloc.SealCursor("events", "m01")} {
		_, err := b.ListEvents(b.ctx, project, trail.EventFilter{}, 1, cursor, usecase.Reading{})
		refused(t, err, ipam.CodeInvalidArgument)
	}
	late := ipam.NewTimeID(b.clock.read().Add(time.Hour))
	page, err := b.ListEvents(b.ctx, project, trail.EventFilter{Until: at(1)}, 10, alloc.SealCursor("events", late), usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 1, "a forged cursor does not go beyond the filter")
}

// If the server refuses a change, it records neither the change nor an event.
func TestRefusedChangeRecordsNoEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/16"))
	before := b.dump(t)
	_, err := b.CreatePool(b.ctx, project, root("other", "10.0.0.0/8"), usecase.Request{})
	refused(t, err, ipam.CodeOverlap)
	refused(t, b.DeleteSpace(b.ctx, project, "default", usecase.Request{}), ipam.CodeInUse)
	_, err = b.PatchPool(b.ctx, project, "net", ifMatch(ipam.NewID()), func(p ipam.Pool) (ipam.Pool, error) {
		p.Spec.Description = "x"
		return p, nil
	})
	refused(t, err, ipam.CodePreconditionFailed)
	require.Equal(t, before, b.dump(t))
}
