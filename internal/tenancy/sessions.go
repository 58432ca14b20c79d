package tenancy

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Limits on sessions: the maximum duration, and the maximum number for each key or subject. If a new session exceeds this number, the oldest session
// ends.
const (
	sessionDuration = 12 * time.Hour
	maxSessions     = 32
)

// SessionStore has the database functions for sessions.
type SessionStore interface {
	// SessionByHash finds a session. ok is false if it does not exist.
	SessionByHash(ctx context.Context, hash []byte) (session ipam.Session, ok bool, err error)
	// SessionBegin adds a session. If its holder then has more than limit sessions, SessionBegin ends the oldest ones.
	SessionBegin(ctx context.Context, session ipam.Session, limit int) error
	// SessionEnd deletes a session if it exists.
	SessionEnd(ctx context.Context, hash []byte) error
	// SessionsUsed records when sessions were last used, by their hashes. It never replaces a time with an earlier one, and ignores deleted sessions.
	SessionsUsed(ctx context.Context, used map[string]time.Time) error
	// Now returns the database's time. It sends no request to the database.
	Now() time.Time
}

// Issuers knows the OIDC issuers at which users sign in.
type Issuers interface {
	// IsCurrent reports whether an issuer is still configured, with the same rules that gave a session its roles.
	IsCurrent(issuer string, rules ipam.ID) bool
}

// Proof has the facts from the token that an issuer made for a signed-in user.
type Proof struct {
	Subject string
	Issuer  string  // its URL
	Rules   ipam.ID // version of the rules that gave the roles
	Roles   map[string]Role
	Expires time.Time
}

// SignInMethods has the methods for signing in. If a method is nil, nobody can sign in with it, and the server refuses sessions that used it.
type SignInMethods struct {
	Keys    *Keyring
	Issuers Issuers
	// Members reads roles for users that have signed in at an issuer.
	Members *Keyring
}

// Sessions authenticates the console's signed-in users. A session is a database row that all servers read and cache for at most five seconds. So a
// sign-out or a revoked key takes effect everywhere within that time. A session that was started with a key has the key's current rights, because it
// stores only the key's id.
type Sessions struct {
	store SessionStore
	ways  SignInMethods
	clock func() time.Time
	known *ttlCache[ipam.Session]
	used  lastUses[string]
}

// NewSessions returns Sessions. If clock is nil, they expire by the database's clock.
func NewSessions(store SessionStore, ways SignInMethods, clock func() time.Time) *Sessions {
	ticks := clock
	if clock == nil {
		clock, ticks = func() time.Time { return store.Now() }, time.Now
	}
	return &Sessions{store: store, ways: ways, clock: clock, known: newTTLCache[ipam.Session](ticks, cacheTTL, cacheSize)}
}

// Authenticate returns the caller for a session token. It returns the same unauthenticated error for every refusal.
func (s *Sessions) Authenticate(ctx context.Context, token string) (Principal, error) {
	who, _, err := s.Find(ctx, token)
	return who, err
}

// Find does the same as Authenticate, and also returns the time at which the session expires.
func (s *Sessions) Find(ctx context.Context, token string) (who Principal, until time.Time, err error) {
	hash := SessionHash(token)
	if hash == nil {
		return Principal{}, until, ended("does not have the form of a session token")
	}
	admit := AttemptsOf(ctx).Reserve
	if _, was := s.known.lastFound(string(hash)); was {
		// The session was valid recently, so this is no guess. Other clients at the same address can use up the attempts, but cannot lock out the session.
		admit = unlimited{}.Reserve
	}
	session, found, err := s.known.get(ctx, string(hash), admit, func(ctx context.Context) (ipam.Session, bool, error) {
		return s.store.SessionByHash(ctx, hash)
	})
	now := s.clock()
	switch {
	case err != nil:
		return Principal{}, until, err
	case !found:
		return Principal{}, until, ended("does not exist")
	case session.Expired(now):
		return Principal{}, until, ended("has expired")
	}
	who, err = s.holderOf(ctx, session)
	if err != nil {
		return Principal{}, until, err
	}
	s.used.note(string(hash), now)
	return who, session.ExpiresAt, nil
}

// holderOf returns the caller for a session, with the rights that the caller has now.
func (s *Sessions) holderOf(ctx context.Context, session ipam.Session) (Principal, error) {
	if session.Issuer == "" {
		if s.ways.Keys == nil {
			return Principal{}, ended("was started with an API key, and this server does not accept API keys")
		}
		who, found, err := s.ways.Keys.callerOf(ctx, session.KeyID)
		if err == nil && !found {
			err = ended("belongs to an API key that was deleted or has expired")
		}
		return who, err
	}
	if s.ways.Issuers == nil || !s.ways.Issuers.IsCurrent(session.Issuer, session.Rules) {
		return Principal{}, ended("belongs to an issuer that is no longer configured, or whose rules have changed")
	}
	held, err := s.ways.Members.MemberRoles(ctx, session.Holder)
	if err != nil {
		return Principal{}, err
	}
	roles := make(map[string]Role, len(session.Roles))
	for project, role := range session.Roles {
		roles[project] = Role(role)
	}
	return Principal{Subject: session.Holder, Method: "oidc", Roles: roles, Held: held}, nil
}

// StartedSession is a new session.
type StartedSession struct {
	Token   string // the session token; only the browser receives it
	Subject string
	Expires time.Time
	Lasts   time.Duration // time until Expires, by the database's clock
}

// Admit returns an error if a subject may not start a session now.
type Admit func(subject string) error

// BeginWithKey starts a session for an API key's holder. It does not store the key's token.
func (s *Sessions) BeginWithKey(ctx context.Context, key string, admit Admit) (b StartedSession, err error) {
	if s.ways.Keys == nil {
		return b, NotValid("is an API key, and this server does not accept API keys")
	}
	id, facts, err := s.ways.Keys.authenticate(ctx, key)
	if err != nil {
		return b, err
	}
	session := ipam.Session{Holder: "key:" + id.String(), KeyID: id}
	return s.begin(ctx, session, StartedSession{Subject: facts.who.Subject, Expires: facts.key.Spec.ExpiresAt}, admit)
}

// BeginWithProof starts a session for a user that has signed in at an issuer.
func (s *Sessions) BeginWithProof(ctx context.Context, p Proof, admit Admit) (StartedSession, error) {
	session := ipam.Session{Holder: p.Subject, Issuer: p.Issuer, Rules: p.Rules, Roles: make(map[string]string, len(p.Roles))}
	for project, role := range p.Roles {
		session.Roles[project] = string(role)
	}
	return s.begin(ctx, session, StartedSession{Subject: p.Subject, Expires: p.Expires}, admit)
}

// begin stores a session with a new token. It never reuses the browser's session. The session ends no later than end.Expires, the time at which the
// key or the issuer's token expires.
func (s *Sessions) begin(ctx context.Context, session ipam.Session, end StartedSession, admit Admit) (b StartedSession, err error) {
	var secret Secret
	_, _ = rand.Read(secret[:]) // never fails
	now := s.clock().UTC().Truncate(time.Microsecond)
	session.Hash, session.CreatedAt, session.UsedAt, session.ExpiresAt = HashSecret(secret), now, now, now.Add(sessionDuration)
	if !end.Expires.IsZero() && end.Expires.Before(session.ExpiresAt) {
		session.ExpiresAt = end.Expires.UTC().Truncate(time.Microsecond)
	}
	if session.Expired(now) {
		return b, NotValid("has expired")
	}
	if err := admit(end.Subject); err != nil {
		return b, err
	}
	if err := s.store.SessionBegin(ctx, session, maxSessions); err != nil {
		return b, err
	}
	return StartedSession{Token: base64.RawURLEncoding.EncodeToString(secret[:]), Subject: end.Subject, Expires: session.ExpiresAt, Lasts: session.ExpiresAt.Sub(now)}, nil
}

// End ends a session. It takes effect at once on this server, and on other servers when their cache entries expire.
func (s *Sessions) End(ctx context.Context, token string) error {
	return s.EndByHash(ctx, SessionHash(token))
}

// SessionHash returns the hash by which EndByHash ends a session. The hash does not reveal the token. The hash is nil if no server can have made the
// token.
func SessionHash(token string) []byte {
	if len(token) != base64.RawURLEncoding.EncodedLen(len(Secret{})) {
		return nil
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != len(Secret{}) {
		return nil
	}
	return HashSecret(Secret(raw))
}

// EndByHash does the same as End, with the hash from SessionHash.
func (s *Sessions) EndByHash(ctx context.Context, hash []byte) error {
	if len(hash) == 0 {
		return nil
	}
	if err := s.store.SessionEnd(ctx, hash); err != nil {
		return err
	}
	s.known.markMissing(string(hash))
	return nil
}

// Flush writes the times at which sessions were last used, in one call, and returns their number.
func (s *Sessions) Flush(ctx context.Context) (written int64, err error) {
	return s.used.flush(ctx, s.store.SessionsUsed)
}

// ended returns the error for an invalid session. cause is only for the log.
func ended(cause string) error {
	return ipam.Errorf(ipam.CodeUnauthenticated, "The session of the console has ended: sign in again.").WithCause(errors.New("the session " + cause))
}
