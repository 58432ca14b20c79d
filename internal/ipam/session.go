package ipam

import "time"

// Session is a sign-in to the console, with an API key or with a token from an issuer. If the caller signed in with a key, the session has the key's
// rights, as long as the key exists.
type Session struct {
	Hash      []byte            // SHA-256 over the token in the browser
	Holder    string            // a key's id or a subject; limits count a holder's sessions
	KeyID     ID                // zero: signed in at an issuer
	Issuer    string            // the issuer's URL; "": signed in with a key
	Rules     ID                // version of the configuration that gave Roles
	Roles     map[string]string // roles from the token, by project name
	CreatedAt time.Time
	UsedAt    time.Time // when it was last used; written once a minute at most
	ExpiresAt time.Time
}

// Expired reports whether the session has expired.
func (s Session) Expired(now time.Time) bool { return !now.Before(s.ExpiresAt) }
