package alloc_test

import (
	"fmt"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/paging"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/testkit/dbtest"
)

// Scenario 13: a consumer that has ended cannot attach again, even after 10,000 other consumers have ended.
func TestTombstoneSurvivesTenThousandOthers(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("c", "net", 32))
	b.end(t, "ended")
	_, err := dbtest.Connect(t, b.dsn, nil).Exec(t.Context(), `
		INSERT INTO consumers
		SELECT (jsonb_populate_record(c, jsonb_build_object('uid', c.uid || '-' || n))).*
		FROM consumers AS c CROSS JOIN generate_series(1, 10000) AS s (n)
		WHERE c.uid = 'ended'`)
	require.NoError(t, err)
	for _, uid := range []string{"ended", "ended-1", "ended-10000"} {
		_, err := b.AttachConsumer(b.ctx, project, "c", user(uid), usecase.Request{})
		refused(t, err, ipam.CodeConsumerEnded)
	}
	b.attach(t, "c", user("lives"))
}

// Scenario 14: a second detach, or a detach of a missing consumer or claim, succeeds and records no event.
func TestDetachOfAnUnknownConsumerSucceeds(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("c", "net", 32))
	b.attach(t, "c", user("u"))
	b.detach(t, "c", "u")
	events := b.events(t, project, trail.EventFilter{})
	b.detach(t, "c", "u")
	b.detach(t, "c", "nobody")
	b.detach(t, "none", "u")
	require.Equal(t, events, b.events(t, project, trail.EventFilter{}))
}

// Scenario 15: the last consumer detaches from a claim with policy Delete. The claim is released, and the next claim with the same name is a new
// claim.
func TestLastDetachDeletesAClaimWithDeletePolicy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("one", "10.0.0.0/24"))
	b.pool(t, root("two", "10.0.1.0/24"))
	first := b.claim(t, claim("c", "one", 32, unused(1, user("a"))))
	b.detach(t, "c", "a")
	b.gone(t, "c")
	require.Equal(t, []string{"10.0.0.0/24"}, b.free(t, "one"))
	next := b.claim(t, claim("c", "two", 32, unused(1, user("a"))))
	require.NotEqual(t, first.UID, next.UID)
	require.Equal(t, "10.0.1.0/32", next.Block.String())
}

// Scenario 16: the last consumer detaches from a claim with policy Keep. The claim keeps its address, and the next consumer gets the same address.
func TestLastDetachKeepsAClaimWithKeepPolicy(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	made := b.claim(t, claim("c", "net", 32))
	b.attach(t, "c", user("a"))
	b.detach(t, "c", "a")
	b.serveFor(t, time.Minute)
	again := b.attach(t, "c", user("b"))
	require.Equal(t, made.UID, again.UID)
	require.Equal(t, made.Block, again.Block)
	b.end(t, "b")
	require.Empty(t, b.usersOf(t, "c"))
	b.release(t, "c")
}

// Scenario 17: no job releases a claim that never had a consumer, even if its policy for unused claims is Delete.
func TestClaimWithoutConsumersIsNeverReleased(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.claim(t, claim("kept", "net", 32))
	b.claim(t, claim("deleted", "net", 32, unused(4)))
	b.clock.move(365 * 24 * time.Hour)
	b.serveFor(t, time.Minute)
	b.purge(t)
	page, err := b.ListClaims(b.ctx, project, paging.Filter{}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 2)
}

// Scenario 22: a consumer that is renewed after its expiry, but before the job runs, stays.
func TestLateRenewalBeforeTheExpiryJobKeepsTheConsumer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.serveFor(t, time.Minute)
	b.claim(t, claim("c", "net", 32, unused(1, user("u", living(20*time.Second)))))
	b.clock.move(5 * time.Second)
	b.serveFor(t, 14*time.Second)
	b.clock.move(9 * time.Second)
	out, err := b.RenewConsumers(b.ctx, project, consumers.Renewals{Realm: ipam.DefaultRealm, UIDs: []string{"u"}}, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, []string{"u"}, out.Renewed)
	require.Zero(t, b.keep(t).Expired)
	state, err := b.GetRealm(b.ctx, project, ipam.DefaultRealm)
	require.NoError(t, err)
	require.Zero(t, state.Expired)
	require.Equal(t, []string{"u"}, b.usersOf(t, "c"))
}

// Scenario 29: a consumer with a thousand claims ends in transactions of one claim each. Meanwhile, renewals of other consumers succeed.
func TestConsumerOfAThousandClaimsEndsInSmallTransactions(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/20"))
	const many = 1000
	var batch []ipam.Claim
	for i := range many {
		batch = append(batch, claim(fmt.Sprint("c", i), "net", 32, unused(1, user("u"))))
	}
	_, err := b.CreateClaimBatch(b.ctx, project, batch, usecase.Request{})
	require.NoError(t, err)
	_, err = b.PutConsumer(b.ctx, project, user("other", living(time.Minute)), usecase.Request{})
	require.NoError(t, err)
	ended := make(chan struct{})
	var g errgroup.Group
	g.Go(func() error {
		defer close(ended)
		_, err := b.EndConsumer(b.ctx, project, user("u").Ref, usecase.Request{})
		for err == nil {
			var done consumers.Expiries
			if done, err = b.ExpireConsumers(b.ctx); ipam.IsCode(err, ipam.CodeDeadline) || ipam.IsCode(err, ipam.CodeOutcomeUnknown) {
				err = nil // a pass has a time limit, which may end a commit too; the next pass continues
			} else if done.Drained == 0 {
				break
			}
		}
		return err
	})
	renewals := 0
	g.Go(func() error {
		for {
			select {
			case <-ended:
				return nil
			default:
			}
			if _, err := b.RenewConsumers(b.ctx, project, consumers.Renewals{Realm: ipam.DefaultRealm, UIDs: []string{"other"}}, usecase.Request{}); err != nil {
				return err
			}
			renewals++
		}
	})
	require.NoError(t, g.Wait())
	require.Greater(t, renewals, 1)
	require.Equal(t, []string{"10.0.0.0/20"}, b.free(t, "net"))
	released := b.events(t, project, trail.EventFilter{Kind: trail.KindClaim})
	require.Len(t, released, 2*many, "each was made and released, once")
}

// A batch attaches the consumers in its claims. A consumer may use several claims. If one of the consumers has ended, the whole batch fails. It makes
// no difference whether a consumer attaches at the creation of a claim or later.
func TestBatchAttachesTheConsumersOfItsClaims(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	b.end(t, "ended")
	_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{
		claim("a", "net", 32, unused(2, user("u"))), claim("b", "net", 32, unused(2, user("ended"))),
	}, usecase.Request{})
	refused(t, err, ipam.CodeConsumerEnded)
	b.gone(t, "a")
	_, err = b.CreateClaimBatch(b.ctx, project, []ipam.Claim{
		claim("a", "net", 32, unused(3, user("u"), user("v"))), claim("b", "net", 32, unused(3, user("u"))),
	}, usecase.Request{})
	require.NoError(t, err)
	b.attach(t, "b", user("v"))
	again, err := b.AttachConsumer(b.ctx, project, "b", user("u"), usecase.Request{})
	require.NoError(t, err)
	require.True(t, again.Existed)
	for _, name := range []string{"a", "b"} {
		require.Equal(t, []string{"u", "v"}, b.usersOf(t, name))
	}
	b.end(t, "u")
	b.detach(t, "a", "v")
	b.gone(t, "a")
	require.Equal(t, []string{"v"}, b.usersOf(t, "b"))
	b.end(t, "v")
	b.gone(t, "b")
	require.Equal(t, []string{"10.0.0.0/24"}, b.free(t, "net"))
}
