package alloc_test

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/alloc"
	"github.com/carve-ipam/carve/internal/alloc/storage"
	"github.com/carve-ipam/carve/internal/alloc/usecase"
	"github.com/carve-ipam/carve/internal/ipam"
)

// slowly is a store for which counting what is free takes a while, of a clock that stands still otherwise. It can be stopped while it counts.
type slowly struct {
	storage.Store
	clock *clock
	takes time.Duration

	mu     sync.Mutex
	counts int
	fails  error
	stop   chan struct{} // nil: the next one is not stopped
	begun  chan struct{}
}

// Stocks implements storage.Reader.
func (s *slowly) Stocks(ctx context.Context, containers []storage.Container) (map[ipam.ID]ipam.Stock, error) {
	s.mu.Lock()
	s.counts++
	stop, begun, fails := s.stop, s.begun, s.fails
	s.stop, s.fails = nil, nil
	s.mu.Unlock()
	if stop != nil {
		close(begun)
		<-stop
	}
	s.clock.move(s.takes)
	if fails != nil {
		return nil, fails
	}
	return s.Store.Stocks(ctx, containers)
}

// next stops the next count, until the answer is called.
func (s *slowly) next() (pass func()) {
	s.mu.Lock()
	defer s.mu.Unlock()
	stop := make(chan struct{})
	s.stop, s.begun = stop, make(chan struct{})
	return sync.OnceFunc(func() { close(stop) })
}

// counted is how often it was counted since it was last asked.
func (s *slowly) counted() int {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.counts
	s.counts = 0
	return n
}

// setupLarge is a pool of 16 addresses that is large as far as counting goes: each count takes 300 ms. One address is held.
func setupLarge(t *testing.T, options ...poolOption) (*bundle, *slowly) {
	t.Helper()
	b := setup(t)
	b.pool(t, root("net", "10.0.0.0/28", options...))
	store, seen := b.store(t)
	s := &slowly{Store: store, clock: b.clock, takes: 300 * time.Millisecond}
	b.Service, b.attempts = b.serve(s), seen
	alloc.SmallStock(b.Service, 0)
	b.claim(t, claim("held", "net", 32))
	return b, s
}

// full refuses a claim for a whole pool.
func (b *bundle) full(t testing.TB) ipam.Figures {
	t.Helper()
	return b.refuseClaim(t, claim("all", "net", 28), ipam.CodePoolExhausted).Figures
}

func TestStormOfRefusalsIsCountedOnce(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t)
	begun := b.clock.read()
	for range 10 {
		f := b.full(t)
		require.Equal(t, "15", f.AvailableAddresses)
		require.Equal(t, 29, *f.LargestFreePrefixLength)
		require.Zero(t, f.CountedAt, "of this moment")
	}
	require.Equal(t, 1, s.counted())

	b.claim(t, claim("more", "net", 32))
	b.clock.move(5 * time.Second) // 5.3 s since it was counted
	e := b.refuseClaim(t, claim("all", "net", 28), ipam.CodePoolExhausted)
	require.Equal(t, "15", e.Figures.AvailableAddresses)
	require.Equal(t, begun, e.Figures.CountedAt)
	require.Contains(t, e.Message, begun.Format(time.RFC3339))
	require.Zero(t, s.counted())

	b.clock.move(time.Second) // 20 times as long as counting took
	f := b.full(t)
	require.Equal(t, "14", f.AvailableAddresses)
	require.Zero(t, f.CountedAt)
	require.Equal(t, 1, s.counted())
}

func TestFiguresGrowNoOlderThanTheirBound(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t)
	s.takes = time.Minute
	b.full(t)
	b.clock.move(-31 * time.Second) // 29 s since counting began
	require.Equal(t, "15", b.full(t).AvailableAddresses)
	require.Equal(t, 1, s.counted())
	b.clock.move(2 * time.Second)
	b.full(t)
	require.Equal(t, 1, s.counted(), "counting that takes long does not make figures last for ever")
}

func TestSmallPoolsAreCountedForEachRefusal(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t)
	alloc.SmallStock(b.Service, 4) // the pool has four free blocks
	for i := range 3 {
		f := b.full(t)
		require.Equal(t, fmt.Sprint(15-i), f.AvailableAddresses)
		require.Zero(t, f.CountedAt)
		b.claim(t, claim(fmt.Sprintf("c%d", i), "net", 32))
	}
	require.Equal(t, 3, s.counted())
}

func TestRefusalsAtOnceWaitForOneCount(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t)
	pass := s.next()
	errs := make([]error, 20)
	var running sync.WaitGroup
	refuse := func(i int) {
		running.Go(func() {
			_, errs[i] = b.CreateClaim(b.ctx, project, claim(fmt.Sprintf("all-%d", i), "net", 28), usecase.Request{})
		})
	}
	refuse(0)
	<-s.begun
	for i := 1; i < len(errs); i++ {
		refuse(i)
		waitFor(t, func() bool { return b.attempts.count("container_room", "committed") == i+1 }) // it was refused, in a group of its own
	}
	pass()
	running.Wait()
	for _, err := range errs {
		require.Equal(t, "15", refused(t, err, ipam.CodePoolExhausted).Figures.AvailableAddresses)
	}
	require.Equal(t, 1, s.counted())
}

func TestWhoCountedAndWentAwayHasCountedForTheOthers(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t)
	pass := s.next()
	ctx, leave := context.WithCancel(b.ctx)
	left := make(chan error)
	go func() {
		_, err := b.CreateClaim(ctx, project, claim("all", "net", 28), usecase.Request{})
		left <- err
	}()
	<-s.begun
	leave()
	require.ErrorIs(t, <-left, context.Canceled)
	pass()
	require.Equal(t, "15", b.full(t).AvailableAddresses)
	require.Equal(t, 1, s.counted())
}

func TestOldFiguresServeWhileSomebodyCountsAnew(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t)
	b.full(t)
	b.clock.move(10 * time.Second)
	pass := s.next()
	defer pass()
	done := make(chan error)
	go func() {
		_, err := b.CreateClaim(b.ctx, project, claim("first", "net", 28), usecase.Request{})
		done <- err
	}()
	<-s.begun
	require.NotZero(t, b.full(t).CountedAt, "nobody waits for what is known")
	pass()
	require.Zero(t, refused(t, <-done, ipam.CodePoolExhausted).Figures.CountedAt)
	require.Zero(t, b.full(t).CountedAt)
	require.Equal(t, 2, s.counted())
}

func TestCountThatFailsIsTheNextOnesToMake(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t)
	for range 2 { // not known yet, and known
		s.fails = errors.New("no answer")
		_, err := b.CreateClaim(b.ctx, project, claim("all", "net", 28), usecase.Request{})
		require.ErrorContains(t, err, "no answer")
		require.Zero(t, b.full(t).CountedAt)
		require.Equal(t, 2, s.counted())
		b.clock.move(10 * time.Second)
	}
}

func TestRememberedFiguresDoNotContradictTheRefusal(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t)
	require.Equal(t, 29, *b.full(t).LargestFreePrefixLength)
	b.claim(t, claim("half", "net", 29))
	f := b.refuseClaim(t, claim("another-half", "net", 29), ipam.CodePoolExhausted).Figures
	require.Equal(t, 30, *f.LargestFreePrefixLength)
	require.Equal(t, "7", f.AvailableAddresses)
	for i := range 7 {
		b.claim(t, claim(fmt.Sprintf("c%d", i), "net", 32))
	}
	f = b.refuseClaim(t, claim("one", "net", 32), ipam.CodePoolExhausted).Figures
	require.Nil(t, f.LargestFreePrefixLength)
	require.Equal(t, "0", f.AvailableAddresses)
	require.Equal(t, 1, s.counted())
}

func TestWhatBeganToCoolDownSinceItWasCountedIsSeen(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t, coolsDown(time.Hour))
	b.claim(t, claim("half", "net", 29))
	b.refuseClaim(t, claim("another-half", "net", 29), ipam.CodePoolExhausted)
	b.release(t, "half")
	e := b.refuseClaim(t, claim("another-half", "net", 29), ipam.CodeExhaustedByCooldown)
	require.Equal(t, b.clock.read().Add(time.Hour), e.Figures.CooledDownAt)
	require.Empty(t, e.Figures.CoolingDown, "how much is not known")
	b.clock.move(10 * time.Second)
	e = b.refuseClaim(t, claim("another-half", "net", 29), ipam.CodeExhaustedByCooldown)
	require.Equal(t, "8", e.Figures.CoolingDown)
	require.Equal(t, 2, s.counted())
}

func TestBatchesAndChildPoolsAreRefusedWithTheSameFigures(t *testing.T) {
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
			b, s := setupLarge(t)
			for i := range 5 {
				e := refused(t, refuse(b, i), ipam.CodePoolExhausted)
				require.Equal(t, "15", e.Figures.AvailableAddresses)
				require.Equal(t, 28, *e.Figures.WantedPrefixLength)
			}
			require.Equal(t, 1, s.counted())
			require.Equal(t, "15", b.available(t, "net"))
		})
	}
}

func TestSeveralPoolsAreCountedAsFarAsTheyAreNotKnown(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t, labelled("x", "y"))
	b.full(t)
	b.pool(t, root("second", "10.0.1.0/28", labelled("x", "y")))
	b.claim(t, claim("also-held", "second", 32))
	s.counted()
	for range 3 {
		e := b.refuseClaim(t, selecting("all", matching("x", "y"), length(28)), ipam.CodePoolExhausted)
		require.Equal(t, "30", e.Figures.AvailableAddresses)
		require.Equal(t, 29, *e.Figures.LargestFreePrefixLength)
	}
	require.Equal(t, 1, s.counted(), "the second one, once")
}

// Nobody is refused with figures that have room for what was refused: what came free before it was counted is given.
func TestWhatCameFreeBeforeItWasCountedIsGiven(t *testing.T) {
	t.Parallel()
	b, s := setupLarge(t)
	pass := s.next()
	made := make(chan error, 1)
	go func() {
		_, err := b.CreateClaim(b.ctx, project, claim("all", "net", 28), usecase.Request{})
		made <- err
	}()
	<-s.begun
	b.release(t, "held")
	pass()
	require.NoError(t, <-made)
	b.release(t, "all")
}

// ending lets something happen before it is looked up when blocks will have cooled down.
type ending struct {
	storage.Store
	before func()
}

func (s ending) CoolingNext(ctx context.Context, ask []storage.RoomQuery) (map[ipam.ID]time.Time, error) {
	s.before()
	return s.Store.CoolingNext(ctx, ask)
}

// Nor is anybody refused because of a block that cooled down when it was counted, and was free before the refusal was written.
func TestWhatCooledDownWhileItWasCountedIsGiven(t *testing.T) {
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
