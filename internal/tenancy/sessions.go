package tenancy

import (
	"context"
	"crypto/rand"
	"encoding/base64"
	"errors"
	"time"

	"github.com/carve-ipam/carve/internal/ipam"
)

// The bounds of sessions: how long one lasts at most, and how many a key or a subject has. Who begins another one ends the oldest.
const (
	sessionLasts = 12 * time.Hour
	mostSessions = 32
)

// SessionStore is the database as sessions need it.
type SessionStore interface {
	// SessionByHash finds a session; ok is false when there is none.
	SessionByHash(ctx context.Context, hash []byte) (session ipam.Session, ok bool, err error)
	// SessionBegin adds a session, and ends the oldest of its holder beyond most.
	SessionBegin(ctx context.Context, session ipam.Session, most int) error
	// SessionEnd deletes a session, if it is there.
	SessionEnd(ctx context.Context, hash []byte) error
	// SessionsUsed notes by their hashes when sessions were last used, never backwards. Those that are gone are left out.
	SessionsUsed(ctx context.Context, used map[string]time.Time) error
	// Now is the time by the database's clock, without asking it.
	Now() time.Time
}

// Issuers says what is believed of the issuers whose tokens began sessions.
type Issuers interface {
	// Stands reports whether an issuer is still configured, with the rules that gave a session its roles.
	Stands(issuer string, rules ipam.ID) bool
}

// Proof is what a token of an issuer said when somebody signed in with it.
type Proof struct {
	Subject string
	Issuer  string  // its URL
	Rules   ipam.ID // by which the roles were given
	Roles   map[string]Role
	Expires time.Time
}

// SessionWays are the ways to sign in. One that is nil is closed, also to who has come by it before.
type SessionWays struct {
	Keys    *Keyring
	Issuers Issuers
	// Members are the roles of who has signed in at an issuer.
	Members *Keyring
}

// Sessions knows who is signed in to the console. A session is a row that all servers read, and what one knows of it is at most five seconds old: who signs
// out, or whose key is revoked, is out everywhere by then. What a session may do is not in it: a key's rights are those that the key has now.
type Sessions struct {
	store SessionStore
	ways  SessionWays
	clock func() time.Time
	known *recent[ipam.Session]
	used  uses[string]
}

// NewSessions makes Sessions. clock nil: they expire by the database's clock.
func NewSessions(store SessionStore, ways SessionWays, clock func() time.Time) *Sessions {
	ticks := clock
	if clock == nil {
		clock, ticks = func() time.Time { return store.Now() }, time.Now
	}
	return &Sessions{store: store, ways: ways, clock: clock, known: newRecent[ipam.Session](ticks, knownFor, knownSize)}
}

// Authenticate answers whose session it is, by what the browser sends: unauthenticated when there is none, in one and the same way whatever the reason.
func (s *Sessions) Authenticate(ctx context.Context, token string) (Principal, error) {
	who, _, err := s.Find(ctx, token)
	return who, err
}

// Find is Authenticate that also answers when the session ends by itself.
func (s *Sessions) Find(ctx context.Context, token string) (who Principal, until time.Time, err error) {
	hash, ok := hashSession(token)
	if !ok {
		return Principal{}, until, ended("is not spelled like one")
	}
	admit := AttemptsOf(ctx).Reserve
	if _, was := s.known.last(string(hash)); was {
		admit = unlimited{}.Reserve // it was valid a while ago: this is no guess, and strangers at the same address cannot lock it out
	}
	session, found, err := s.known.get(ctx, string(hash), admit, func(ctx context.Context) (ipam.Session, bool, error) {
		return s.store.SessionByHash(ctx, hash)
	})
	now := s.clock()
	switch {
	case err != nil:
		return Principal{}, until, err
	case !found:
		return Principal{}, until, ended("is not there")
	case session.Expired(now):
		return Principal{}, until, ended("has expired")
	}
	who, err = s.whose(ctx, session)
	if err != nil {
		return Principal{}, until, err
	}
	s.used.note(string(hash), now)
	return who, session.ExpiresAt, nil
}

// whose answers who has a session, with the rights of now.
func (s *Sessions) whose(ctx context.Context, session ipam.Session) (Principal, error) {
	if session.Issuer == "" {
		if s.ways.Keys == nil {
			return Principal{}, ended("was begun with a key, and keys are not taken here")
		}
		who, found, err := s.ways.Keys.held(ctx, session.KeyID)
		if err == nil && !found {
			err = ended("is of an API key that is gone or has expired")
		}
		return who, err
	}
	if s.ways.Issuers == nil || !s.ways.Issuers.Stands(session.Issuer, session.Rules) {
		return Principal{}, ended("is of an issuer that is configured no more, or has other rules by now")
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

// Begun is a session that has just begun.
type Begun struct {
	Token   string // what the browser is to send; nobody else is told
	Subject string
	Expires time.Time
	Lasts   time.Duration // until then, by the database's clock
}

// Admit says whether a subject may begin a session now.
type Admit func(subject string) error

// BeginWithKey begins a session for who has an API key. Of the key's token nothing is kept.
func (s *Sessions) BeginWithKey(ctx context.Context, key string, admit Admit) (Begun, error) {
	if s.ways.Keys == nil {
		return Begun{}, NotValid("is an API key, and keys are not taken here")
	}
	id, facts, err := s.ways.Keys.authenticate(ctx, key)
	if err != nil {
		return Begun{}, err
	}
	session := ipam.Session{Holder: "key:" + id.String(), KeyID: id}
	return s.begin(ctx, session, Begun{Subject: facts.who.Subject, Expires: facts.key.Spec.ExpiresAt}, admit)
}

// BeginWithProof begins a session for whom an issuer knows.
func (s *Sessions) BeginWithProof(ctx context.Context, p Proof, admit Admit) (Begun, error) {
	session := ipam.Session{Holder: p.Subject, Issuer: p.Issuer, Rules: p.Rules, Roles: make(map[string]string, len(p.Roles))}
	for project, role := range p.Roles {
		session.Roles[project] = string(role)
	}
	return s.begin(ctx, session, Begun{Subject: p.Subject, Expires: p.Expires}, admit)
}

// begin stores a session under a name that is new, whatever the browser had before. It lasts no longer than what it was made from, which end says.
func (s *Sessions) begin(ctx context.Context, session ipam.Session, end Begun, admit Admit) (Begun, error) {
	var secret Secret
	_, _ = rand.Read(secret[:]) // it never fails
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

// End ends a session: here at once, and on other servers as soon as they look again.
func (s *Sessions) End(ctx context.Context, token string) error {
	return s.EndMarked(ctx, MarkOf(token))
}

// MarkOf is what a session can be ended by, and nothing else: it does not lead back to what the browser sends. nil: no server has given out such a token.
func MarkOf(token string) []byte {
	mark, _ := hashSession(token)
	return mark
}

// EndMarked is End by the mark of a session.
func (s *Sessions) EndMarked(ctx context.Context, mark []byte) error {
	if len(mark) == 0 {
		return nil
	}
	if err := s.store.SessionEnd(ctx, mark); err != nil {
		return err
	}
	s.known.forget(string(mark))
	return nil
}

// Flush writes when sessions were last used, all in one call, and says of how many.
func (s *Sessions) Flush(ctx context.Context) (written int64, err error) {
	return s.used.flush(ctx, s.store.SessionsUsed)
}

// hashSession is what is stored of what a browser sends; ok is false for what no server has given it.
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

// ended refuses a session. Why is for the log alone.
func ended(why string) error {
	return ipam.Errorf(ipam.CodeUnauthenticated, "The session of the console has ended: sign in again.").Because(errors.New("the session " + why))
}
