package oidc

import (
	"bytes"
	"context"
	"crypto"
	"log/slog"
	"slices"
	"sync"
	"time"

	"github.com/go-jose/go-jose/v4"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// Times and limits for fetches.
const (
	fetchEvery     = time.Second      // minimum interval between two fetches from one issuer, from beginning to beginning
	fetchTimeout   = 10 * time.Second // for discovery and keys together
	retryLatest    = 30 * time.Second // maximum wait after failures; the wait doubles with each failure
	maxUselessWait = 30 * time.Second // maximum wait after fetches without the wanted key; the wait doubles with each
	freshFor       = 5 * time.Minute  // age of the keys from which their next use starts a fetch in the background
	maxWaiting     = 1000             // requests that wait for one fetch
)

// keySet caches one issuer's keys.
type keySet struct {
	issuer string // issuer's name, for the log
	log    *slog.Logger
	every  time.Duration
	fetch  func(ctx context.Context) ([]jose.JSONWebKey, error)
	turn   chan struct{} // semaphore: one fetch at a time

	mu        sync.Mutex
	known     []jose.JSONWebKey
	readAt    time.Time // when the fetch that returned the keys in known began
	began     time.Time // when the last fetch began
	failures  int       // consecutive failures
	retryAt   time.Time // after a failure, no fetch begins before this time
	failure   error
	useless   int       // consecutive fetches that brought no new key and missed a wanted key
	uselessAt time.Time // when the last useless fetch ended
	next      *round    // the next fetch, which has not begun; nil: no request waits for one
}

// round is one fetch, with the requests that wait for it.
type round struct {
	waiting int
	wanted  []string // key ids that the requests want
	done    chan struct{}
	err     error // valid after done is closed
}

func newKeySet(issuer string, log *slog.Logger, fetch func(context.Context) ([]jose.JSONWebKey, error)) *keySet {
	return &keySet{issuer: issuer, log: log, every: fetchEvery, fetch: fetch, turn: make(chan struct{}, 1)}
}

// find returns the issuer's keys that have the given id. If it knows none, it waits for a fetch that begins after the call. It does not use a running
// fetch's result, because that fetch may have read the keys before the issuer published the wanted key.
func (s *keySet) find(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	found, old := keysWithID(s.known, id), time.Since(s.readAt) > freshFor
	s.mu.Unlock()
	if len(found) > 0 {
		if old {
			_, _ = s.join() // does not wait; if the fetch fails, learn logs it
		}
		return found, nil
	}
	return s.refresh(ctx, id)
}

// refresh waits for a fetch that begins after the call. It returns the keys that have the given id, which may be none.
func (s *keySet) refresh(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	if err := tenancy.AttemptsOf(ctx).Check(); err != nil {
		return nil, err
	}
	r, err := s.join(id)
	if r == nil || err != nil {
		return nil, err
	}
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-r.done:
	}
	if r.err != nil {
		return nil, r.err
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	return keysWithID(s.known, id), nil
}

// join adds a request to the next fetch, and starts that fetch if necessary. While fetches for unknown keys pause, join returns nil for such a key.
// Without the pause, every forged token would cause a fetch.
//
// wanted is the key's id, or "" for a token without an id. Without wanted, join only refreshes the keys.
func (s *keySet) join(wanted ...string) (*round, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.checkRetry(); err != nil {
		return nil, err
	}
	if len(wanted) > 0 && time.Since(s.uselessAt) < s.pause() {
		return nil, nil //nolint:nilnil // there is no fetch, and nothing has failed
	}
	if s.next == nil {
		s.next = &round{done: make(chan struct{})}
		go s.run(s.next)
	}
	if s.next.waiting >= maxWaiting {
		return nil, ipam.Errorf(ipam.CodeUnavailable, "Too many requests wait for the keys of this issuer; repeat the request.")
	}
	s.next.waiting++
	s.next.wanted = append(s.next.wanted, wanted...)
	return s.next, nil
}

// pause returns the time for which unknown keys cause no fetch. This time starts when the last useless fetch ends. The caller holds mu.
func (s *keySet) pause() time.Duration {
	if s.useless == 0 {
		return 0
	}
	return min(s.every<<min(s.useless-1, 10), maxUselessWait)
}

// checkRetry returns an error with the code unavailable if the last fetch failed and the wait after the failure has not passed. The caller holds mu.
func (s *keySet) checkRetry() error {
	if wait := time.Until(s.retryAt); wait > 0 {
		return unavailable(wait, s.failure)
	}
	return nil
}

func unavailable(wait time.Duration, cause error) error {
	e := ipam.Errorf(ipam.CodeUnavailable, "The issuer of these credentials does not respond, so the server cannot verify them now; repeat the request.")
	e.RetryAfter = wait
	return e.WithCause(cause)
}

// run makes one fetch. It waits until the previous fetch has ended, and until at least s.every has passed since the previous fetch began.
func (s *keySet) run(r *round) {
	defer close(r.done)
	s.turn <- struct{}{}
	defer func() { <-s.turn }()
	s.mu.Lock()
	wait := time.Until(s.began.Add(s.every))
	s.mu.Unlock()
	if wait > 0 {
		<-time.After(wait)
	}
	s.mu.Lock()
	s.next = nil // requests that arrive from now on need another fetch
	began := time.Now()
	r.err = s.checkRetry()
	if r.err == nil {
		s.began = began
	}
	s.mu.Unlock()
	if r.err != nil {
		return
	}
	ctx, cancel := context.WithTimeout(context.Background(), fetchTimeout)
	defer cancel()
	found, err := s.fetch(ctx)
	r.err = s.learn(ctx, r, began, found, err)
}

// learn records a fetch's result. If the fetch failed, the cached keys stay valid.
func (s *keySet) learn(ctx context.Context, r *round, began time.Time, found []jose.JSONWebKey, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.countUseless(r, found)
		s.known, s.readAt, s.failures, s.retryAt, s.failure = found, began, 0, time.Time{}, nil
		return nil
	}
	wait := min(s.every<<min(s.failures, 10), retryLatest)
	s.failures++
	s.failure, s.retryAt = err, time.Now().Add(wait)
	s.log.WarnContext(ctx, "cannot read the keys of an issuer; trying again later", "issuer", s.issuer, "failures", s.failures, "error", err)
	return unavailable(wait, err)
}

// countUseless counts useless fetches. A fetch is useless if it brings no new key and misses a wanted key. If the last useless fetch was long ago, the
// count starts again. The caller holds mu.
func (s *keySet) countUseless(r *round, found []jose.JSONWebKey) {
	unknown := func(id string) bool { return id == "" || len(keysWithID(found, id)) == 0 }
	fresh := func(key jose.JSONWebKey) bool {
		return !slices.ContainsFunc(keysWithID(s.known, key.KeyID), func(known jose.JSONWebKey) bool { return key.KeyID != "" || sameKey(key, known) })
	}
	switch {
	case slices.ContainsFunc(found, fresh):
		s.useless = 0
	case slices.ContainsFunc(r.wanted, unknown):
		if time.Since(s.uselessAt) > 2*maxUselessWait {
			s.useless = 0
		}
		s.useless++
		s.uselessAt = time.Now()
	}
}

// sameKey compares two keys that have no ids.
func sameKey(a, b jose.JSONWebKey) bool {
	x, errX := a.Thumbprint(crypto.SHA256)
	y, errY := b.Thumbprint(crypto.SHA256)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
