package alloc_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/consumers"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// headcount is a store that reports all projects as full if full is set.
type headcount struct {
	storage.Store
	full   atomic.Bool
	counts atomic.Int64
}

func (c *headcount) ProjectsCrowded(ctx context.Context, ids []ipam.ID, least int) ([]ipam.ID, error) {
	c.counts.Add(1)
	if c.full.Load() {
		return ids, nil
	}
	return c.Store.ProjectsCrowded(ctx, ids, least)
}

// A project that has reached the limit can still use its consumers. It can create new consumers only after the number falls below the limit.
func TestConsumersOfAProjectAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	inner, _ := b.store(t)
	store := &headcount{Store: inner}
	s := b.serve(store)
	keep := func() {
		b.clock.move(time.Minute)
		_, err := s.ExpireConsumers(b.ctx)
		require.NoError(t, err)
	}
	create := func(name, uid string) error {
		_, err := s.CreateClaim(b.ctx, project, claim(name, "net", 28, keeping(2, user(uid))), usecase.Request{})
		return err
	}
	keep()
	require.Zero(t, store.counts.Load(), "who makes no consumers is not counted")
	require.NoError(t, create("c", "known"))
	keep()
	keep()
	require.EqualValues(t, 1, store.counts.Load())
	store.full.Store(true)
	_, err := s.PutConsumer(b.ctx, project, user("other"), usecase.Request{})
	require.NoError(t, err, "it is counted once a minute")
	keep()

	_, err = s.PutConsumer(b.ctx, project, user("new"), usecase.Request{})
	e := refusedAsFull(t, err, "1000000")
	require.Equal(t, []ipam.Field{{Pointer: "path:uid", Detail: "would add consumer default/new."}}, e.Fields)
	_, err = s.AttachConsumer(b.ctx, project, "c", user("new"), usecase.Request{})
	refusedAsFull(t, err, "1000000")
	_, err = s.EndConsumer(b.ctx, project, user("new").Ref, usecase.Request{})
	refusedAsFull(t, err, "1000000")
	require.Equal(t, "/spec/consumers", refusedAsFull(t, create("d", "new"), "1000000").Fields[0].Pointer)
	_, err = s.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("e", "net", 28), claim("f", "net", 28, keeping(1, user("new")))}, usecase.Request{})
	require.Equal(t, "/claims/1/spec/consumers", refusedAsFull(t, err, "1000000").Fields[0].Pointer)

	require.NoError(t, create("d", "known"))
	_, err = s.AttachConsumer(b.ctx, project, "c", user("other"), usecase.Request{})
	require.NoError(t, err)
	_, err = s.PutConsumer(b.ctx, project, user("known"), usecase.Request{})
	require.NoError(t, err)
	_, err = s.EndConsumer(b.ctx, project, user("known").Ref, usecase.Request{})
	require.NoError(t, err)
	_, err = s.CreateClaim(b.ctx, project, claim("e", "net", 28), usecase.Request{})
	require.NoError(t, err)

	store.full.Store(false)
	keep()
	require.NoError(t, create("f", "new"))
}

func TestConsumersOfAProjectAreCounted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store, _ := b.store(t)
	for _, uid := range []string{"a", "b", "c"} {
		_, err := b.PutConsumer(b.ctx, project, user(uid), usecase.Request{})
		require.NoError(t, err)
	}
	b.end(t, "unknown")
	key, err := store.ProjectGet(b.ctx, project)
	require.NoError(t, err)
	ids := []ipam.ID{ipam.NewID(), key.UID}
	for least, want := range map[int][]ipam.ID{1: {key.UID}, 4: {key.UID}, 5: {}} {
		full, err := store.ProjectsCrowded(b.ctx, ids, least)
		require.NoError(t, err)
		require.Equal(t, want, full, least)
	}
}

// A project can confirm at most MaxRealms realms within 30 days. A later confirmation deletes the states of other realms that are older than that.
func TestConfirmedRealmsAreLimited(t *testing.T) {
	t.Parallel()
	b := setup(t)
	confirm := func(realm string) error {
		_, err := b.ConfirmExpiry(b.ctx, project, realm, usecase.Request{})
		return err
	}
	for i := range storage.MaxRealms {
		require.NoError(t, confirm(fmt.Sprint("r", i)))
	}
	e := refusedAsFull(t, confirm("one-more"), "100")
	require.Contains(t, e.Message, "wait until the oldest confirmation is 30 days old")
	require.NoError(t, confirm("r7"), "one of them again")
	b.clock.move(31 * 24 * time.Hour)
	require.NoError(t, confirm("one-more"))
	require.Len(t, b.dump(t)["realms"], 1)
}

// The block of a lost consumer cools down for the time in the class of its claim. Another class with the same name has no effect.
func TestBlocksOfLostConsumersCoolDownByTheirOwnClass(t *testing.T) {
	t.Parallel()
	b := setup(t)
	lost := func(d time.Duration) classOption { return func(s *ipam.ClassSpec) { s.ReuseAfterLost = &d } }
	b.class(t, platform, class("std", sharedClass, lost(time.Hour)))
	b.poolIn(t, platform, root("shared", "10.1.0.0/24", backing("std")))
	of := map[string]ipam.Claim{}
	of["shared"] = b.claim(t, byClass("shared", "std", length(28), unused(1, user("a", living(time.Minute)))))
	b.class(t, project, class("std", lost(2*time.Hour)))
	b.pool(t, root("own", "10.2.0.0/24", backing("std")))
	of["own"] = b.claim(t, byClass("own", "std", length(28), unused(1, user("b", living(time.Minute)))))
	require.Equal(t, consumers.Expiries{Expired: 2, Drained: 2}, b.serveFor(t, 70*time.Second))
	for name, want := range map[string]time.Duration{"shared": time.Hour, "own": 2 * time.Hour} {
		in := project
		if name == "shared" {
			in = platform
		}
		kept, err := b.GetAllocation(b.ctx, in, of[name].AllocationID.String(), usecase.Reading{})
		require.NoError(t, err)
		require.Equal(t, want, kept.CoolUntil.Sub(kept.Since), name)
	}
}
