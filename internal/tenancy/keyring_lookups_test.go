package tenancy_test

import (
	"context"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

func TestConcurrentRequestsShareOneLookup(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, v, _ := keyring()
		_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
		v.hold = make(chan struct{})
		ends := make(chan error, 50)
		for range 50 {
			go func() {
				_, err := k.Authenticate(t.Context(), token)
				ends <- err
			}()
		}
		synctest.Wait() // waits until all requests are blocked
		require.EqualValues(t, 1, v.lookups.Load())
		close(v.hold)
		for range 50 {
			require.NoError(t, <-ends)
		}
	})
}

func TestLookupContinuesAfterItsRequestEnds(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, v, _ := keyring()
		_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
		v.hold = make(chan struct{})
		first, leave := context.WithCancel(t.Context())
		ends := make(chan error, 2)
		go func() {
			_, err := k.Authenticate(first, token)
			ends <- err
		}()
		synctest.Wait()
		go func() {
			_, err := k.Authenticate(t.Context(), token)
			ends <- err
		}()
		synctest.Wait()
		leave()
		require.ErrorIs(t, <-ends, context.Canceled, "who leaves does not wait")
		close(v.hold)
		require.NoError(t, <-ends, "who stays is answered")
		require.EqualValues(t, 1, v.lookups.Load())
	})
}

func TestHangingLookupTimesOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, v, _ := keyring()
		_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
		v.hold = make(chan struct{}) // never closed
		_, err := k.Authenticate(context.WithoutCancel(t.Context()), token)
		require.ErrorIs(t, err, context.DeadlineExceeded)
	})
}

// purse is the attempts of an address that has some left.
type purse struct{ left, asked atomic.Int64 }

func (p *purse) Check() error { return nil }
func (p *purse) Reserve() error {
	p.asked.Add(1)
	if p.left.Add(-1) < 0 {
		return ipam.Errorf(ipam.CodeRateLimited, "Too many.")
	}
	return nil
}

func TestLookupsChargeTheAddress(t *testing.T) {
	t.Parallel()
	k, v, h := keyring()
	_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	_, second := v.make("acme", "second", tenancy.Viewer, time.Time{})
	p := &purse{}
	p.left.Store(1)
	ctx := tenancy.WithAttempts(t.Context(), p)

	_, err := k.Authenticate(ctx, token)
	require.NoError(t, err)
	require.EqualValues(t, 1, p.asked.Load())
	_, err = k.Authenticate(ctx, second)
	require.True(t, ipam.IsCode(err, ipam.CodeRateLimited))
	require.EqualValues(t, 1, v.lookups.Load(), "nothing was looked up for it")
	_, err = k.Authenticate(ctx, token)
	require.NoError(t, err, "what is remembered costs nothing")
	h.pass(time.Minute)
	_, err = k.Authenticate(ctx, token)
	require.NoError(t, err, "nor does looking again whether it is still valid")
	require.EqualValues(t, 2, v.lookups.Load())

	wrong := token[:len(token)-52] + second[len(second)-52:]
	h.pass(time.Minute)
	_, err = k.Authenticate(ctx, wrong)
	require.True(t, ipam.IsCode(err, ipam.CodeRateLimited), "a guess does, whatever key it names")
}

// slowPoor is the attempts of an address that has none left. Its check is slow.
type slowPoor struct{ decide chan struct{} }

func (slowPoor) Check() error { return nil }
func (p slowPoor) Reserve() error {
	<-p.decide
	return ipam.Errorf(ipam.CodeRateLimited, "Too many.")
}

func TestSharedLookupDoesNotShareItsRateLimit(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		k, v, _ := keyring()
		_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
		poor := slowPoor{make(chan struct{})}
		first, second := make(chan error, 1), make(chan error, 1)
		go func() {
			_, err := k.Authenticate(tenancy.WithAttempts(t.Context(), poor), token)
			first <- err
		}()
		synctest.Wait() // the first request has started the look-up
		go func() {
			_, err := k.Authenticate(t.Context(), token)
			second <- err
		}()
		synctest.Wait() // the second request shares the look-up
		close(poor.decide)
		require.True(t, ipam.IsCode(<-first, ipam.CodeRateLimited))
		require.NoError(t, <-second)
		require.EqualValues(t, 1, v.lookups.Load())
	})
}

func TestGuessesDoNotEvictExistingKeys(t *testing.T) {
	t.Parallel()
	k, v, _ := keyring()
	_, token := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	_, err := k.Authenticate(t.Context(), token)
	require.NoError(t, err)
	for range 20_000 {
		guess, _ := tenancy.NewToken(ipam.NewID())
		_, err := k.Authenticate(t.Context(), guess)
		require.Error(t, err)
	}
	before := v.lookups.Load()
	_, err = k.Authenticate(t.Context(), token)
	require.NoError(t, err)
	require.Equal(t, before, v.lookups.Load())
}
