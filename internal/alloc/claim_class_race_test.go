package alloc_test

import (
	"context"
	"sync"
	"testing"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/claims"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// halting is a store that stops the first call of one operation until the test resumes it.
type halting struct {
	storage.Store
	op      string // operation of a transaction or dry run, or "room" for the search for room in several pools
	once    sync.Once
	arrived chan struct{}
	open    chan struct{}
}

func (h *halting) halt(op string) {
	if op == h.op {
		h.once.Do(func() { close(h.arrived); <-h.open })
	}
}

func (h *halting) DryRun(ctx context.Context, op string, l storage.Locks, fn func(context.Context, storage.Tx) error) error {
	h.halt(op)
	return h.Store.DryRun(ctx, op, l, fn)
}

func (h *halting) InTx(ctx context.Context, op string, l storage.Locks, fn func(context.Context, storage.Tx) error) error {
	h.halt(op)
	return h.Store.InTx(ctx, op, l, fn)
}

func (h *halting) RoomIn(ctx context.Context, ask []storage.RoomQuery) (map[ipam.ID]bool, error) {
	h.halt("room")
	return h.Store.RoomIn(ctx, ask)
}

// meanwhile runs slow on another server and stops it at the operation op. Then it runs other, and lets slow continue. It returns the error of slow.
func (b *bundle) meanwhile(t *testing.T, op string, slow func(*alloc.Service) error, other func()) error {
	t.Helper()
	store, _ := b.store(t)
	h := &halting{Store: store, op: op, arrived: make(chan struct{}), open: make(chan struct{})}
	s := b.serve(h)
	done := make(chan error, 1)
	go func() { done <- slow(s) }()
	<-h.arrived
	other()
	close(h.open)
	return <-done
}

func TestFirstClaimUsesAScopedPoolCarvedConcurrentlyFromTheLastRoom(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 28, 28), poolPer(24, "site")))
	b.poolIn(t, platform, root("eu", "10.0.0.0/24", backing("net")))
	b.poolIn(t, platform, root("us", "10.1.0.0/24", backing("net")))
	b.claim(t, byClass("other", "net", inScope("site", "ham")))
	err := b.meanwhile(t, "room", func(s *alloc.Service) error {
		_, err := s.CreateClaim(b.ctx, project, byClass("second", "net", inScope("site", "ber")), usecase.Request{})
		return err
	}, func() { b.claim(t, byClass("first", "net", inScope("site", "ber"))) })
	require.NoError(t, err)
	b.refuseClaim(t, byClass("third", "net", inScope("site", "muc")), ipam.CodePoolExhausted)
}

func TestExplanationRetriesAfterAConcurrentFirstClaim(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(24, 28, 28), poolPer(24, "site")))
	b.poolIn(t, platform, root("eu", "10.0.0.0/22", backing("net")))
	var got claims.Explanation
	err := b.meanwhile(t, "claim_first", func(s *alloc.Service) (err error) {
		got, err = s.ExplainClaim(b.ctx, project, byClass("", "net", inScope("site", "ber")))
		return err
	}, func() { b.claim(t, byClass("first", "net", inScope("site", "ber"))) })
	require.NoError(t, err)
	require.Equal(t, "10.0.0.16/28", got.Claim.Block.String(), "behind the first one's")
}

func TestClaimByClassUsesAConcurrentlyReplacedPool(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, project, class("net", lengths(24, 28, 28)))
	b.pool(t, root("a", "10.0.0.0/24", backing("net")))
	b.pool(t, root("b", "10.1.0.0/24"))
	list := func(pool string, names ...string) {
		_, err := b.patch(pool, usecase.Request{}, func(p *ipam.Pool) { p.Spec.ClassNames = names })
		require.NoError(t, err)
	}
	err := b.meanwhile(t, "claim_group", func(s *alloc.Service) error {
		_, err := s.CreateClaim(b.ctx, project, byClass("x", "net"), usecase.Request{})
		return err
	}, func() {
		list("b", "net")
		list("a")
	})
	require.NoError(t, err)
	c, err := b.GetClaim(b.ctx, project, "x", usecase.Reading{})
	require.NoError(t, err)
	require.Equal(t, "acme/b", c.Pool.String())
}
