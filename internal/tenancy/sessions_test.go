package tenancy_test

import (
	"context"
	"errors"
	"maps"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"github.com/carve-ipam/carve/internal/ipam"
	"github.com/carve-ipam/carve/internal/tenancy"
)

// book is a SessionStore in memory.
type book struct {
	mu      sync.Mutex
	rows    map[string]ipam.Session
	used    map[string]time.Time
	limit   int
	lookups int
}

func (*book) Now() time.Time { return time.Now() }

func (b *book) SessionByHash(_ context.Context, hash []byte) (ipam.Session, bool, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.lookups++
	s, ok := b.rows[string(hash)]
	return s, ok, nil
}

func (b *book) SessionBegin(_ context.Context, s ipam.Session, limit int) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.rows[string(s.Hash)], b.limit = s, limit
	return nil
}

func (b *book) SessionEnd(_ context.Context, hash []byte) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.rows, string(hash))
	return nil
}

func (b *book) SessionsUsed(_ context.Context, used map[string]time.Time) error {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.used = maps.Clone(used)
	return nil
}

// standing implements Issuers. Only one version of the rules is valid.
type standing ipam.ID

func (s standing) IsCurrent(issuer string, rules ipam.ID) bool {
	return issuer == "https://corp.example" && rules == ipam.ID(s)
}

func admitAll(string) error { return nil }

func sessions() (*tenancy.Sessions, *book, *vault, *hands) {
	k, v, h := keyring()
	b := &book{rows: map[string]ipam.Session{}}
	return tenancy.NewSessions(b, tenancy.SignInMethods{Keys: k, Members: k, Issuers: standing{1}}, h.now), b, v, h
}

func ended(t *testing.T, err error) {
	t.Helper()
	require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated), "%v", err)
	var e *ipam.Error
	require.ErrorAs(t, err, &e)
	require.Equal(t, "The session of the console has ended: sign in again.", e.Message, "whatever the reason")
}

func TestKeySessionHasTheKeysCurrentRights(t *testing.T) {
	t.Parallel()
	s, b, v, h := sessions()
	id, key := v.make("acme", "ci", tenancy.Provider, time.Time{})
	begun, err := s.BeginWithKey(t.Context(), key, admitAll)
	require.NoError(t, err)
	require.Equal(t, "key:acme/ci", begun.Subject)
	require.Equal(t, h.now().Add(12*time.Hour), begun.Expires)
	require.Equal(t, 32, b.limit)
	who, err := s.Authenticate(t.Context(), begun.Token)
	require.NoError(t, err)
	require.Equal(t, tenancy.Principal{Subject: "key:acme/ci", Method: "api-key", Key: id, Held: held("acme", tenancy.Provider)}, who)
	for _, row := range b.rows {
		require.NotContains(t, string(row.Hash), begun.Token)
		require.Equal(t, id, row.KeyID)
	}
	v.remove(id)
	h.pass(5 * time.Second)
	_, err = s.Authenticate(t.Context(), begun.Token)
	ended(t, err)
}

func TestSessionEndsWithItsKeyOrProof(t *testing.T) {
	t.Parallel()
	s, _, v, h := sessions()
	_, key := v.make("acme", "ci", tenancy.Viewer, h.now().Add(time.Hour))
	of := func(begun tenancy.StartedSession, err error) tenancy.StartedSession {
		require.NoError(t, err)
		return begun
	}
	byKey := of(s.BeginWithKey(t.Context(), key, admitAll))
	byToken := of(s.BeginWithProof(t.Context(), tenancy.Proof{Subject: "corp:alice", Issuer: "https://corp.example", Rules: ipam.ID{1}, Expires: h.now().Add(time.Hour)}, admitAll))
	long := of(s.BeginWithProof(t.Context(), tenancy.Proof{Subject: "corp:alice", Issuer: "https://corp.example", Rules: ipam.ID{1}, Expires: h.now().Add(100 * time.Hour)}, admitAll))
	require.Equal(t, h.now().Add(12*time.Hour), long.Expires)
	for _, begun := range []tenancy.StartedSession{byKey, byToken} {
		require.Equal(t, h.now().Add(time.Hour), begun.Expires)
		_, err := s.Authenticate(t.Context(), begun.Token)
		require.NoError(t, err)
	}
	h.pass(time.Hour)
	for _, begun := range []tenancy.StartedSession{byKey, byToken} {
		_, err := s.Authenticate(t.Context(), begun.Token)
		ended(t, err)
	}
	_, err := s.BeginWithProof(t.Context(), tenancy.Proof{Subject: "corp:alice", Expires: h.now()}, admitAll)
	require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated))
}

func TestSessionIsNotLimitedByOtherClientsAtItsAddress(t *testing.T) {
	t.Parallel()
	s, _, v, h := sessions()
	_, key := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	begun, err := s.BeginWithKey(t.Context(), key, admitAll)
	require.NoError(t, err)
	_, err = s.Authenticate(t.Context(), begun.Token)
	require.NoError(t, err)
	ctx := tenancy.WithAttempts(t.Context(), &purse{}) // as if other clients at this address had used up all attempts
	h.pass(time.Minute)
	_, err = s.Authenticate(ctx, begun.Token)
	require.NoError(t, err, "it was valid a while ago: this is no guess")
	require.NoError(t, s.End(t.Context(), begun.Token))
	h.pass(time.Minute)
	_, err = s.Authenticate(ctx, begun.Token)
	require.True(t, ipam.IsCode(err, ipam.CodeRateLimited), "it has ended: from now on it is one")
}

func TestCookieLifetimeUsesTheDatabaseClock(t *testing.T) {
	t.Parallel()
	s, _, v, h := sessions() // the clock h is years ahead
	_, key := v.make("acme", "ci", tenancy.Viewer, h.now().Add(time.Hour))
	begun, err := s.BeginWithKey(t.Context(), key, admitAll)
	require.NoError(t, err)
	require.Equal(t, time.Hour, begun.Lasts)
}

func TestSessionEndedOnAnotherServerExpiresWithinFiveSeconds(t *testing.T) {
	t.Parallel()
	here, b, v, h := sessions()
	k := tenancy.NewKeyring(v, h.now)
	there := tenancy.NewSessions(b, tenancy.SignInMethods{Keys: k, Members: k}, h.now)
	_, key := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	begun, err := here.BeginWithKey(t.Context(), key, admitAll)
	require.NoError(t, err)
	for _, s := range []*tenancy.Sessions{here, there} {
		_, err = s.Authenticate(t.Context(), begun.Token)
		require.NoError(t, err)
	}
	require.NoError(t, here.End(t.Context(), begun.Token))
	_, err = here.Authenticate(t.Context(), begun.Token)
	ended(t, err)
	_, err = there.Authenticate(t.Context(), begun.Token)
	require.NoError(t, err, "not yet")
	_, err = there.Authenticate(tenancy.WithoutCache(t.Context()), begun.Token)
	ended(t, err)
	h.pass(5 * time.Second)
	_, err = there.Authenticate(t.Context(), begun.Token)
	ended(t, err)
}

func TestIssuerSessionKeepsItsRolesUntilTheRulesChange(t *testing.T) {
	t.Parallel()
	s, b, v, h := sessions()
	v.roles["corp:alice"] = held("acme", tenancy.Admin)
	begun, err := s.BeginWithProof(t.Context(), tenancy.Proof{
		Subject: "corp:alice", Issuer: "https://corp.example", Rules: ipam.ID{1}, Roles: map[string]tenancy.Role{"labs": tenancy.Viewer}, Expires: h.now().Add(time.Hour),
	}, admitAll)
	require.NoError(t, err)
	who, err := s.Authenticate(t.Context(), begun.Token)
	require.NoError(t, err)
	require.Equal(t, tenancy.Principal{
		Subject: "corp:alice", Method: "oidc", Roles: map[string]tenancy.Role{"labs": tenancy.Viewer}, Held: held("acme", tenancy.Admin),
	}, who)
	for name, ways := range map[string]tenancy.SignInMethods{"OtherRules": {Issuers: standing{2}}, "NoIssuers": {}} {
		_, err := tenancy.NewSessions(b, ways, h.now).Authenticate(t.Context(), begun.Token)
		ended(t, err)
		require.Error(t, err, name)
	}
}

func TestMalformedSessionTokenIsRefusedWithoutALookup(t *testing.T) {
	t.Parallel()
	s, b, v, _ := sessions()
	_, key := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	begun, err := s.BeginWithKey(t.Context(), key, admitAll)
	require.NoError(t, err)
	before := b.lookups
	for _, token := range []string{"", "x", begun.Token + "=", begun.Token[1:], key, begun.Token[:42] + "*"} {
		_, err := s.Authenticate(t.Context(), token)
		ended(t, err)
		require.NoError(t, s.End(t.Context(), token))
	}
	require.Equal(t, before, b.lookups)
	closed := tenancy.NewSessions(b, tenancy.SignInMethods{}, nil)
	_, err = closed.BeginWithKey(t.Context(), key, admitAll)
	require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated))
	_, err = closed.Authenticate(t.Context(), begun.Token)
	require.True(t, ipam.IsCode(err, ipam.CodeUnauthenticated), "keys are not taken any more")
}

func TestSessionBeginsOnlyIfAdmitted(t *testing.T) {
	t.Parallel()
	s, b, v, h := sessions()
	_, key := v.make("acme", "ci", tenancy.Viewer, time.Time{})
	enough := errors.New("enough")
	_, err := s.BeginWithKey(t.Context(), key, func(subject string) error {
		require.Equal(t, "key:acme/ci", subject)
		return enough
	})
	require.ErrorIs(t, err, enough)
	require.Empty(t, b.rows)
	begun, err := s.BeginWithKey(t.Context(), key, admitAll)
	require.NoError(t, err)
	_, err = s.Authenticate(t.Context(), begun.Token)
	require.NoError(t, err)
	n, err := s.Flush(t.Context())
	require.NoError(t, err)
	require.EqualValues(t, 1, n)
	for _, at := range b.used {
		require.Equal(t, h.now(), at)
	}
}
