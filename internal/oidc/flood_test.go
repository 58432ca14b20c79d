package oidc

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"
	"time"

	"github.com/go-jose/go-jose/v4"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// holdFirst lets the first fetch read its response. Then it holds the fetch until goOn is closed.
func holdFirst(fetch func(context.Context) ([]jose.JSONWebKey, error), once *sync.Once, answered, goOn chan struct{}) func(context.Context) ([]jose.JSONWebKey, error) {
	return func(ctx context.Context) ([]jose.JSONWebKey, error) {
		found, err := fetch(ctx)
		once.Do(func() {
			close(answered)
			<-goOn
		})
		return found, err
	}
}

// direct serves requests without a network, so that a test can run in synthetic time.
type direct struct{ http.Handler }

func (d direct) RoundTrip(r *http.Request) (*http.Response, error) {
	w := httptest.NewRecorder()
	d.ServeHTTP(w, r)
	return w.Result(), nil
}

// offline returns an issuer without a network, and its verifier.
func offline(t *testing.T, published ...signer) (*provider, *Verifier) {
	t.Helper()
	p := &provider{url: "https://issuer.example"}
	p.publish(published...)
	v, err := New(Config{Issuers: []Issuer{p.conf("corp")}}, Options{Members: members{}, transport: direct{p}})
	require.NoError(t, err)
	return p, v
}

// If many forged tokens have unknown keys, they cause fewer and fewer fetches. The server must still find a new key soon after the issuer has
// published it.
func TestFloodOfUnknownKeysCausesOneFetchPerHalfMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, forger := elliptical("good"), elliptical("x")
		p, v := offline(t, good)
		use := func(by signer) error {
			_, err := v.Authenticate(t.Context(), p.token(by, nil))
			return err
		}
		require.NoError(t, use(good))
		require.EqualValues(t, 1, p.fetches.Load())

		flood := func(until func() bool) {
			for i := 0; !until(); i++ {
				forger.id = fmt.Sprint("x", i)
				require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(use(forger)))
				<-time.After(100 * time.Millisecond)
			}
		}
		begin := time.Now()
		flood(func() bool { return time.Since(begin) > 10*time.Minute })
		require.GreaterOrEqual(t, p.fetches.Load(), int64(20), "it is asked on")
		require.LessOrEqual(t, p.fetches.Load(), int64(1+5+20+3), "after 1, 2, 4, 8, 16 s, then every 30 s, and each 5 minutes for what is known")

		fresh := elliptical("fresh")
		p.publish(good, fresh)
		published := time.Now()
		flood(func() bool { return use(fresh) == nil })
		require.LessOrEqual(t, time.Since(published), maxUselessWait+time.Second, "a new key is found during a flood")

		<-time.After(2*maxUselessWait + time.Second)
		newest := elliptical("newest")
		p.publish(good, fresh, newest)
		require.NoError(t, use(newest), "and without one at once")
	})
}

// Forged tokens without a key id are limited in the same way as tokens with an unknown key.
func TestFloodOfTokensWithoutAKeyCausesOneFetchPerHalfMinute(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, forger := elliptical("good"), elliptical("")
		p, v := offline(t, good)
		for begin := time.Now(); time.Since(begin) < 10*time.Minute; {
			_, err := v.Authenticate(t.Context(), p.token(forger, nil))
			require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err))
			<-time.After(100 * time.Millisecond)
		}
		require.LessOrEqual(t, p.fetches.Load(), int64(1+5+20+3))
		<-time.After(maxUselessWait)
		for range 3 { // these fetches find a new key
			fresh := elliptical("")
			p.publish(good, fresh)
			_, err := v.Authenticate(t.Context(), p.token(fresh, nil))
			require.NoError(t, err, "one that is new is found")
			<-time.After(2 * fetchEvery)
		}
	})
}

// Tokens with a withdrawn key arrive now and then. They must not delay tokens with a new key.
func TestOccasionalUnknownKeysDoNotDelayNewOnes(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good := elliptical("good")
		p, v := offline(t, good)
		for i := range 20 {
			_, err := v.Authenticate(t.Context(), p.token(elliptical(fmt.Sprint("gone", i)), nil))
			require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err))
			<-time.After(2 * fetchEvery)
			fresh := elliptical(fmt.Sprint("fresh", i))
			p.publish(good, fresh)
			_, err = v.Authenticate(t.Context(), p.token(fresh, nil))
			require.NoError(t, err)
		}
	})
}

func TestWrongSignatureCausesNoFetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good, forger := elliptical("good"), elliptical("good")
		p, v := offline(t, good)
		_, err := v.Authenticate(t.Context(), p.token(good, nil))
		require.NoError(t, err)
		for range 50 {
			_, err := v.Authenticate(t.Context(), p.token(forger, nil))
			require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(err))
		}
		require.EqualValues(t, 1, p.fetches.Load())
	})
}

func TestFailingIssuerIsFetchedLessOften(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good := elliptical("good")
		p, v := offline(t, good)
		p.down.Store(true)
		asked := &atomic.Int64{}
		keys := v.issuers[p.url].keys
		fetch := keys.fetch
		keys.fetch = func(ctx context.Context) ([]jose.JSONWebKey, error) {
			asked.Add(1)
			return fetch(ctx)
		}
		begin := time.Now()
		for time.Since(begin) < 2*time.Minute {
			_, err := v.Authenticate(t.Context(), p.token(good, nil))
			require.Equal(t, ipam.CodeUnavailable, ipam.CodeOf(err))
			<-time.After(100 * time.Millisecond)
		}
		require.GreaterOrEqual(t, asked.Load(), int64(5))
		require.LessOrEqual(t, asked.Load(), int64(10), "1, 2, 4, 8, 16, then 30 seconds apart")

		p.down.Store(false)
		<-time.After(retryLatest)
		_, err := v.Authenticate(t.Context(), p.token(good, nil))
		require.NoError(t, err)
	})
}

func TestWithdrawnKeyIsRemovedFromTheCache(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		withdrawn, kept := elliptical("withdrawn"), elliptical("kept")
		p, v := offline(t, withdrawn, kept)
		use := func(by signer) error {
			_, err := v.Authenticate(t.Context(), p.token(by, nil))
			return err
		}
		require.NoError(t, use(withdrawn))
		p.publish(kept)
		require.NoError(t, use(withdrawn), "not known yet")
		<-time.After(freshFor + time.Second)
		require.NoError(t, use(kept), "the request that notices does not wait")
		synctest.Wait()
		require.Equal(t, ipam.CodeUnauthenticated, ipam.CodeOf(use(withdrawn)))
		require.NoError(t, use(kept))
	})
}

func TestRequestsWaitingForKeysAreLimited(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good := elliptical("good")
		p, v := offline(t, good)
		token := p.token(good, nil)
		keys := v.issuers[p.url].keys
		keys.began = time.Now() // as if a fetch had just begun, so that the next one begins a second later
		var wg sync.WaitGroup
		var accepted atomic.Int64
		for range maxWaiting {
			wg.Go(func() {
				_, err := v.Authenticate(t.Context(), token)
				if assert.NoError(t, err) {
					accepted.Add(1)
				}
			})
		}
		synctest.Wait()
		_, err := v.Authenticate(t.Context(), token)
		require.Equal(t, ipam.CodeUnavailable, ipam.CodeOf(err))
		wg.Wait()
		require.EqualValues(t, maxWaiting, accepted.Load())
		require.EqualValues(t, 1, p.fetches.Load())
	})
}

// none is the attempts of an address that has none left.
type none struct{}

func (none) Check() error   { return ipam.Errorf(ipam.CodeRateLimited, "Too many.") }
func (none) Reserve() error { return none{}.Check() }

func TestAddressWithoutAttemptsCausesNoFetch(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		good := elliptical("good")
		p, v := offline(t, good)
		limited := tenancy.WithAttempts(t.Context(), none{})
		_, err := v.Authenticate(limited, p.token(good, nil))
		require.Equal(t, ipam.CodeRateLimited, ipam.CodeOf(err))
		require.Zero(t, p.fetches.Load())

		_, err = v.Authenticate(t.Context(), p.token(good, nil))
		require.NoError(t, err)
		_, err = v.Authenticate(limited, p.token(good, nil))
		require.NoError(t, err, "a known key needs no attempt")
		for i := range 3 {
			forger := elliptical(strconv.Itoa(i))
			_, err = v.Authenticate(limited, p.token(forger, nil))
			require.Equal(t, ipam.CodeRateLimited, ipam.CodeOf(err))
		}
		require.EqualValues(t, 1, p.fetches.Load())
	})
}
