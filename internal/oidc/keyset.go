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

// When keys are fetched.
const (
	fetchEvery   = time.Second      // fetches of one issuer begin no closer together
	fetchTimeout = 10 * time.Second // of discovery and keys together
	retryLatest  = 30 * time.Second // after failures, each time twice as long
	vainLatest   = 30 * time.Second // after fetches for a key that was not there, likewise
	believedFor  = 5 * time.Minute  // then keys are read again, while they are used on
	maxWaiting   = 1000             // requests that wait for one fetch
)

// keySet is the keys that one issuer publishes, as far as is known.
type keySet struct {
	issuer string // its name, for the log
	log    *slog.Logger
	every  time.Duration
	fetch  func(ctx context.Context) ([]jose.JSONWebKey, error)
	turn   chan struct{} // holds one: fetches follow one another

	mu       sync.Mutex
	known    []jose.JSONWebKey
	readAt   time.Time // when the fetch that found known began
	began    time.Time // the last fetch
	failures int       // in a row
	retryAt  time.Time // after a failure
	failure  error
	vain     int       // fetches in a row that found nothing new, and not what was looked for
	vainAt   time.Time // the last one ended
	next     *round    // that has not begun; nil: nobody waits
}

// round is one fetch and those who wait for it.
type round struct {
	waiting int
	wanted  []string // ids of keys
	done    chan struct{}
	err     error // once done is closed
}

func newKeySet(issuer string, log *slog.Logger, fetch func(context.Context) ([]jose.JSONWebKey, error)) *keySet {
	return &keySet{issuer: issuer, log: log, every: fetchEvery, fetch: fetch, turn: make(chan struct{}, 1)}
}

// find answers the published keys of an id. When none is known, it waits for a fetch that begins after now: one that is under way
// may have been answered before the key was published.
func (s *keySet) find(ctx context.Context, id string) ([]jose.JSONWebKey, error) {
	s.mu.Lock()
	found, old := named(s.known, id), time.Since(s.readAt) > believedFor
	s.mu.Unlock()
	if len(found) > 0 {
		if old {
			_, _ = s.join() // nobody waits for it; a failure is logged where it happens
		}
		return found, nil
	}
	return s.refresh(ctx, id)
}

// refresh waits for a fetch that begins after now, and answers the keys of an id then; maybe none.
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
	return named(s.known, id), nil
}

// join answers the fetch that begins next, and sees to it that it does. It answers nil for a key that is unknown while fetches for such
// keys were in vain: who forges tokens would have the issuer asked for as long as they come.
//
// wanted is the id of the key, "" if it has none; without any the keys are only to be read anew.
func (s *keySet) join(wanted ...string) (*round, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err := s.refused(); err != nil {
		return nil, err
	}
	if len(wanted) > 0 && time.Since(s.vainAt) < s.pause() {
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

// pause is how long nothing is fetched for unknown keys, from the last fetch that was in vain. The caller holds mu.
func (s *keySet) pause() time.Duration {
	if s.vain == 0 {
		return 0
	}
	return min(s.every<<min(s.vain-1, 10), vainLatest)
}

// refused says that the issuer has failed and is left alone for a while. The caller holds mu.
func (s *keySet) refused() error {
	if wait := time.Until(s.retryAt); wait > 0 {
		return unavailable(wait, s.failure)
	}
	return nil
}

func unavailable(wait time.Duration, cause error) error {
	e := ipam.Errorf(ipam.CodeUnavailable, "The issuer of these credentials does not respond, so the server cannot verify them now; repeat the request.")
	e.RetryAfter = wait
	return e.Because(cause)
}

// run makes one fetch: when the one before has ended, and not too soon after its beginning.
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
	s.next = nil // who comes from now on is too late for this one
	began := time.Now()
	r.err = s.refused()
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

// learn remembers how a fetch ended. After a failure the keys that are known stay known.
func (s *keySet) learn(ctx context.Context, r *round, began time.Time, found []jose.JSONWebKey, err error) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if err == nil {
		s.weigh(r, found)
		s.known, s.readAt, s.failures, s.retryAt, s.failure = found, began, 0, time.Time{}, nil
		return nil
	}
	wait := min(s.every<<min(s.failures, 10), retryLatest)
	s.failures++
	s.failure, s.retryAt = err, time.Now().Add(wait)
	s.log.WarnContext(ctx, "cannot read the keys of an issuer; trying again later", "issuer", s.issuer, "failures", s.failures, "error", err)
	return unavailable(wait, err)
}

// weigh counts a fetch that was in vain: with nothing new, and without a key that was looked for. When the last such is long ago, counting
// begins again. The caller holds mu.
func (s *keySet) weigh(r *round, found []jose.JSONWebKey) {
	unknown := func(id string) bool { return id == "" || len(named(found, id)) == 0 }
	fresh := func(key jose.JSONWebKey) bool {
		return !slices.ContainsFunc(named(s.known, key.KeyID), func(known jose.JSONWebKey) bool { return key.KeyID != "" || sameKey(key, known) })
	}
	switch {
	case slices.ContainsFunc(found, fresh):
		s.vain = 0
	case slices.ContainsFunc(r.wanted, unknown):
		if time.Since(s.vainAt) > 2*vainLatest {
			s.vain = 0
		}
		s.vain++
		s.vainAt = time.Now()
	}
}

// sameKey compares keys that have no id.
func sameKey(a, b jose.JSONWebKey) bool {
	x, errX := a.Thumbprint(crypto.SHA256)
	y, errY := b.Thumbprint(crypto.SHA256)
	return errX == nil && errY == nil && bytes.Equal(x, y)
}
