package alloc_test

import (
	"context"
	"encoding/json"
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// from returns the context of another caller with the same rights.
func (b *bundle) from(subject string) context.Context {
	ctx := tenancy.WithPrincipal(b.ctx, tenancy.Principal{Subject: subject, Method: "api-key", Roles: map[string]tenancy.Role{ipam.PlatformProject: tenancy.Admin}})
	return tenancy.WithOrigin(ctx, tenancy.Origin{RequestID: "r-" + subject, Remote: "192.0.2.7", Operation: "op-" + subject})
}

// claimTrail returns the claim and allocation events in a project's trail, oldest first.
func (b *bundle) claimTrail(t testing.TB, project string) []ipam.Event {
	t.Helper()
	var out []ipam.Event
	for _, kind := range []string{"IPClaim", "IPAllocation"} {
		page, err := b.ListEvents(b.ctx, project, trail.EventFilter{Kind: kind}, 500, "", usecase.Reading{})
		require.NoError(t, err)
		require.Empty(t, page.Next)
		for i := range page.Items {
			out = append(out, page.Items[len(page.Items)-1-i])
		}
	}
	return out
}

// inside returns the member of a JSON object at a path. It returns nil if the member is missing.
func inside(t testing.TB, doc json.RawMessage, path ...string) any {
	t.Helper()
	var at any
	if len(doc) > 0 {
		require.NoError(t, json.Unmarshal(doc, &at))
	}
	for _, name := range path {
		object, ok := at.(map[string]any)
		if !ok {
			return nil
		}
		at = object[name]
	}
	return at
}

func TestEachChangeOfAClaimRecordsOneEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", strategy(ipam.FirstFit)))
	var kept ipam.ID
	for _, c := range []struct {
		name          string
		run           func(context.Context) error
		resource      string
		before, after any // expected values at path, usually the block
		path          []string
	}{
		{"Create", func(ctx context.Context) error {
			r, err := b.CreateClaim(ctx, project, claim("c", "net", 28, retain), key("k", "c"))
			kept = r.Value.AllocationID
			return err
		}, "IPClaim c", nil, "10.0.0.0/28", []string{"allocatedCIDR"}},
		{"Replay", func(context.Context) error {
			r, err := b.CreateClaim(b.from("Create"), project, claim("c", "net", 28, retain), key("k", "c"))
			require.True(t, r.Replayed)
			return err
		}, "", nil, nil, nil},
		{"PutThatCreates", func(ctx context.Context) error {
			_, err := b.PutClaim(ctx, project, claim("p", "net", 28), usecase.Request{})
			return err
		}, "IPClaim p", nil, "net", []string{"poolRef", "name"}},
		{"PutThatReturns", func(ctx context.Context) error {
			_, err := b.PutClaim(ctx, project, claim("p", "net", 28), usecase.Request{})
			return err
		}, "", nil, nil, nil},
		{"PutThatIsRefused", func(ctx context.Context) error {
			_, err := b.PutClaim(ctx, project, claim("p", "net", 29), usecase.Request{})
			refused(t, err, ipam.CodeAlreadyExists)
			return nil
		}, "", nil, nil, nil},
		{"Patch", func(ctx context.Context) error {
			_, err := b.PatchClaim(ctx, project, "p", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) {
				c.Spec.ReclaimPolicy = ipam.ReclaimRetain
				return c, nil
			})
			return err
		}, "IPClaim p", "Delete", "Retain", []string{"spec", "reclaimPolicy"}},
		{"PatchWithoutADifference", func(ctx context.Context) error {
			_, err := b.PatchClaim(ctx, project, "p", usecase.Request{}, func(c ipam.Claim) (ipam.Claim, error) { return c, nil })
			return err
		}, "", nil, nil, nil},
		{"DryRuns", func(ctx context.Context) error {
			_, err := b.CreateClaim(ctx, project, claim("d", "net", 28), dry)
			require.NoError(t, err)
			_, err = b.CreateClaimBatch(ctx, project, []ipam.Claim{claim("d", "net", 28)}, dry)
			require.NoError(t, err)
			return b.DeleteClaim(ctx, project, "c", dry)
		}, "", nil, nil, nil},
		{"Delete", func(ctx context.Context) error { return b.DeleteClaim(ctx, project, "c", usecase.Request{}) },
			"IPClaim c", "10.0.0.0/28", nil, []string{"allocatedCIDR"}},
		{"Rebind", func(ctx context.Context) error {
			_, err := b.CreateClaim(ctx, project, again("again", kept, retain), usecase.Request{})
			return err
		}, "IPClaim again", nil, "10.0.0.0/28", []string{"allocatedCIDR"}},
		{"DeleteRebound", func(ctx context.Context) error { return b.DeleteClaim(ctx, project, "again", usecase.Request{}) },
			"IPClaim again", "10.0.0.0/28", nil, []string{"allocatedCIDR"}},
		{"DeleteBoundAllocation", func(ctx context.Context) error {
			made, err := b.GetClaim(ctx, project, "p", usecase.Reading{})
			require.NoError(t, err)
			refused(t, b.DeleteAllocation(ctx, project, made.AllocationID.String(), usecase.Request{}), ipam.CodeInUse)
			return nil
		}, "", nil, nil, nil},
		{"DeleteAllocation", func(ctx context.Context) error {
			return b.DeleteAllocation(ctx, project, kept.String(), usecase.Request{})
		}, "IPAllocation ", "Retained", nil, []string{"phase"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			b.clock.move(time.Minute)
			had := map[ipam.ID]bool{}
			for _, e := range b.claimTrail(t, project) {
				had[e.ID] = true
			}
			require.NoError(t, c.run(b.from(c.name)))
			var left []ipam.Event
			for _, e := range b.claimTrail(t, project) {
				if !had[e.ID] {
					left = append(left, e)
				}
			}
			if c.resource == "" {
				require.Empty(t, left)
				return
			}
			require.Len(t, left, 1)
			e := left[0]
			if c.resource == "IPAllocation " {
				c.resource += kept.String()
			}
			require.Equal(t, []string{c.resource, "ok"}, []string{e.Kind + " " + e.Name, e.Outcome})
			require.Equal(t, []string{c.name, "api-key", "192.0.2.7", "r-" + c.name, "op-" + c.name}, []string{e.Subject, e.Method, e.Remote, e.RequestID, e.Operation})
			require.Equal(t, b.clock.read(), e.At)
			require.Equal(t, []any{c.before, c.after}, []any{inside(t, e.Before, c.path...), inside(t, e.After, c.path...)})
		})
	}
}

func TestBatchRecordsOneEventForEachClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24", strategy(ipam.FirstFit)))
	_, err := b.CreateClaimBatch(b.from("somebody"), project, []ipam.Claim{claim("a", "net", 32), claim("b", "net", 32), claim("c", "net", 32)}, key("k", "k"))
	require.NoError(t, err)
	_, err = b.CreateClaimBatch(b.from("somebody"), project, []ipam.Claim{claim("d", "net", 32), claim("e", "net", 16)}, usecase.Request{})
	require.Error(t, err)
	blocks := map[string]any{}
	trail := b.claimTrail(t, project)
	for _, e := range trail {
		require.Equal(t, "somebody", e.Subject)
		blocks[e.Name] = inside(t, e.After, "allocatedCIDR")
	}
	require.Equal(t, map[string]any{"a": "10.0.0.0/32", "b": "10.0.0.1/32", "c": "10.0.0.2/32"}, blocks)
	require.Len(t, trail, 3)
}

// If one transaction serves claims of several callers, each event names the caller of its claim. The event is in the audit trail of the claim's
// project.
func TestGroupedClaimsAreRecordedWithTheirOwnCallers(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	pool, err := b.GetPool(b.ctx, provider, "net", usecase.Reading{})
	require.NoError(t, err)
	store, seen := b.store(t)
	g := &gated{bundle: b, gate: newGate(store, "claim_group"), pool: pool}
	b.Service = b.serve(g.gate)
	first := g.claiming(claim("first", "net", 32, offered), usecase.Request{})
	g.hold(t, func(context.Context) (ipam.Claim, error) { return first(b.from("zero")) })
	g.queueIn(b.from("one"), t, g.claiming(claim("a", "net", 32, offered), usecase.Request{}))
	g.queueIn(b.from("two"), t, g.claiming(claim("b", "net", 32, offered), usecase.Request{}))
	g.queueIn(b.from("three"), t, func(ctx context.Context) (ipam.Claim, error) {
		r, err := g.CreateClaim(ctx, provider, claim("c", "net", 32, offered), usecase.Request{})
		return r.Value, err
	})
	for _, o := range g.finish() {
		require.NoError(t, o.err)
	}
	require.Equal(t, 2, seen.count("claim_group", "committed"))
	who := func(project string) map[string]string {
		out := map[string]string{}
		for _, e := range b.claimTrail(t, project) {
			out[e.Name] = e.Subject + " " + e.RequestID + " " + e.Operation
		}
		return out
	}
	require.Equal(t, map[string]string{"first": "zero r-zero op-zero", "a": "one r-one op-one", "b": "two r-two op-two"}, who(project))
	require.Equal(t, map[string]string{"c": "three r-three op-three"}, who(provider), "the pool's owner does not see the others'")
}

// If a transaction runs again after an unknown outcome, it records its event only once.
func TestClaimWithUnknownOutcomeRecordsOneEvent(t *testing.T) {
	t.Parallel()
	for _, faults := range [][]fault{{lostBefore}, {lostAfter}, {landsLate}, {lostBefore, lostAfter}} {
		t.Run(fmt.Sprint(faults), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/24"))
			store, _ := b.store(t)
			f := &faulty{Store: store}
			b.Service = b.serve(f)
			step := func(run func() error) {
				t.Helper()
				before := len(b.claimTrail(t, project))
				f.next(faults...)
				require.NoError(t, run())
				require.Zero(t, f.left())
				require.Len(t, b.claimTrail(t, project), before+1)
			}
			step(func() error {
				_, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32, retain), usecase.Request{})
				return err
			})
			made, err := b.GetClaim(b.ctx, project, "c", usecase.Reading{})
			require.NoError(t, err)
			step(func() error { _, err := b.patchClaim("c", usecase.Request{}, withLabels("a", "b")); return err })
			step(func() error { return b.DeleteClaim(b.ctx, project, "c", usecase.Request{}) })
			step(func() error {
				_, err := b.CreateClaim(b.ctx, project, again("d", made.AllocationID, retain), usecase.Request{})
				return err
			})
			step(func() error { return b.DeleteClaim(b.ctx, project, "d", usecase.Request{}) })
			step(func() error {
				return b.DeleteAllocation(b.ctx, project, made.AllocationID.String(), usecase.Request{})
			})
			step(func() error {
				_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("e", "net", 32)}, usecase.Request{})
				return err
			})
		})
	}
}
