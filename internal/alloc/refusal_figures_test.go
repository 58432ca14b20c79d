package alloc_test

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// stopped is a store that stops its next count of the blocks in pools.
type stopped struct {
	storage.Store
	once       sync.Once
	begun, may chan struct{}
}

// Stocks implements storage.Reader.
func (s *stopped) Stocks(ctx context.Context, containers []storage.Container) (map[ipam.ID]ipam.Stock, error) {
	s.once.Do(func() {
		close(s.begun)
		<-s.may
	})
	return s.Store.Stocks(ctx, containers)
}

// setupHeld makes a pool of 16 addresses, one of them held.
func setupHeld(t *testing.T, options ...poolOption) *bundle {
	t.Helper()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/28", options...))
	b.claim(t, claim("held", "net", 32))
	return b
}

// full requires a refusal of a claim for the whole pool, and returns its figures.
func (b *bundle) full(t testing.TB) ipam.Figures {
	t.Helper()
	return b.refuseClaim(t, claim("all", "net", 28), ipam.CodePoolExhausted).Figures
}

func TestRefusalFiguresAreCurrent(t *testing.T) {
	t.Parallel()
	b := setupHeld(t)
	require.Equal(t, 29, *b.full(t).LargestFreePrefixLength)
	for i := range 3 {
		require.Equal(t, fmt.Sprint(15-i), b.full(t).AvailableAddresses)
		b.claim(t, claim(fmt.Sprintf("c%d", i), "net", 32))
	}
	b.claim(t, claim("half", "net", 29))
	f := b.refuseClaim(t, claim("another-half", "net", 29), ipam.CodePoolExhausted).Figures
	require.Equal(t, "4", f.AvailableAddresses)
	require.Equal(t, 30, *f.LargestFreePrefixLength)
	b.claim(t, claim("rest", "net", 30))
	f = b.refuseClaim(t, claim("one", "net", 32), ipam.CodePoolExhausted).Figures
	require.Nil(t, f.LargestFreePrefixLength)
	require.Equal(t, "0", f.AvailableAddresses)
}

func TestRefusalSeesANewCooldownAtOnce(t *testing.T) {
	t.Parallel()
	b := setupHeld(t, coolsDown(time.Hour))
	b.claim(t, claim("half", "net", 29))
	b.refuseClaim(t, claim("another-half", "net", 29), ipam.CodePoolExhausted)
	b.release(t, "half")
	e := b.refuseClaim(t, claim("another-half", "net", 29), ipam.CodeExhaustedByCooldown)
	require.Equal(t, b.clock.read().Add(time.Hour), e.Figures.CooledDownAt)
	require.Equal(t, "8", e.Figures.CoolingDown)
}

func TestBatchAndChildPoolRefusalsHaveTheSameFigures(t *testing.T) {
	t.Parallel()
	for name, refuse := range map[string]func(b *bundle, i int) error{
		"Batch": func(b *bundle, i int) error {
			_, err := b.CreateClaimBatch(b.ctx, project, []ipam.Claim{claim(fmt.Sprintf("fits-%d", i), "net", 32), claim(fmt.Sprintf("all-%d", i), "net", 28)}, usecase.Request{})
			return err
		},
		"ChildPool": func(b *bundle, i int) error {
			_, err := b.CreatePool(b.ctx, project, child(fmt.Sprintf("sub-%d", i), "net", 28), usecase.Request{})
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			b := setupHeld(t)
			for i := range 5 {
				e := refused(t, refuse(b, i), ipam.CodePoolExhausted)
				require.Equal(t, "15", e.Figures.AvailableAddresses)
				require.Equal(t, 28, *e.Figures.WantedPrefixLength)
			}
			require.Equal(t, "15", b.available(t, "net"))
		})
	}
}

func TestRefusalFiguresOfSeveralPoolsAreSummed(t *testing.T) {
	t.Parallel()
	b := setupHeld(t, labelled("x", "y"))
	b.pool(t, root("second", "10.0.1.0/28", labelled("x", "y")))
	b.claim(t, claim("also-held", "second", 32))
	e := b.refuseClaim(t, selecting("all", matching("x", "y"), length(28)), ipam.CodePoolExhausted)
	require.Equal(t, "30", e.Figures.AvailableAddresses)
	require.Equal(t, 29, *e.Figures.LargestFreePrefixLength)
}

// A block becomes free after a claim found no room, but before the server counts the figures for the refusal. The figures would show room for the
// claim, so the server must allocate the block instead.
func TestBlockFreedBeforeTheRefusalCountIsAllocated(t *testing.T) {
	t.Parallel()
	b := setupHeld(t)
	store, _ := b.store(t)
	s := &stopped{Store: store, begun: make(chan struct{}), may: make(chan struct{})}
	svc := b.serve(s)
	made := make(chan error, 1)
	go func() {
		_, err := svc.CreateClaim(b.ctx, project, claim("all", "net", 28), usecase.Request{})
		made <- err
	}()
	<-s.begun
	b.release(t, "held")
	close(s.may)
	require.NoError(t, <-made)
	b.release(t, "all")
}

// ending is a store that calls a function before each read of the next end of a cool-down.
type ending struct {
	storage.Store
	before func()
}

func (s ending) CoolingNext(ctx context.Context, ask []storage.RoomQuery) (map[ipam.ID]time.Time, error) {
	s.before()
	return s.Store.CoolingNext(ctx, ask)
}

// A block was cooling down when the server counted the figures, but is free before it returns the refusal. The server must allocate the block
// instead.
func TestBlockCooledDownDuringTheRefusalCountIsAllocated(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.class(t, platform, class("net", sharedClass, lengths(28, 28, 28), cooling(time.Hour)))
	b.poolIn(t, platform, root("eu", "10.0.0.0/28", backing("net")))
	first := b.claim(t, byClass("first", "net"))
	b.release(t, "first")
	var once sync.Once
	store, _ := b.store(t)
	svc := b.serve(ending{store, func() {
		once.Do(func() {
			b.clock.move(2 * time.Hour)
			b.freed(t, 1)
		})
	}})
	got, err := svc.CreateClaim(b.ctx, project, byClass("next", "net"), usecase.Request{})
	require.NoError(t, err)
	require.Equal(t, first.Block, got.Value.Block)
}
