package ipam

import "time"

// Session is a sign-in to the console, by an API key or by a token of an issuer. A session by key has the key's rights as long as the key exists.
type Session struct {
	Hash      []byte            // SHA-256 of the token in the browser
	Holder    string            // the owner, for counting sessions: a key by its id, or a subject
	KeyID     ID                // zero: signed in at an issuer
	Issuer    string            // its URL; "": signed in with a key
	Rules     ID                // version of the configuration that gave Roles
	Roles     map[string]string // from the token, by a project's name
	CreatedAt time.Time
	UsedAt    time.Time // written once a minute at most
	ExpiresAt time.Time
}

// Expired reports whether the session has expired.
func (s Session) Expired(now time.Time) bool { return !now.Before(s.ExpiresAt) }
