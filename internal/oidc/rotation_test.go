package oidc

import (
	"context"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
)

// ring is the current signing key of an issuer. A worker that signs a token holds the read lock until the verifier has checked the token. So rotate
// cannot withdraw the key earlier.
type ring struct {
	mu  sync.RWMutex
	now atomic.Pointer[signer]
}

// rotate publishes a new key together with the old one, and signs with the new one from then on. It withdraws the old key when no worker verifies a
// token of the old key any more.
func (r *ring) rotate(p *provider, n int) {
	old, fresh := *r.now.Load(), elliptical(fmt.Sprintf("key-%d", n))
	p.publish(old, fresh)
	r.now.Store(&fresh)
	r.mu.Lock()
	defer r.mu.Unlock()
	p.publish(fresh)
}

func TestTokensOfPublishedKeysAreAcceptedWhileKeysRotate(t *testing.T) {
	t.Parallel()
	first := elliptical("key-0")
	p := startProvider(t, first)
	r := &ring{}
	r.now.Store(&first)
	v := verifier(t, nil, p.conf("corp"))
	v.issuers[p.url].keys.every = time.Millisecond // allows many rotations in a short time

	const rotations, workers = 40, 8
	verified, stop := make(chan error), make(chan struct{})
	var wg sync.WaitGroup
	for range workers {
		wg.Go(func() {
			for {
				r.mu.RLock()
				_, err := v.Authenticate(t.Context(), p.token(*r.now.Load(), nil))
				r.mu.RUnlock()
				select {
				case verified <- err:
				case <-stop:
					return
				}
			}
		})
	}
	for n := range rotations {
		for range 3 * workers {
			assert.NoError(t, <-verified)
		}
		r.rotate(p, n+1)
	}
	close(stop)
	wg.Wait()

	_, err := v.Authenticate(t.Context(), p.token(*r.now.Load(), nil))
	require.NoError(t, err)
	require.GreaterOrEqual(t, p.fetches.Load(), int64(rotations), "each key had to be found")
	require.LessOrEqual(t, p.fetches.Load(), int64(3*rotations), "and all workers waited for the same fetches")
	_, err = v.Authenticate(t.Context(), p.token(elliptical("key-never"), nil))
	require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err))
}

// A fetch may have read the keys before the issuer published a new one. Tokens of the new key must not be refused because of that fetch.
func TestUnknownKeyWaitsForAFetchStartedAfterItsToken(t *testing.T) {
	t.Parallel()
	old, fresh := elliptical("old"), elliptical("fresh")
	p := startProvider(t, old)
	v := verifier(t, nil, p.conf("corp"))
	keys := v.issuers[p.url].keys
	keys.every = time.Millisecond
	answered, goOn := make(chan struct{}), make(chan struct{})
	inner := keys.fetch
	var once sync.Once
	held, fetches := holdFirst(inner, &once, answered, goOn), atomic.Int64{}
	keys.fetch = func(ctx context.Context) ([]jose.JSONWebKey, error) { // the provider counts requests, and net/http may repeat a request
		fetches.Add(1)
		return held(ctx)
	}

	first := make(chan error, 1)
	go func() {
		_, err := v.Authenticate(t.Context(), p.token(old, nil))
		first <- err
	}()
	<-answered // the first fetch has read only the old key, and has not ended
	p.publish(old, fresh)
	second := make(chan error, 1)
	go func() {
		_, err := v.Authenticate(t.Context(), p.token(fresh, nil))
		second <- err
	}()
	require.Eventually(t, func() bool {
		keys.mu.Lock()
		defer keys.mu.Unlock()
		return keys.next != nil
	}, time.Minute, time.Millisecond, "the second token waits for a fetch of its own")
	close(goOn)
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.EqualValues(t, 2, fetches.Load())
}
