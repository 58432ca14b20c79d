package alloc_test

import (
	"encoding/json"
	"net/netip"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// These tests check how the project of the pool and the project of the holder see a block and its history.

// secret is the text in a claim that the pool's owner must not see.
const secret = "confidential"

func owned(c *ipam.Claim) { c.Spec.OwnerRef = &ipam.OwnerRef{Kind: "VM", Name: secret} }

// requireNoSecret requires that a value's JSON does not contain the secret.
func requireNoSecret(t *testing.T, v any) {
	t.Helper()
	text, err := json.Marshal(v)
	require.NoError(t, err)
	require.NotContains(t, string(text), secret)
}

func TestPoolOwnerSeesOnlyBlockAndProjectOfAForeignClaim(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	ctx := b.from(secret) // the owner must not see the claim's creator either
	r, err := b.CreateClaim(ctx, project, claim(secret, "net", 28, offered, owned, retain, withLabels("of", secret)), usecase.Request{})
	require.NoError(t, err)
	made := r.Value
	name := made.AllocationID.String()

	seen := func(phase ipam.Phase) {
		t.Helper()
		a, err := b.GetAllocation(b.ctx, provider, name, usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, []any{made.Block, phase, project, ""}, []any{a.Block, a.Phase, a.Holder.Project, a.Holder.Name})
		requireNoSecret(t, a)
		for _, f := range []paging.Filter{{}, {Pool: theirs("net")}} {
			page, err := b.ListAllocations(b.ctx, provider, f, 100, "", usecase.Reading{})
			require.NoError(t, err)
			require.Equal(t, []ipam.Allocation{a}, page.Items)
		}
		mine, err := b.GetAllocation(b.ctx, project, name, usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, []any{made.Ref(), made.Spec.OwnerRef, secret}, []any{mine.Holder, mine.OwnerRef, mine.CreatedBy}, "the holder sees all of it")
		require.Equal(t, a.Revision, mine.Revision)
		require.NotEqual(t, made.Revision, a.Revision, "the claim's is none of the owner's business")
	}
	seen(ipam.PhaseBound)
	e := refused(t, b.DeleteAllocation(b.ctx, provider, name, usecase.Request{}), ipam.CodeInUse)
	requireNoSecret(t, []any{e.Message, e.Fields, e.Figures})
	require.Contains(t, e.Message, project)
	e = refused(t, b.DeleteAllocation(b.ctx, project, name, usecase.Request{}), ipam.CodeInUse)
	require.Contains(t, e.Message, "claim "+made.Ref().String())
	refusals := func() {
		t.Helper()
		for _, run := range []func() error{
			func() error {
				_, err := b.CreateClaim(b.ctx, provider, claimOf("c", "net", exactly(made.Block.String()), offered), usecase.Request{})
				return err
			},
			func() error {
				_, err := b.CreateClaimBatch(b.ctx, provider, []ipam.Claim{claimOf("c", "net", exactly(made.Block.String()), offered)}, usecase.Request{})
				return err
			},
			func() error {
				p := childAt("sub", "net", made.Block.String())
				p.Spec.Parent = theirs("net")
				_, err := b.CreatePool(b.ctx, provider, p, usecase.Request{})
				return err
			},
			func() error {
				_, err := b.PatchPool(b.ctx, provider, "net", usecase.Request{}, func(p ipam.Pool) (ipam.Pool, error) {
					reserving(ipam.Reservation{CIDR: made.Block})(&p)
					return p, nil
				})
				return err
			},
			func() error {
				_, err := b.CreateClaim(b.ctx, provider, again("c", made.AllocationID), usecase.Request{})
				return err
			},
			func() error { return b.DeletePool(b.ctx, provider, "net", usecase.Request{}) },
		} {
			err := run()
			require.Error(t, err)
			requireNoSecret(t, err.Error())
			var e *ipam.Error
			require.ErrorAs(t, err, &e)
			requireNoSecret(t, []any{e.Message, e.Fields, e.Figures})
		}
	}
	refusals()
	b.release(t, secret)
	seen(ipam.PhaseRetained)
	refusals()
	_, err = b.CreateClaim(b.ctx, project, claimOf("c", "net", exactly(made.Block.String()), offered), usecase.Request{})
	e = refused(t, err, ipam.CodeAllocationRetained)
	require.Equal(t, []string{project + "/" + name}, e.Figures.ConflictsWith, "where the holder finds it")

	requireNoSecret(t, b.events(t, provider, trail.EventFilter{}))
	require.NoError(t, b.DeleteAllocation(b.ctx, provider, name, usecase.Request{}))
	requireNoSecret(t, b.events(t, provider, trail.EventFilter{}))
	page, err := b.GetHistory(b.ctx, provider, made.Block.Addr(), time.Time{}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	requireNoSecret(t, page.Items)
}

func TestAllocationIsHiddenFromAThirdProject(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("third")}, usecase.Request{})
	require.NoError(t, err)
	made := b.claim(t, claim("c", "net", 28, offered, retain))
	b.release(t, "c")
	id, none := made.AllocationID.String(), ipam.NewID().String()
	_, missing := b.GetAllocation(b.ctx, "third", none, usecase.Reading{})
	_, hidden := b.GetAllocation(b.ctx, "third", id, usecase.Reading{})
	same := func(missing, hidden error) {
		t.Helper()
		a, b := refused(t, missing, ipam.CodeNotFound), refused(t, hidden, ipam.CodeNotFound)
		require.Contains(t, a.Message, none)
		require.Contains(t, b.Message, id)
		require.Len(t, b.Message, len(a.Message))
		require.Equal(t, []any{a.Fields, a.Figures}, []any{b.Fields, b.Figures})
	}
	same(missing, hidden)
	same(b.DeleteAllocation(b.ctx, "third", none, usecase.Request{}), b.DeleteAllocation(b.ctx, "third", id, usecase.Request{}))
	for _, who := range []string{"third", provider} {
		bind := func(id string) error {
			c := again("d", made.AllocationID)
			c.Spec.AllocationRef = id
			_, err := b.CreateClaim(b.ctx, who, c, usecase.Request{})
			return err
		}
		same(bind(none), bind(id))
	}
}

func TestEndedHoldsKeepTheirTimes(t *testing.T) {
	t.Parallel()
	b := setupProvider(t)
	b.grant(t, "net", project)
	at := func(minute int) time.Time { return time.Date(2026, 11, 20, 13, minute, 0, 0, time.UTC) }
	until := func(minute int) { b.clock.move(at(minute).Sub(b.clock.read())) }

	until(1)
	made := b.claim(t, claim("c", "net", 28, offered, retain))
	until(2)
	_, err := b.patchClaim("c", usecase.Request{}, func(c *ipam.Claim) { c.Spec.ReclaimPolicy = ipam.ReclaimDelete })
	require.NoError(t, err)
	_, err = b.patchClaim("c", usecase.Request{}, retain)
	require.NoError(t, err)
	until(3)
	b.release(t, "c")
	until(4)
	b.claim(t, again("d", made.AllocationID, retain))
	bound, err := b.GetAllocation(b.ctx, provider, made.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, at(4), bound.Since, "when its present holder got it")
	until(5)
	b.release(t, "d")
	until(6)
	require.NoError(t, b.DeleteAllocation(b.ctx, project, made.AllocationID.String(), dry))
	require.NoError(t, b.DeleteAllocation(b.ctx, project, made.AllocationID.String(), usecase.Request{}))
	until(7)
	last := b.claim(t, claimOf("e", "net", exactly(made.Block.String()), offered))
	until(8)
	b.release(t, "e")

	page, err := b.GetHistory(b.ctx, provider, made.Block.Addr(), time.Time{}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	type hold struct {
		phase        ipam.Phase
		holder       string
		since, until time.Time
		allocation   ipam.ID
	}
	var holds []hold
	ids := map[ipam.ID]bool{}
	for _, h := range page.Items {
		require.Equal(t, []any{provider, theirs("net"), made.Block, ipam.PurposeClaim}, []any{h.Project, h.Pool, h.Block, h.Purpose})
		holds = append(holds, hold{h.Phase, h.Holder.Project, h.Since, h.Until, h.AllocationID})
		ids[h.ID] = true
	}
	first := made.AllocationID
	require.Equal(t, []hold{
		{ipam.PhaseBound, project, at(7), at(8), last.AllocationID},
		{ipam.PhaseRetained, project, at(5), at(6), first},
		{ipam.PhaseBound, project, at(4), at(5), first},
		{ipam.PhaseRetained, project, at(3), at(4), first},
		{ipam.PhaseBound, project, at(1), at(3), first},
	}, holds)
	require.Len(t, ids, len(holds))
	page, err = b.GetHistory(b.ctx, project, made.Block.Addr(), time.Time{}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Empty(t, page.Items, "what has ended is in the history of the pool's owner")
}

func TestHoldNeverEndsBeforeItsBeginning(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	made := b.claim(t, claim("c", "net", 32, retain))
	b.clock.move(-time.Hour) // as if another server had a slower clock
	b.release(t, "c")
	kept, err := b.GetAllocation(b.ctx, project, made.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, made.CreatedAt, kept.Since)
	require.NoError(t, b.DeleteAllocation(b.ctx, project, made.AllocationID.String(), usecase.Request{}))
	page, err := b.GetHistory(b.ctx, project, netip.MustParseAddr("10.0.0.0"), time.Time{}, 100, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	for _, h := range page.Items {
		require.Equal(t, []time.Time{made.CreatedAt, made.CreatedAt}, []time.Time{h.Since, h.Until})
	}
}

// If the transaction of a release runs again after an unknown outcome, it adds only one row to the history.
func TestReleaseWithUnknownOutcomeEndsTheHoldOnce(t *testing.T) {
	t.Parallel()
	for _, fault := range []fault{lostBefore, lostAfter, landsLate} {
		t.Run(string(fault), func(t *testing.T) {
			t.Parallel()
			b := setup(t)
			b.pool(t, root("net", "10.0.0.0/24"))
			made := b.claim(t, claim("c", "net", 32, retain))
			store, _ := b.store(t)
			f := &faulty{Store: store}
			b.Service = b.serve(f)
			step := func(holds int, run func() error) {
				t.Helper()
				f.next(fault)
				require.NoError(t, run())
				require.Zero(t, f.left())
				require.Len(t, b.dump(t)["history"], holds)
			}
			step(1, func() error { return b.DeleteClaim(b.ctx, project, "c", usecase.Request{}) })
			step(2, func() error {
				_, err := b.CreateClaim(b.ctx, project, again("d", made.AllocationID, retain), usecase.Request{})
				return err
			})
			step(3, func() error { return b.DeleteClaim(b.ctx, project, "d", usecase.Request{}) })
			step(4, func() error { return b.DeleteAllocation(b.ctx, project, made.AllocationID.String(), usecase.Request{}) })
		})
	}
}
