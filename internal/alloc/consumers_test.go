package alloc_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// user returns a consumer of the default realm.
func user(uid string, with ...func(*ipam.NewConsumer)) ipam.NewConsumer {
	n := ipam.NewConsumer{Ref: ipam.ConsumerRef{Realm: ipam.DefaultRealm, UID: uid}}
	for _, f := range with {
		f(&n)
	}
	return n
}

func living(ttl time.Duration) func(*ipam.NewConsumer) {
	return func(n *ipam.NewConsumer) { n.Spec.TTL = ttl }
}

// unused sets a claim's consumers and their maximum. It also sets the policy that the last detach deletes the claim.
func unused(limit int, first ...ipam.NewConsumer) func(*ipam.Claim) {
	return func(c *ipam.Claim) {
		c.Spec.MaxConsumers, c.Spec.WhenUnused, c.Spec.Consumers = limit, ipam.UnusedDelete, first
	}
}

func (b *bundle) attach(t testing.TB, claim string, n ipam.NewConsumer) ipam.Claim {
	t.Helper()
	got, err := b.AttachConsumer(b.ctx, project, claim, n, usecase.Request{})
	require.NoError(t, err)
	return got.Value
}

func (b *bundle) detach(t testing.TB, claim, uid string) {
	t.Helper()
	require.NoError(t, b.DetachConsumer(b.ctx, project, claim, user(uid).Ref, usecase.Request{}))
}

func (b *bundle) end(t testing.TB, uid string) {
	t.Helper()
	left, err := b.EndConsumer(b.ctx, project, user(uid).Ref, usecase.Request{})
	require.NoError(t, err)
	require.Zero(t, left)
}

// keep runs one pass of the expiry job.
func (b *bundle) keep(t testing.TB) consumers.Expiries {
	t.Helper()
	done, err := b.ExpireConsumers(b.ctx)
	require.NoError(t, err)
	return done
}

// serveFor moves the clock by d in small steps, and runs the expiry job after each step. So the server has no gap in its service.
func (b *bundle) serveFor(t testing.TB, d time.Duration) (done consumers.Expiries) {
	t.Helper()
	for ; d > 0; d -= 5 * time.Second {
		b.clock.move(min(d, 5*time.Second))
		now := b.keep(t)
		done.Expired, done.Drained, done.Opened = done.Expired+now.Expired, done.Drained+now.Drained, append(done.Opened, now.Opened...)
	}
	return done
}

func (b *bundle) gone(t testing.TB, claim string) {
	t.Helper()
	_, err := b.GetClaim(b.ctx, project, claim, usecase.Reading{})
	refused(t, err, ipam.CodeNotFound)
}

func (b *bundle) usersOf(t testing.TB, claim string) (uids []string) {
	t.Helper()
	page, err := b.ListClaimConsumers(b.ctx, project, claim, 500, "", usecase.Reading{})
	require.NoError(t, err)
	for _, a := range page.Items {
		uids = append(uids, a.Consumer.UID)
	}
	return uids
}

func TestConsumerIsAttachedAndDetached(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	made := b.claim(t, claim("c", "net", 26))
	got := b.attach(t, "c", user("vm-1"))
	require.Equal(t, 1, got.Consumers)
	require.NotEqual(t, made.Revision, got.Revision)
	require.Equal(t, made.Allocation().Revision, got.Allocation().Revision, "the pool's owner is not told")
	require.Equal(t, []string{"vm-1"}, b.usersOf(t, "c"))

	again, err := b.AttachConsumer(b.ctx, project, "c", user("vm-1"), usecase.Request{})
	require.NoError(t, err)
	require.True(t, again.Existed)
	require.Equal(t, got, again.Value, "a repeat changes nothing")

	_, err = b.AttachConsumer(b.ctx, project, "c", user("vm-2"), usecase.Request{})
	e := refused(t, err, ipam.CodeTooManyConsumers)
	require.EqualValues(t, 1, *e.Figures.Consumers)
	e = refused(t, b.DeleteClaim(b.ctx, project, "c", usecase.Request{}), ipam.CodeInUse)
	require.EqualValues(t, 1, *e.Figures.Consumers)

	b.clock.move(time.Second)
	b.detach(t, "c", "vm-1")
	events := b.events(t, project, trail.EventFilter{Kind: trail.KindClaim, Name: "c"})
	b.detach(t, "c", "vm-1")
	b.detach(t, "no-claim", "vm-1")
	require.Equal(t, events, b.events(t, project, trail.EventFilter{Kind: trail.KindClaim, Name: "c"}), "and no event the second time")
	require.JSONEq(t, `{"consumers":1}`, string(events[0].Before))
	require.JSONEq(t, `{"detached":["default/vm-1"],"because":"Detached"}`, string(events[0].After))
	b.release(t, "c")
}

func TestLastConsumerReleasesTheClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	made := b.claim(t, claim("c", "net", 26, unused(2, user("a"), user("b"))))
	require.Equal(t, 2, made.Consumers)
	b.detach(t, "c", "a")
	b.clock.move(time.Second)
	b.end(t, "b")
	b.gone(t, "c")
	require.Equal(t, []string{"10.0.0.0/24"}, b.free(t, "net"))
	page, err := b.GetHistory(b.ctx, project, made.Block.Addr(), time.Time{}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, ipam.ReleaseCause{Reason: ipam.ReasonEnded, Consumer: user("b").Ref}, page.Items[0].Because)
	require.Equal(t, ipam.PhaseBound, page.Items[0].Phase)
	events := b.events(t, project, trail.EventFilter{Kind: trail.KindClaim, Name: "c"})
	require.Contains(t, string(events[0].Before), `"detached":["default/b"],"because":"Ended"`)
	require.Empty(t, events[0].After)
}

func TestEndedConsumerCannotBeAttachedAgain(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("c", "net", 26))
	b.end(t, "never-seen")
	_, err := b.PutConsumer(b.ctx, project, user("a"), usecase.Request{})
	require.NoError(t, err)
	b.attach(t, "c", user("a"))
	b.end(t, "a")
	require.Empty(t, b.usersOf(t, "c"))
	for _, uid := range []string{"a", "never-seen"} {
		_, err = b.AttachConsumer(b.ctx, project, "c", user(uid), usecase.Request{})
		refused(t, err, ipam.CodeConsumerEnded)
		_, err = b.PutConsumer(b.ctx, project, user(uid), usecase.Request{})
		refused(t, err, ipam.CodeConsumerEnded)
		b.refuseClaim(t, claim("d", "net", 26, unused(1, user(uid))), ipam.CodeConsumerEnded)
		_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("e", "net", 26), claim("f", "net", 26, unused(1, user(uid)))}, usecase.Request{})
		refused(t, err, ipam.CodeConsumerEnded)
	}
	out, err := b.RenewConsumers(b.ctx, project, consumers.Renewals{Realm: ipam.DefaultRealm, UIDs: []string{"a", "b"}}, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, consumers.Renewed{Ended: []string{"a"}, Unknown: []string{"b"}}, out)
	b.attach(t, "c", ipam.NewConsumer{Ref: ipam.ConsumerRef{Realm: "other", UID: "a"}})
	require.NoError(t, b.DetachConsumer(b.ctx, project, "c", ipam.ConsumerRef{Realm: "other", UID: "a"}, usecase.Request{}))
}

func TestExpiredConsumerEnds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	made := b.claim(t, claim("c", "net", 26, unused(1, user("a", living(time.Minute)))))
	b.claim(t, claim("d", "net", 26, unused(1, user("b", living(time.Minute)))))
	b.claim(t, claim("e", "net", 26, unused(1, user("forever"))))
	b.serveFor(t, 40*time.Second)
	_, err := b.RenewConsumers(b.ctx, project, consumers.Renewals{Realm: ipam.DefaultRealm, UIDs: []string{"b", "forever"}}, usecase.Request{})
	require.NoError(t, err)
	done := b.serveFor(t, 30*time.Second)
	require.Equal(t, consumers.Expiries{Expired: 1, Drained: 1}, done)
	b.gone(t, "c")
	kept, err := b.GetAllocation(b.ctx, project, made.AllocationID.String(), usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, ipam.PhaseCoolingDown, kept.Phase, "it may be in use still")
	require.Equal(t, ipam.DefaultReuseLost, kept.CoolUntil.Sub(kept.Since))
	got, err := b.GetConsumer(b.ctx, project, user("a").Ref)
	require.NoError(t, err)
	require.Equal(t, ipam.ReasonExpired, got.Reason)
	require.False(t, got.Draining)
	require.Equal(t, []string{"b"}, b.usersOf(t, "d"))
	require.Equal(t, []string{"forever"}, b.usersOf(t, "e"))
	page, err := b.ListConsumers(b.ctx, project, ipam.DefaultRealm, consumers.Filter{Live: true}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
	list, err := b.ListClaims(b.ctx, project, paging.Filter{}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, list.Items, 2)
}
