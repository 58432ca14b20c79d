package ipam

import "time"

// Session is somebody who is signed in to the console: by an API key, whose rights it has for as long as the key is there, or by a token of an issuer.
type Session struct {
	Hash      []byte            // SHA-256 of what the browser sends
	Holder    string            // whose sessions are counted together: a key by its id, or a subject
	KeyID     ID                // zero: signed in at an issuer
	Issuer    string            // its URL; "": signed in with a key
	Rules     ID                // of the configuration that gave Roles
	Roles     map[string]string // that the token gave, by the name of a project
	CreatedAt time.Time
	UsedAt    time.Time // written once a minute at most
	ExpiresAt time.Time
}

// Expired reports whether the session has ended by itself.
func (s Session) Expired(now time.Time) bool { return !now.Before(s.ExpiresAt) }
