package tenancy

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// Limits for sessions: the maximum duration, and the number for each key or subject. A new session beyond that ends the oldest.
const (
	sessionLasts = 12 * time.Hour
	mostSessions = 32
)

// SessionStore has the database functions for sessions.
type SessionStore interface {
	// SessionByHash finds a session; ok is false if it does not exist.
	SessionByHash(ctx context.Context, hash []byte) (session ipam.Session, ok bool, err error)
	// SessionBegin adds a session, and ends the oldest ones of its holder beyond most.
	SessionBegin(ctx context.Context, session ipam.Session, most int) error
	// SessionEnd deletes a session if it exists.
	SessionEnd(ctx context.Context, hash []byte) error
	// SessionsUsed records the last use of sessions by their hashes, never backwards. It ignores deleted sessions.
	SessionsUsed(ctx context.Context, used map[string]time.Time) error
	// Now returns the time of the database's clock, without a request to it.
	Now() time.Time
}

// Issuers checks the issuers that users signed in at.
type Issuers interface {
	// Stands reports whether an issuer is still configured with the rules that gave a session its roles.
	Stands(issuer string, rules ipam.ID) bool
}

// Proof has the claims of an issuer's token that a user signed in with.
type Proof struct {
	Subject string
	Issuer  string  // its URL
	Rules   ipam.ID // version of the rules that gave the roles
	Roles   map[string]Role
	Expires time.Time
}

// SessionWays has the ways to sign in. A nil way is disabled, and so are the existing sessions that used it.
type SessionWays struct {
	Keys    *Keyring
	Issuers Issuers
	// Members reads the roles of users that signed in at an issuer.
	Members *Keyring
}

// Sessions authenticates the signed-in users of the console. A session is a row that all servers read, with a cache of at most five seconds. So a
// sign-out or the revocation of a key takes effect everywhere within that time. A session does not store the rights of a key: it has the key's
// current rights.
type Sessions struct {
	store SessionStore
	ways  SessionWays
	clock func() time.Time
	known *ttlCache[ipam.Session]
	used  lastUses[string]
}

// NewSessions makes Sessions. If clock is nil, they expire by the database's clock.
func NewSessions(store SessionStore, ways SessionWays, clock func() time.Time) *Sessions {
	ticks := clock
	if clock == nil {
		clock, ticks = func() time.Time { return store.Now() }, time.Now
	}
	return &Sessions{store: store, ways: ways, clock: clock, known: newTTLCache[ipam.Session](ticks, knownFor, knownSize)}
}

// Authenticate returns the caller for a session token. It returns the same unauthenticated error for every reason.
func (s *Sessions) Authenticate(ctx context.Context, token string) (Principal, error) {
	who, _, err := s.Find(ctx, token)
	return who, err
}

// Find is Authenticate, and also returns when the session expires.
func (s *Sessions) Find(ctx context.Context, token string) (who Principal, until time.Time, err error) {
	hash, ok := hashSession(token)
	if !ok {
		return Principal{}, until, ended("does not have the form of a session token")
	}
	admit := AttemptsOf(ctx).Reserve
	if _, was := s.known.last(string(hash)); was {
		admit = unlimited{}.Reserve // it was valid recently, so this is not a guess; other clients at the same address cannot lock it out
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

// holderOf returns the caller for a session, with its current rights.
func (s *Sessions) holderOf(ctx context.Context, session ipam.Session) (Principal, error) {
	if session.Issuer == "" {
		if s.ways.Keys == nil {
			return Principal{}, ended("was started with an API key, and this server does not accept API keys")
		}
		who, found, err := s.ways.Keys.held(ctx, session.KeyID)
		if err == nil && !found {
			err = ended("belongs to an API key that was deleted or has expired")
		}
		return who, err
	}
	if s.ways.Issuers == nil || !s.ways.Issuers.Stands(session.Issuer, session.Rules) {
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

// Begun is a new session.
type Begun struct {
	Token   string // the session token; only the browser receives it
	Subject string
	Expires time.Time
	Lasts   time.Duration // until then, by the database's clock
}

// Admit checks whether a subject may start a session now.
type Admit func(subject string) error

// BeginWithKey starts a session for the holder of an API key. It does not store the key's token.
func (s *Sessions) BeginWithKey(ctx context.Context, key string, admit Admit) (Begun, error) {
	if s.ways.Keys == nil {
		return Begun{}, NotValid("is an API key, and this server does not accept API keys")
	}
	id, facts, err := s.ways.Keys.authenticate(ctx, key)
	if err != nil {
		return Begun{}, err
	}
	session := ipam.Session{Holder: "key:" + id.String(), KeyID: id}
	return s.begin(ctx, session, Begun{Subject: facts.who.Subject, Expires: facts.key.Spec.ExpiresAt}, admit)
}

// BeginWithProof starts a session for a user of an issuer.
func (s *Sessions) BeginWithProof(ctx context.Context, p Proof, admit Admit) (Begun, error) {
	session := ipam.Session{Holder: p.Subject, Issuer: p.Issuer, Rules: p.Rules, Roles: make(map[string]string, len(p.Roles))}
	for project, role := range p.Roles {
		session.Roles[project] = string(role)
	}
	return s.begin(ctx, session, Begun{Subject: p.Subject, Expires: p.Expires}, admit)
}

// begin stores a session with a new token, whatever the browser had before. The session ends no later than the key or token; end has that expiry.
func (s *Sessions) begin(ctx context.Context, session ipam.Session, end Begun, admit Admit) (Begun, error) {
	var secret Secret
	_, _ = rand.Read(secret[:]) // never fails
	now := s.clock().UTC().Truncate(time.Microsecond)
	session.Hash, session.CreatedAt, session.UsedAt, session.ExpiresAt = HashSecret(secret), now, now, now.Add(sessionLasts)
	if !end.Expires.IsZero() && end.Expires.Before(session.ExpiresAt) {
		session.ExpiresAt = end.Expires.UTC().Truncate(time.Microsecond)
	}
	if session.Expired(now) {
		return Begun{}, NotValid("has expired")
	}
	if err := admit(end.Subject); err != nil {
		return Begun{}, err
	}
	if err := s.store.SessionBegin(ctx, session, mostSessions); err != nil {
		return Begun{}, err
	}
	return Begun{Token: base64.RawURLEncoding.EncodeToString(secret[:]), Subject: end.Subject, Expires: session.ExpiresAt, Lasts: session.ExpiresAt.Sub(now)}, nil
}

// End ends a session: at once on this server, and on others when their caches expire.
func (s *Sessions) End(ctx context.Context, token string) error {
	return s.EndByToken(ctx, EndTokenOf(token))
}

// EndTokenOf returns the hash that can end a session; it does not reveal the token. It returns nil if no server can have issued the token.
func EndTokenOf(token string) []byte {
	mark, _ := hashSession(token)
	return mark
}

// EndByToken is End with the hash from EndTokenOf.
func (s *Sessions) EndByToken(ctx context.Context, mark []byte) error {
	if len(mark) == 0 {
		return nil
	}
	if err := s.store.SessionEnd(ctx, mark); err != nil {
		return err
	}
	s.known.markMissing(string(mark))
	return nil
}

// Flush writes the last use of sessions in one call, and returns their number.
func (s *Sessions) Flush(ctx context.Context) (written int64, err error) {
	return s.used.flush(ctx, s.store.SessionsUsed)
}

// hashSession returns the stored hash of a session token; ok is false if no server can have issued it.
func hashSession(token string) (hash []byte, ok bool) {
	if len(token) != base64.RawURLEncoding.EncodedLen(len(Secret{})) {
		return nil, false
	}
	raw, err := base64.RawURLEncoding.Strict().DecodeString(token)
	if err != nil || len(raw) != len(Secret{}) {
		return nil, false
	}
	return HashSecret(Secret(raw)), true
}

// ended makes the error for an invalid session. why is for the log alone.
func ended(why string) error {
	return ipam.Errorf(ipam.CodeUnauthenticated, "The session of the console has ended: sign in again.").Because(errors.New("the session " + why))
}
