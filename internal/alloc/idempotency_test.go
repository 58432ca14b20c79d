package alloc_test

import (
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

func TestRetryWithTheSameKeyReturnsTheFirstResponse(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/30"))
	r := key("k", "claim c")
	first, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32), r)
	require.NoError(t, err)
	require.False(t, first.Replayed)
	again := func(t *testing.T, why string) {
		t.Helper()
		before := b.dump(t)
		got, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32), r)
		require.NoError(t, err)
		require.True(t, got.Replayed, why)
		require.Equal(t, first.Value, got.Value, why)
		require.Equal(t, before, b.dump(t), "and nothing is written")
	}
	again(t, "at once")
	for _, name := range []string{"d", "e", "f"} {
		b.claim(t, claim(name, "net", 32))
	}
	again(t, "when the pool is full")
	_, err = b.patchClaim("c", usecase.Request{}, withLabels("changed", "since"))
	require.NoError(t, err)
	again(t, "when the claim was changed")
	b.clock.move(usecase.StoredResponseLifetime - time.Microsecond)
	again(t, "a moment before it expires")
}

func TestUsedKeyWithAnotherRequestIsRefused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	_, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32), key("k", "claim c"))
	require.NoError(t, err)
	before := b.dump(t)
	other := key("k", "another request")
	for name, run := range map[string]func() error{
		"Claim": func() error { _, err := b.CreateClaim(b.ctx, project, claim("d", "net", 32), other); return err },
		"Batch": func() error {
			_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("d", "net", 32)}, other)
			return err
		},
		"Pool": func() error { _, err := b.CreatePool(b.ctx, project, root("p", "10.1.0.0/16"), other); return err },
		"Space": func() error {
			_, err := b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("s")}, other)
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, "header:Idempotency-Key", refused(t, run(), ipam.CodeIdempotencyMismatch).Fields[0].Pointer)
			require.Equal(t, before, b.dump(t))
		})
	}
}

func TestExpiredKeyCanBeReused(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	_, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32), key("k", "claim c"))
	require.NoError(t, err)
	b.clock.move(usecase.StoredResponseLifetime)
	second, err := b.CreateClaim(b.ctx, project, claim("d", "net", 32), key("k", "claim d"))
	require.NoError(t, err)
	require.False(t, second.Replayed)
	third, err := b.CreateClaim(b.ctx, project, claim("d", "net", 32), key("k", "claim d"))
	require.NoError(t, err)
	require.True(t, third.Replayed, "the new answer has taken the place of the old one")
	require.Equal(t, second.Value, third.Value)
	require.Len(t, b.dump(t)["idempotency_keys"], 1)
}

func TestExpiredStoredResponsesAreDeleted(t *testing.T) {
	t.Parallel()
	b := setup(t)
	store, _ := b.store(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	for i := range 5 {
		_, err := b.CreateClaim(b.ctx, project, claim(fmt.Sprintf("c%d", i), "net", 32), key(fmt.Sprintf("k%d", i), "x"))
		require.NoError(t, err)
		b.clock.move(time.Hour)
	}
	b.clock.move(usecase.StoredResponseLifetime - 2*time.Hour)
	n, err := store.ExpireStoredResponses(b.ctx, b.clock.read(), 3)
	require.NoError(t, err)
	require.EqualValues(t, 3, n)
	n, err = store.ExpireStoredResponses(b.ctx, b.clock.read(), 3)
	require.NoError(t, err)
	require.EqualValues(t, 1, n, "the last one has an hour left")
	r, err := b.CreateClaim(b.ctx, project, claim("c4", "net", 32), key("k4", "x"))
	require.NoError(t, err)
	require.True(t, r.Replayed)
}

func TestIdempotencyKeysAreScopedToTheirProject(t *testing.T) {
	t.Parallel()
	b := setup(t)
	_, err := b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, key("k", "umbrella"))
	require.NoError(t, err)
	for _, p := range []string{project, "umbrella"} {
		r, err := b.CreatePool(b.ctx, p, root("net", "10.0.0.0/8"), key("k", p))
		require.NoError(t, err)
		require.False(t, r.Replayed)
	}
}

func TestRefusalIsNotStoredForItsKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/32"))
	b.claim(t, claim("all", "net", 32))
	r := key("k", "claim c")
	_, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32), r)
	refused(t, err, ipam.CodePoolExhausted)
	b.release(t, "all")
	got, err := b.CreateClaim(b.ctx, project, claim("c", "net", 32), r)
	require.NoError(t, err, "a repeat may succeed where the first did not")
	require.False(t, got.Replayed)
}

func TestEveryCreationCanBeRetriedWithItsKey(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/24"))
	kept := b.claim(t, claim("kept", "net", 32, retain))
	b.release(t, "kept")
	repeat(t, b, "Project", func(r usecase.Request) (usecase.Result[ipam.Project], error) {
		return b.CreateProject(b.ctx, ipam.Project{Metadata: meta("umbrella")}, r)
	})
	repeat(t, b, "Space", func(r usecase.Request) (usecase.Result[ipam.Space], error) {
		return b.CreateSpace(b.ctx, project, ipam.Space{Metadata: meta("blue")}, r)
	})
	repeat(t, b, "RootPool", func(r usecase.Request) (usecase.Result[ipam.Pool], error) {
		return b.CreatePool(b.ctx, project, root("root", "10.1.0.0/16", reserving(ipam.Reservation{First: 3}), bounds(16, 24)), r)
	})
	repeat(t, b, "ChildPool", func(r usecase.Request) (usecase.Result[ipam.Pool], error) {
		return b.CreatePool(b.ctx, project, child("sub", "net", 28), r)
	})
	repeat(t, b, "Batch", func(r usecase.Request) (usecase.Result[[]ipam.Claim], error) {
		return b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim("one", "net", 32), selecting("two", ipam.Selector{}, length(31))}, r)
	})
	repeat(t, b, "BindingAgain", func(r usecase.Request) (usecase.Result[ipam.Claim], error) {
		return b.CreateClaim(b.ctx, project, again("kept", kept.AllocationID), r)
	})
}

func repeat[T any](t *testing.T, b *bundle, name string, run func(usecase.Request) (usecase.Result[T], error)) {
	t.Helper()
	t.Run(name, func(t *testing.T) {
		first, err := run(key(name, name))
		require.NoError(t, err)
		require.False(t, first.Replayed)
		before := b.dump(t)
		second, err := run(key(name, name))
		require.NoError(t, err)
		require.True(t, second.Replayed)
		require.Equal(t, first.Value, second.Value)
		require.Equal(t, before, b.dump(t))
		_, err = run(key(name, "other"))
		refused(t, err, ipam.CodeIdempotencyMismatch)
	})
}

// A client retries a request after a timeout, so two attempts run at the same time. The second attempt must return the result of the first.
func TestConcurrentRetryOfAPoolCreationIsExecutedOnce(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/28"))
	space, err := b.GetSpace(b.ctx, project, "default")
	require.NoError(t, err)
	net, err := b.GetPool(b.ctx, project, "net", usecase.Reading{})
	require.NoError(t, err)
	store, _ := b.store(t)
	g := newGate(store, "pool_create")
	s := b.serve(g)
	t.Run("RootPool", func(t *testing.T) {
		first, second := twice(t, s, g, space.ContainerV4, func() (usecase.Result[ipam.Pool], error) {
			return s.CreatePool(b.ctx, project, root("root", "10.1.0.0/16"), key("root", "root"))
		})
		require.Equal(t, first.Value, second.Value)
		require.True(t, second.Replayed)
	})
	t.Run("ChildPoolWithRoomForBoth", func(t *testing.T) {
		first, second := twice(t, s, g, net.UID, func() (usecase.Result[ipam.Pool], error) {
			return s.CreatePool(b.ctx, project, child("sub", "net", 30), key("sub", "sub"))
		})
		require.Equal(t, first.Value, second.Value)
		require.True(t, second.Replayed)
	})
	t.Run("ChildPoolWithRoomForOne", func(t *testing.T) {
		first, second := twice(t, s, g, net.UID, func() (usecase.Result[ipam.Pool], error) {
			return s.CreatePool(b.ctx, project, child("large", "net", 29), key("large", "large"))
		})
		require.Equal(t, first.Value, second.Value)
		require.True(t, second.Replayed)
	})
}

func TestConcurrentRetryOfAClaimIsExecutedOnce(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, pool string }{{"WithRoomForBoth", "10.0.0.0/29"}, {"WithRoomForOne", "10.0.0.0/31"}} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			g := setupGated(t, root("net", c.pool), claim("first", "net", 32))
			r := key("k", "the claim")
			run := g.claiming(claim("twin", "net", 32), r)
			g.finish() // the first attempt has finished
			g.late = nil
			twin := g.hold(t, run)
			g.queue(t, run)
			late := g.finish()
			require.NoError(t, twin.err)
			require.NoError(t, late[0].err)
			require.Equal(t, twin.claim, late[0].claim)
		})
	}
	t.Run("ByPut", func(t *testing.T) {
		t.Parallel()
		b := setup(t)
		b.pool(t, root("net", "10.0.0.0/32"))
		var wg sync.WaitGroup
		results := make([]usecase.Result[ipam.Claim], 8)
		errs := make([]error, len(results))
		for i := range results {
			wg.Go(func() { results[i], errs[i] = b.PutClaim(b.ctx, project, claim("c", "net", 32), usecase.Request{}) })
		}
		wg.Wait()
		made := 0
		for i, r := range results {
			require.NoError(t, errs[i])
			require.Equal(t, results[0].Value, r.Value)
			if !r.Existed {
				made++
			}
		}
		require.Equal(t, 1, made)
	})
}
