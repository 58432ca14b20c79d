package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/sync/errgroup"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/trail"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// 64 goroutines attach, renew, detach and end consumers of one claim, on two servers. Only the last consumer releases the claim, and does so once.
func TestClaimIsReleasedOnceByItsLastConsumer(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	made := b.claim(t, claim("c", "net", 32, unused(256, user("first"))))
	other, _ := b.server(t)
	servers := []*alloc.Service{b.Service, other}
	var attached atomic.Int64
	several := make(chan struct{})
	race := func(i int) error {
		s, u := servers[i%2], user(fmt.Sprint("u", i), living(time.Minute))
		_, err := s.AttachConsumer(b.ctx, project, "c", u, usecase.Request{})
		if ipam.IsCode(err, ipam.CodeNotFound) {
			return nil // the claim was released, so the attach fails
		}
		if err != nil {
			return err
		}
		if attached.Add(1) == 8 {
			close(several)
		}
		if _, err := s.RenewConsumers(b.ctx, project, consumers.Renewals{Realm: u.Ref.Realm, UIDs: []string{u.Ref.UID}}, usecase.Request{}); err != nil {
			return err
		}
		if i%4 < 2 {
			return servers[i/2%2].DetachConsumer(b.ctx, project, "c", u.Ref, usecase.Request{})
		}
		if _, err = s.EndConsumer(b.ctx, project, u.Ref, usecase.Request{}); err != nil {
			return err
		}
		_, err = s.AttachConsumer(b.ctx, project, "c", u, usecase.Request{})
		if !ipam.IsCode(err, ipam.CodeConsumerEnded) && !ipam.IsCode(err, ipam.CodeNotFound) {
			return fmt.Errorf("it came back: %w", err)
		}
		late, err := servers[i/2%2].RenewConsumers(b.ctx, project, consumers.Renewals{Realm: u.Ref.Realm, UIDs: []string{u.Ref.UID}}, usecase.Request{})
		if err == nil && len(late.Ended) != 1 {
			err = errors.New("a late renewal revived it")
		}
		return err
	}
	var g errgroup.Group
	for i := range 64 {
		g.Go(func() error { return race(i) })
	}
	<-several
	g.Go(func() error { return b.DetachConsumer(b.ctx, project, "c", user("first").Ref, usecase.Request{}) })
	require.NoError(t, g.Wait())
	b.keep(t) // if an end took too long, the background job finishes it
	b.gone(t, "c")
	require.Equal(t, []string{"10.0.0.0/24"}, b.free(t, "net"))
	page, err := b.GetHistory(b.ctx, project, made.Block.Addr(), time.Time{}, 10, "", usecase.Reading{})
	require.NoError(t, err)
	require.Len(t, page.Items, 1, "it was held once")
	released := 0
	for _, e := range b.events(t, project, trail.EventFilter{Kind: trail.KindClaim, Name: "c"}) {
		if len(e.After) == 0 && len(e.Before) > 0 {
			released++
		}
	}
	require.Equal(t, 1, released)
}

// Scenario 23: a renewal and the expiry job run concurrently. Either the consumer is renewed and stays live, or it ends and the renewal reports that.
func TestConcurrentRenewalAndExpiryAgree(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serveFor(t, 30*time.Second)
	for i := range 20 {
		u := user(fmt.Sprint("u", i), living(10*time.Second))
		_, err := b.PutConsumer(b.ctx, project, u, usecase.Request{})
		require.NoError(t, err)
		b.clock.move(9 * time.Second)
		b.keep(t)
		b.clock.move(9 * time.Second)
		var g errgroup.Group
		var renewed consumers.Renewed
		g.Go(func() (err error) {
			renewed, err = b.RenewConsumers(b.ctx, project, consumers.Renewals{Realm: u.Ref.Realm, UIDs: []string{u.Ref.UID}}, usecase.Request{})
			return err
		})
		g.Go(func() error { _, err := b.ExpireConsumers(b.ctx); return err })
		require.NoError(t, g.Wait())
		got, err := b.GetConsumer(b.ctx, project, u.Ref)
		require.NoError(t, err)
		require.Equal(t, len(renewed.Renewed) == 1, got.Live())
		require.Equal(t, len(renewed.Ended) == 1, !got.Live())
		b.end(t, u.Ref.UID)
	}
}

var errKilled = errors.New("killed")

// mortal is a store that fails after a number of transactions, as if its server had died.
type mortal struct {
	storage.Store
	left atomic.Int64
}

func (m *mortal) InOneRoundTrip(context.Context, string, storage.Locks, func(context.Context) (context.Context, func()), func(context.Context, storage.Tx) error) error {
	return storage.ErrCacheMiss
}

func (m *mortal) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	if m.left.Add(-1) < 0 {
		return errKilled
	}
	return m.Store.InTx(ctx, op, locks, fn)
}

// Scenario 24: a server dies between any two transactions of the job. Another server finishes the job.
func TestExpiryJobKilledBetweenTransactionsIsFinishedByAnother(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	store, _ := b.store(t)
	for after := range 6 {
		for _, name := range []string{"a", "b"} {
			c := claim(fmt.Sprint(name, after), "net", 32, unused(1, user(fmt.Sprint(name, after), living(10*time.Second))))
			if name == "b" {
				c.Spec.WhenUnused = ipam.UnusedKeep
			}
			b.claim(t, c)
		}
		dying := &mortal{Store: store}
		dying.left.Store(int64(after))
		killed := b.serve(dying)
		for range 6 {
			b.clock.move(5 * time.Second)
			_, _ = killed.ExpireConsumers(b.ctx)
		}
		b.serveFor(t, 30*time.Second)
		b.gone(t, fmt.Sprint("a", after))
		require.Empty(t, b.usersOf(t, fmt.Sprint("b", after)))
		b.release(t, fmt.Sprint("b", after))
	}
}

// Scenario 25: clients could not reach the service for ten times their TTL. No consumer expires until the service has been up for a whole TTL.
func TestNoConsumerExpiresDuringAnOutage(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.serveFor(t, time.Minute)
	_, err := b.PutConsumer(b.ctx, project, user("a", living(time.Minute)), usecase.Request{})
	require.NoError(t, err)
	b.clock.move(10 * time.Minute)
	require.Zero(t, b.keep(t).Expired)
	require.Zero(t, b.serveFor(t, time.Minute).Expired)
	require.Equal(t, 1, b.serveFor(t, 5*time.Second).Expired)
}

// Scenario 28: many consumers expire within a short time. The breaker limits how many of them end, until a caller confirms the expiry.
func TestMassExpiryIsHeldUntilConfirmed(t *testing.T) {
	t.Parallel()
	b := setup(t)
	for i := range 60 {
		_, err := b.PutConsumer(b.ctx, project, user(fmt.Sprint("u", i), living(20*time.Second+time.Duration(i)*time.Second)), usecase.Request{})
		require.NoError(t, err)
	}
	done := b.serveFor(t, 2*time.Minute)
	require.Equal(t, 20, done.Expired, "what is lost one after another counts together")
	require.Len(t, done.Opened, 1, "it is told once")
	state, err := b.GetRealm(b.ctx, project, ipam.DefaultRealm)
	require.NoError(t, err)
	require.EqualValues(t, 40, state.Live)
	require.EqualValues(t, 40, state.Expired)
	require.False(t, state.HeldSince.IsZero())
	_, err = b.RenewConsumers(b.ctx, project, consumers.Renewals{Realm: ipam.DefaultRealm, UIDs: []string{"u59"}}, usecase.Request{})
	require.NoError(t, err)
	_, err = b.ConfirmExpiry(b.ctx, project, ipam.DefaultRealm, usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, 39, b.serveFor(t, 10*time.Second).Expired)
	state, err = b.GetRealm(b.ctx, project, ipam.DefaultRealm)
	require.NoError(t, err)
	require.EqualValues(t, 1, state.Live)
	require.True(t, state.HeldSince.IsZero())
}

// beforeTx calls a function before each transaction of an operation.
type beforeTx struct {
	storage.Store

	op    string
	first func()
}

// InTx implements storage.Store.
func (s *beforeTx) InTx(ctx context.Context, op string, locks storage.Locks, fn func(context.Context, storage.Tx) error) error {
	if op == s.op {
		s.first()
	}
	return s.Store.InTx(ctx, op, locks, fn)
}

// The project is deleted just before the expiry job marks one of its realms as held. The job must write nothing for the deleted project. The audit at
// the end of the test checks this.
func TestNoRealmIsHeldInADeletedProject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store, _ := b.store(t)
	gone := false
	s := b.serve(&beforeTx{Store: store, op: "realm_change", first: sync.OnceFunc(func() {
		require.NoError(t, b.DeleteProject(b.ctx, project, usecase.Request{}))
		gone = true
	})})
	for i := range 60 {
		_, err := b.PutConsumer(b.ctx, project, user(fmt.Sprint("u", i), living(20*time.Second+time.Duration(i)*time.Second)), usecase.Request{})
		require.NoError(t, err)
	}
	for range 24 {
		b.clock.move(5 * time.Second)
		_, err := s.ExpireConsumers(b.ctx)
		require.NoError(t, err)
	}
	require.True(t, gone)
}
